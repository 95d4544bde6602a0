package porttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A brokenVerifier is a good one, whose answers are changed.
type brokenVerifier struct {
	*mem.Verifier
	gate   func(ports.Gate) ports.Gate
	verify func(ctx context.Context, good func(context.Context) (ports.Verdict, error)) (ports.Verdict, error)
}

func (v *brokenVerifier) Gate() ports.Gate {
	if v.gate != nil {
		return v.gate(v.Verifier.Gate())
	}
	return v.Verifier.Gate()
}

func (v *brokenVerifier) Verify(ctx context.Context, task ports.VerifyTask) (ports.Verdict, error) {
	good := func(ctx context.Context) (ports.Verdict, error) { return v.Verifier.Verify(ctx, task) }
	if v.verify != nil {
		return v.verify(ctx, good)
	}
	return good(ctx)
}

// breakVerifier returns a maker of verifiers that are broken as change says.
func breakVerifier(change func(v *brokenVerifier)) func(testing.TB) VerifierOptions {
	newVerifier := func(command string, timeout time.Duration, find func(ctx context.Context, n int) (ports.Verdict, error)) ports.Verifier {
		v := &brokenVerifier{Verifier: &mem.Verifier{
			Command: command, Timeout: timeout,
			Find: func(ctx context.Context, _ ports.VerifyTask, n int) (ports.Verdict, error) { return find(ctx, n) },
		}}
		change(v)
		return v
	}
	return func(testing.TB) VerifierOptions {
		return VerifierOptions{
			New: func(_ testing.TB, gate Gate) ports.Verifier {
				return newVerifier("make", gate.Timeout, func(ctx context.Context, n int) (ports.Verdict, error) {
					gate := gate
					if n > 1 && gate.Then != nil {
						gate = *gate.Then
					}
					if gate.Hang {
						<-ctx.Done()
					}
					return ports.Verdict{Passed: !gate.Fail, Output: gate.Output}, ctx.Err()
				})
			},
			None: func(testing.TB) ports.Verifier { return newVerifier("", 0, nil) },
			CannotStart: func(testing.TB) (ports.Verifier, ports.VerifyTask) {
				return newVerifier("make", 0, func(context.Context, int) (ports.Verdict, error) {
					return ports.Verdict{}, ports.Unavailable.Errorf("", "there is no make")
				}), ports.VerifyTask{}
			},
			Changes:  true,
			Programs: true, // which it is not, and so breaks the rules about them
		}
	}
}

// changed breaks what a verifier answers.
func changed(answer func(*ports.Verdict, *error)) func(testing.TB) VerifierOptions {
	return breakVerifier(func(v *brokenVerifier) {
		v.verify = func(ctx context.Context, good func(context.Context) (ports.Verdict, error)) (ports.Verdict, error) {
			verdict, err := good(ctx)
			answer(&verdict, &err)
			return verdict, err
		}
	})
}

func TestTheVerifierSuiteFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	names(t, verifierRules)
	find(t, verifierRules, []broken[VerifierOptions]{
		{fault: "another gate each time", rule: "the gate is described", fresh: breakVerifier(func(v *brokenVerifier) {
			n := 0
			v.gate = func(g ports.Gate) ports.Gate { n++; g.Command += fmt.Sprint(n); return g }
		})},
		{fault: "notes what is well", rule: "a build that passes is a passed verdict", says: `with the note "exit status 0"`, fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Note = "exit status 0"
		})},
		{fault: "never passes", rule: "a build that passes is a passed verdict", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Passed = false
		})},
		{fault: "judges by the output", rule: "a build that passes is a passed verdict", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Passed = !strings.Contains(v.Output, "FAIL")
		})},
		{fault: "always passes", rule: "a build that fails is a failed verdict", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Passed = true
		})},
		{fault: "a failure is an error", rule: "a build that fails is a failed verdict", says: "running the gate: got error exit status 1", fresh: changed(func(v *ports.Verdict, err *error) {
			if !v.Passed {
				*err = errors.New("exit status 1")
			}
		})},
		{fault: "a timeout is an error", rule: "a build that takes too long is a failed verdict", fresh: changed(func(v *ports.Verdict, err *error) {
			if v.Note != "" {
				*err = context.DeadlineExceeded
			}
		})},
		{fault: "a timeout passes", rule: "a build that takes too long is a failed verdict", says: "Passed:true", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Passed = true
		})},
		{fault: "has no timeout", rule: "a build that takes too long is a failed verdict", says: "it has not returned", limit: 400 * time.Millisecond, fresh: breakVerifier(func(v *brokenVerifier) {
			v.Timeout = time.Hour
		})},
		{fault: "a timeout takes the output", rule: "a build that takes too long is a failed verdict", says: "the output until then", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Output = ""
		})},
		{fault: "trims the output", rule: "output is what was written", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Output = strings.TrimSpace(v.Output)
		})},
		{fault: "changes line ends", rule: "output is what was written", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Output = strings.ReplaceAll(v.Output, "\r\n", "\n")
		})},
		{fault: "strips escapes", rule: "output is what was written", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Output = strings.ReplaceAll(v.Output, "\x1b", "")
		})},
		{fault: "strips NUL", rule: "output is what was written", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Output = strings.ReplaceAll(v.Output, "\x00", "")
		})},
		{fault: "keeps half", rule: "of long output the end is kept", says: "want all", fresh: changed(func(v *ports.Verdict, _ *error) {
			if n := len(v.Output); n > 32<<10 && n <= 64<<10 && !strings.HasSuffix(v.Output, "the end\n") {
				v.Output = v.Output[n-32<<10:]
			}
		})},
		{fault: "keeps little", rule: "of long output the end is kept", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Output = ports.Clip(v.Output, 1000)
		})},
		{fault: "keeps bytes that are no text", rule: "output can be recorded", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Output += "\xff"
		})},
		{fault: "fills in a tree", rule: "a verdict says what it is about", says: "the tree", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
		})},
		{fault: "does not say what it ran", rule: "a verdict says what it is about", says: "the command", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Command = ""
		})},
		{fault: "takes longer than there is", rule: "a verdict says what it is about", says: "it took", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Took = time.Hour
		})},
		{fault: "takes no time", rule: "a verdict says what it is about", says: "it took 0s", fresh: changed(func(v *ports.Verdict, _ *error) {
			v.Took = 0
		})},
		{fault: "a cancelled gate has what it wrote until then", rule: "a cancelled gate is no verdict", says: "cancelled while it runs", fresh: breakVerifier(func(v *brokenVerifier) {
			v.verify = func(ctx context.Context, good func(context.Context) (ports.Verdict, error)) (ports.Verdict, error) {
				if err := ctx.Err(); err != nil {
					return ports.Verdict{}, err
				}
				verdict, err := good(ctx)
				if err != nil {
					return ports.Verdict{Output: "working\n", Command: "make", Note: "cancelled", Took: time.Second}, nil
				}
				return verdict, nil
			}
		})},
		{fault: "a cancelled gate has failed", rule: "a cancelled gate is no verdict", fresh: changed(func(_ *ports.Verdict, err *error) {
			*err = nil
		})},
		{fault: "a cancelled gate has a kind", rule: "a cancelled gate is no verdict", says: "has no kind", fresh: changed(func(_ *ports.Verdict, err *error) {
			*err = ports.Unavailable.Errorf("", "%w", *err)
		})},
		{fault: "cannot be cancelled", rule: "a cancelled gate is no verdict", says: "it has not returned", limit: 400 * time.Millisecond, fresh: breakVerifier(func(v *brokenVerifier) {
			v.Timeout = time.Hour
			v.verify = func(ctx context.Context, good func(context.Context) (ports.Verdict, error)) (ports.Verdict, error) {
				return good(context.WithoutCancel(ctx))
			}
		})},
		{fault: "what cannot start has failed", rule: "a gate that cannot be started is an error", fresh: changed(func(v *ports.Verdict, err *error) {
			*v, *err = ports.Verdict{}, nil
		})},
		{fault: "no gate passes", rule: "where there is no gate nothing passes", fresh: changed(func(v *ports.Verdict, err *error) {
			*v, *err = ports.Verdict{Passed: true}, nil
		})},
		{fault: "answers from memory", rule: "a gate can run again", fresh: breakVerifier(func(v *brokenVerifier) {
			var n atomic.Int32
			v.verify = func(ctx context.Context, good func(context.Context) (ports.Verdict, error)) (ports.Verdict, error) {
				if n.Add(1) > 1 {
					return ports.Verdict{Command: "make"}, nil
				}
				return good(ctx)
			}
		})},
		{fault: "answers from a cache", rule: "a gate is not remembered", says: "run 2", fresh: breakVerifier(func(v *brokenVerifier) {
			var cached *ports.Verdict
			v.verify = func(ctx context.Context, good func(context.Context) (ports.Verdict, error)) (ports.Verdict, error) {
				if cached != nil {
					return *cached, nil
				}
				verdict, err := good(ctx)
				cached = &verdict
				return verdict, err
			}
		})},
		{fault: "keeps its environment", rule: "gates run at once", fresh: breakVerifier(func(*brokenVerifier) {})},
		{fault: "runs elsewhere", rule: "the gate runs in the checkout", fresh: breakVerifier(func(*brokenVerifier) {})},
		{fault: "drops the environment", rule: "the gate has the task's environment", fresh: breakVerifier(func(*brokenVerifier) {})},
		{fault: "waits for input", rule: "the gate has nothing to read", says: "it has not returned", limit: 300 * time.Millisecond, fresh: breakVerifier(func(v *brokenVerifier) {
			v.verify = func(ctx context.Context, _ func(context.Context) (ports.Verdict, error)) (ports.Verdict, error) {
				<-ctx.Done()
				return ports.Verdict{}, ctx.Err()
			}
		})},
	})
}
