package agl_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// inOrder builds in base, and a and b, which clash; it lands a, and then b with
// resolve.
func inOrder(resolve agl.Resolver) *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		if err := build(ctx, run, "base"); err != nil {
			return err
		}
		children, err := opens(ctx, run, "a", "b")
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := build(ctx, child, "x"); err != nil {
				return err
			}
		}
		if err := children[0].Integrate(ctx, agl.Abandon); err != nil {
			return err
		}
		return children[1].Integrate(ctx, resolve)
	}, builder, editor, reader)
}

// mends has the editor write text into the file that is in conflict.
func mends(text string) func(tn *turn) (any, error) {
	return func(tn *turn) (any, error) {
		tn.write("same.txt", text)
		return patch{}, nil
	}
}

// What was found after an agent's turn ends the run: a resolver that does not
// look at the step's error cannot go on.
func TestAResolverCannotPassOverWhatHaltsTheRun(t *testing.T) {
	t.Parallel()
	for name, decides := range map[string]func(c *agl.Conflict) agl.Resolution{
		"retries": (*agl.Conflict).Retry, "gives up": (*agl.Conflict).Abort,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClash(t, true)
			w.mend = func(tn *turn) (any, error) {
				w.git("config", "filter.planted.clean", "cat")
				return mends("both\n")(tn)
			}
			wf := inOrder(func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
				_ = c.Step(ctx, editor)
				return decides(c), nil
			})
			require.ErrorContains(t, w.start(job(wf)), "git configuration changed")
			require.Equal(t, agl.StateInterrupted, w.info().State)
			require.Equal(t, "of a\n", w.landed()["same.txt"])
			require.NotEmpty(t, w.mergeHead(), "what is there is for the resume")
			w.agents()

			w.git("config", "--unset", "filter.planted.clean")
			require.NoError(t, w.resume(inOrder(func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
				return c.Retry(), c.Step(ctx, editor)
			})))
			require.Equal(t, "both\n", w.landed()["same.txt"])
			require.Empty(t, w.agents(), "the agent had ended, and was paid")
		})
	}
}

// killedIn starts inOrder in a process that resolve kills.
func (c *clash) killedIn(resolve func(death *faults) agl.Resolver) {
	c.t.Helper()
	death, plain := &faults{}, c.set
	c.set = death.wrap(plain)
	err := bounded(c.t, func() error { return c.start(job(inOrder(resolve(death)))) })
	c.set = plain
	require.ErrorIs(c.t, err, errFault)
	c.agents()
}

// finds resumes inOrder with a resolver that looks for text in the file that is
// in conflict, and takes it.
func (c *clash) finds(text string) {
	c.t.Helper()
	require.NoError(c.t, c.resume(inOrder(func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		require.Equal(c.t, text, c.there(at, "same.txt"))
		return at.Retry(), nil
	})))
	require.Equal(c.t, text, c.landed()["same.txt"])
}

func TestWhatIsTypedAfterACancelledStepIsThereAgain(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, w *clash) {
		w.mend = func(tn *turn) (any, error) { <-tn.ctx.Done(); return nil, tn.ctx.Err() }
		w.killedIn(func(death *faults) agl.Resolver {
			return func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
				under, cancel := context.WithCancel(ctx)
				mend := w.mend
				w.mend = func(tn *turn) (any, error) { cancel(); return mend(tn) }
				require.ErrorIs(t, c.Step(under, editor), context.Canceled)
				w.typed(c, "same.txt", "typed\n")
				death.die()
				return c.Retry(), nil
			}
		})
		w.finds("typed\n")
	})
}

// A red verdict that was met is of its gate: another one is asked.
func TestARedVerdictThatWasMetIsOfItsGate(t *testing.T) {
	t.Parallel()
	for name, mend := range map[string]func(v *mem.Verifier){
		"another command":        func(v *mem.Verifier) { v.Command = "make right" },
		"another time to run in": func(v *mem.Verifier) { v.Timeout = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClash(t, false)
			w.verifier.Command, w.verifier.Timeout = "make wrong", time.Second
			w.verifier.Find = func(_ context.Context, task ports.VerifyTask, _ int) (ports.Verdict, error) {
				text, _ := fs.ReadFile(task.Tree, "same.txt")
				return ports.Verdict{Passed: string(text) == "of a\n" || w.verifier.Command != "make wrong" || w.verifier.Timeout > time.Second}, nil
			}
			w.killedIn(func(death *faults) agl.Resolver {
				return func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
					if c.Attempt == 2 {
						require.NotNil(t, c.Verdict)
						death.die()
					}
					w.typed(c, "same.txt", "both\n")
					return c.Retry(), nil
				}
			})
			mend(w.verifier)
			require.NoError(t, w.resume(inOrder(func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
				require.Nil(t, c.Verdict)
				w.typed(c, "same.txt", "both\n")
				return c.Retry(), nil
			})))
			require.Equal(t, "both\n", w.landed()["same.txt"])
		})
	}
}

// A landing that fails for a reason outside of it is made again with what was
// paid for and typed for it, and only what failed is tried again.
func TestALandingThatFailedByNoFaultOfItsOwnIsMadeWithWhatThereIs(t *testing.T) {
	t.Parallel()
	// stumbles starts inOrder with a resolver, expects the error, and resumes it.
	stumbles := func(t *testing.T, w *clash, kind agl.Kind, resolve agl.Resolver, opts ...agl.ResumeOptions) {
		t.Helper()
		w.verifier.Command = "make"
		require.Equal(t, kind, agl.KindOf(w.start(job(inOrder(resolve)))))
		require.Equal(t, agl.StateFailed, w.info().State)
		require.Empty(t, w.mergeHead())
		w.agents()
		require.NoError(t, w.resume(inOrder(resolve), opts...))
	}
	verdicts := func(w *clash, find func(text string, n int) (ports.Verdict, error)) {
		n := 0 // builds of what was resolved
		w.verifier.Find = func(_ context.Context, task ports.VerifyTask, _ int) (ports.Verdict, error) {
			text, _ := fs.ReadFile(task.Tree, "same.txt")
			if string(text) == "of a\n" {
				return ports.Verdict{Passed: true}, nil
			}
			n++
			return find(string(text), n)
		}
	}
	absent := func(w *clash) {
		verdicts(w, func(_ string, n int) (ports.Verdict, error) {
			if n == 1 {
				return ports.Verdict{}, ports.Unavailable.Errorf("", "no shell")
			}
			return ports.Verdict{Passed: true}, nil
		})
	}
	for name, test := range map[string]func(t *testing.T, w *clash){
		"the gate cannot start after an agent": func(t *testing.T, w *clash) {
			absent(w)
			w.mend = mends("both\n")
			stumbles(t, w, agl.Unavailable, agl.ResolveWith(editor, 1, nil))
			require.Empty(t, w.agents())
		},
		"the gate cannot start after a person": func(t *testing.T, w *clash) {
			absent(w)
			asked := 0
			stumbles(t, w, agl.Unavailable, func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
				if asked++; asked == 1 {
					w.typed(c, "same.txt", "both\n")
				}
				require.Equal(t, "both\n", w.there(c, "same.txt"))
				return c.Retry(), nil
			})
		},
		"the second agent meets a limit": func(t *testing.T, w *clash) {
			verdicts(w, func(text string, _ int) (ports.Verdict, error) {
				return ports.Verdict{Passed: text == "both\n"}, nil
			})
			limited := false
			w.mend = func(tn *turn) (any, error) {
				switch {
				case tn.Ordinal == 1:
					return mends("badly\n")(tn)
				case !limited:
					limited = true
					tn.write("same.txt", "half\n")
					return nil, &ports.LimitError{}
				}
				text, err := fs.ReadFile(tn.Workspace.Tree(), "same.txt")
				require.NoError(t, err)
				require.Equal(t, "badly\n", string(text), "it begins where the one that met the limit began")
				return mends("both\n")(tn)
			}
			stumbles(t, w, agl.Unavailable, agl.ResolveWith(editor, 2, nil))
			require.Equal(t, []string{"editor#2"}, w.agents())
		},
		"the budget is spent": func(t *testing.T, w *clash) {
			verdicts(w, func(text string, _ int) (ports.Verdict, error) {
				return ports.Verdict{Passed: text == "both 2\n"}, nil
			})
			w.mend = func(tn *turn) (any, error) {
				return mends(fmt.Sprintf("both %d\n", tn.Ordinal))(tn)
			}
			w.verifier.Command = "make"
			wf := inOrder(agl.ResolveWith(editor, 2, nil))
			require.ErrorIs(t, w.start(job(wf), agl.StartOptions{Tokens: 440}), agl.Denied) // three builders, one editor
			w.agents()
			require.NoError(t, w.resume(wf, agl.ResumeOptions{Tokens: 10_000}))
			require.Equal(t, []string{"editor#2"}, w.agents())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBoth(t, func(t *testing.T, w *clash) {
				test(t, w)
				require.Contains(t, w.landed()["same.txt"], "both")
			})
		})
	}
}

// What a person typed before they asked an agent is theirs, and kept before
// the agent works on it.
func TestWhatWasTypedBeforeAnAgentThatIsKilledIsThereAgain(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, w *clash) {
		ask := func(ctx context.Context, c *agl.Conflict) error {
			return c.Step(ctx, editor)
		}
		w.killedIn(func(death *faults) agl.Resolver {
			w.mend = func(tn *turn) (any, error) {
				tn.write("same.txt", "half\n")
				death.die()
				return nil, errFault
			}
			return func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
				w.typed(c, "same.txt", "typed\n")
				return c.Retry(), ask(ctx, c)
			}
		})
		w.mend = func(tn *turn) (any, error) {
			text, err := fs.ReadFile(tn.Workspace.Tree(), "same.txt")
			require.NoError(t, err)
			require.Equal(t, "typed\n", string(text))
			return mends("typed, and mended\n")(tn)
		}
		require.NoError(t, w.resume(inOrder(func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
			require.Equal(t, "typed\n", w.there(c, "same.txt"))
			return c.Retry(), ask(ctx, c)
		})))
		require.Equal(t, "typed, and mended\n", w.landed()["same.txt"])
	})
}

// To commit is how people, and agents, end a merge: it counts as what they made
// of it.
func TestAMergeThatIsCommittedInItsCheckoutIsLanded(t *testing.T) {
	t.Parallel()
	commit := func(w *clash, dir string) {
		require.NoError(w.t, os.WriteFile(filepath.Join(dir, "same.txt"), []byte("mine\n"), 0o644))
		w.gitIn(dir, "add", "-A")
		w.gitIn(dir, "commit", "-qm", "mine")
	}
	agent := agl.ResolveWith(editor, 1, nil)
	person := func(w *clash) agl.Resolver {
		return func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
			commit(w, c.Dir)
			return c.Retry(), nil
		}
	}
	check := func(t *testing.T, w *clash) {
		t.Helper()
		require.Equal(t, "mine\n", w.landed()["same.txt"])
		require.Len(t, strings.Fields(w.git("rev-list", "--parents", "-n1", "agl/job")), 3)
		salvaged, err := w.engine().Salvaged(t.Context(), "job")
		require.NoError(t, err)
		require.NotEmpty(t, salvaged)
		require.Len(t, salvaged[0].Commits, 1, "their commit, which is not landed itself")
		require.Empty(t, w.gitIn(w.checkout(), "status", "--porcelain"))
	}
	begin := func(t *testing.T) *clash {
		w := newClash(t, true)
		w.mend = func(tn *turn) (any, error) { commit(w, tn.Dir); return patch{}, nil }
		return w
	}
	for name, resolve := range map[string]func(w *clash) agl.Resolver{
		"by a person": person,
		"by an agent": func(*clash) agl.Resolver { return agent },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			require.NoError(t, w.start(job(inOrder(resolve(w)))))
			check(t, w)
		})
	}
	probe := &faults{}
	w := begin(t)
	w.set = probe.wrap(w.set)
	require.NoError(t, w.start(job(inOrder(agent))))
	ended := nth("write notes/b.ended", 1)(probe.names) // the first is of its own step
	for i, name := range probe.names[ended : ended+8] {
		t.Run("by an agent, and its process died after "+name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			f := &faults{at: ended + i + 1, after: true, crash: true}
			plain := w.set
			w.set = f.wrap(plain)
			require.ErrorIs(t, w.start(job(inOrder(agent))), errFault)
			w.set = plain
			w.agents()
			require.NoError(t, w.resume(inOrder(agent)))
			require.Empty(t, w.agents(), "it was paid")
			check(t, w)
		})
	}
}

// A resolver that asks only a person, who answers the first try, and then edits
// the merge: what is answered is not asked again, and what was typed is there
// when the try comes that it was typed in.
func TestWhatAPersonAnsweredAndTypedInAConflictIsThereWhenItIsComeToAgain(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"killed": false, "nobody there": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClash(t, false)
			s := &seat{say: func(ports.Question) string { return "done" }}
			w.set.Terminal = s.terminal()
			death := &faults{}
			asking := func(at2 func(c *agl.Conflict)) agl.Resolver {
				return func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
					if c.Attempt == 2 {
						at2(c)
					}
					var done bool
					q := agl.Choose(fmt.Sprint("try ", c.Attempt), agl.Opt("done", true), agl.Opt("no", false))
					if err := c.Ask(ctx, q.Into(&done)); err != nil || !done {
						return c.Abort(), err
					}
					return c.Retry(), nil
				}
			}
			plain := w.set
			w.set = death.wrap(plain)
			err := bounded(t, func() error {
				return w.start(job(inOrder(asking(func(c *agl.Conflict) {
					w.typed(c, "same.txt", "both\n")
					death.die()
				}))))
			})
			require.ErrorIs(t, err, errFault)
			require.Equal(t, []string{"try 1"}, s.texts())
			w.set = plain
			finds := asking(func(c *agl.Conflict) { require.Equal(t, "both\n", w.there(c, "same.txt")) })
			if elsewhere {
				w.set.Terminal = nil
				var unanswered *agl.UnansweredError
				require.ErrorAs(t, w.resume(inOrder(finds)), &unanswered)
				require.Equal(t, "try 2", unanswered.Questions[0].Text)
				require.NoError(t, w.engine().Answer(t.Context(), "job", unanswered.Questions[0].ID, "done"))
				require.NoError(t, w.resume(inOrder(finds)))
			} else {
				require.NoError(t, w.resume(inOrder(finds)))
				require.Equal(t, []string{"try 2"}, s.texts())
			}
			require.Equal(t, "both\n", w.landed()["same.txt"])
		})
	}
}
