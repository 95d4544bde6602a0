package porttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"example.com/agl/ports"
)

func TestEveryRuleOfRepositoriesHasItsNameAndItsSentence(t *testing.T) {
	t.Parallel()
	names(t, workspaceRules())
	names(t, historyRules)
}

func TestBrokenWorktreesAreFound(t *testing.T) {
	t.Parallel()
	find(t, workspaceRules(), []broken[*worksite]{
		{fault: "opening tidies up", rule: "opening again returns the same place", fresh: breakTrees(func(w *brokenTrees) {
			w.open = func(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
				ws, err := w.Worktrees.Open(ctx, place, head)
				if err == nil {
					_, err = ws.PutBack(ctx, head, "tidy")
				}
				return ws, err
			}
		})},
		{fault: "makes the checkout later", rule: "opening makes what is missing", says: "exists: false, want true", fresh: breakTrees(func(w *brokenTrees) {
			w.open = func(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
				place.Namespace = "scratch"
				return w.Worktrees.Open(ctx, place, head)
			}
		})},
		{fault: "takes a branch over", rule: "a branch elsewhere is refused", fresh: breakTrees(func(w *brokenTrees) {
			w.open = func(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
				if at, _ := w.repo.Branch(ctx, place.Branch); at != "" && at != head {
					head = at
				}
				return w.Worktrees.Open(ctx, place, head)
			}
		})},
		{fault: "does not say where a branch is", rule: "a branch elsewhere is refused", says: "does not name", fresh: breakTrees(func(w *brokenTrees) {
			w.open = func(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
				ws, err := w.Worktrees.Open(ctx, place, head)
				if err != nil {
					err = ports.Conflicted.Errorf("", "the branch is elsewhere")
				}
				return ws, err
			}
		})},
		{fault: "one checkout for every namespace", rule: "places are separate", fresh: breakTrees(func(w *brokenTrees) {
			w.open = func(ctx context.Context, _ ports.Place, head string) (ports.Workspace, error) {
				return w.Worktrees.Open(ctx, ports.Place{Namespace: ports.Base, Branch: "agl/all"}, head)
			}
		})},
		{fault: "opens one at a time, badly", rule: "many places work at once", fresh: breakTrees(func(w *brokenTrees) {
			var opened atomic.Int32
			second := make(chan struct{})
			w.open = func(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
				switch opened.Add(1) {
				case 1:
					<-second
				case 2:
					close(second)
					return nil, ports.Unavailable.Errorf("", "the repository is locked")
				}
				return w.Worktrees.Open(ctx, place, head)
			}
		})},
		{fault: "moves any branch", rule: "the operator's checkout is not touched", says: "moving main: it was done", fresh: breakTrees(func(w *brokenTrees) {
			w.move = func(ctx context.Context, branch, old, new string) error {
				if err := w.Worktrees.Move(ctx, branch, old, new); ports.KindOf(err) != ports.Invalid {
					return err
				}
				return nil
			}
		})},
		{fault: "moves without comparing", rule: "a branch elsewhere is not moved", fresh: breakTrees(func(w *brokenTrees) {
			w.move = func(ctx context.Context, branch, _, new string) error {
				at, _ := w.repo.Branch(ctx, branch)
				return w.Worktrees.Move(ctx, branch, at, new)
			}
		})},
		{fault: "compares, then moves", rule: "one of many moves wins", fresh: breakTrees(func(w *brokenTrees) {
			var compared sync.WaitGroup
			compared.Add(4)
			w.move = func(ctx context.Context, branch, old, new string) error {
				if at, _ := w.repo.Branch(ctx, branch); at != old {
					return ports.Conflicted.Errorf("", "%s is at %s", branch, at)
				}
				compared.Done()
				compared.Wait()
				at, _ := w.repo.Branch(ctx, branch)
				return w.Worktrees.Move(ctx, branch, at, new)
			}
		})},
		{fault: "cannot move twice", rule: "a branch that is there already is moved", fresh: breakTrees(func(w *brokenTrees) {
			w.move = func(ctx context.Context, branch, old, new string) error {
				if at, _ := w.repo.Branch(ctx, branch); at != old {
					return ports.Conflicted.Errorf("", "%s is at %s, not at %s", branch, at, old)
				}
				return w.Worktrees.Move(ctx, branch, old, new)
			}
		})},
		{fault: "moves to nowhere", rule: "a branch moves to commits only", fresh: breakTrees(func(w *brokenTrees) {
			w.move = func(ctx context.Context, branch, old, new string) error {
				if err := w.Worktrees.Move(ctx, branch, old, new); ports.KindOf(err) != ports.NotFound {
					return err
				}
				return nil
			}
		})},
		{fault: "keeps the last commit of a name", rule: "a kept commit stays", says: "keeping another commit under the name", fresh: breakTrees(func(w *brokenTrees) {
			w.keep = func(ctx context.Context, name, commit string) error {
				if err := w.Worktrees.Keep(ctx, name, commit); ports.KindOf(err) != ports.Conflicted {
					return err
				}
				return nil
			}
		})},
		{fault: "forgets what it keeps", rule: "a kept commit stays", says: "no ref leads", fresh: breakTrees(func(w *brokenTrees) {
			held := map[string]string{}
			w.keep = func(ctx context.Context, name, commit string) error {
				err := w.Worktrees.Keep(ctx, "x-"+name, w.first(ctx)) // finds what is wrong with the name
				switch at := held[name]; {
				case err != nil || name == "unknown":
					return errors.Join(err, ports.NotFound)
				case at != "" && at != commit:
					return ports.Conflicted
				}
				held[name] = commit
				return nil
			}
		})},
		{fault: "clears until it meets a branch elsewhere", rule: "a branch elsewhere keeps all from being cleared", fresh: breakTrees(func(w *brokenTrees) {
			w.clear = func(ctx context.Context, branches map[string]string) (ports.Cleared, error) {
				for branch, want := range branches {
					if at, _ := w.repo.Branch(ctx, branch); at != want && at != "" {
						_, err := w.Worktrees.Clear(ctx, nil)
						return ports.Cleared{}, errors.Join(err, ports.Conflicted.Errorf("", "branch %s is at %s", branch, at))
					}
				}
				return w.Worktrees.Clear(ctx, branches)
			}
		})},
		{fault: "cannot clear twice", rule: "clearing may be repeated", fresh: breakTrees(func(w *brokenTrees) {
			w.clear = func(ctx context.Context, branches map[string]string) (ports.Cleared, error) {
				if there, _ := w.Exists(ctx, ports.Base); !there {
					return ports.Cleared{}, ports.NotFound.Errorf("", "there is no checkout")
				}
				return w.Worktrees.Clear(ctx, branches)
			}
		})},
		{fault: "clearing drops salvage", rule: "clearing keeps salvage", fresh: breakTrees(droppingSalvage)},
		{fault: "clearing drops work", rule: "clearing loses no work", fresh: breakTrees(droppingSalvage)},
		{fault: "clears every run whose label begins alike", rule: "clearing leaves other runs alone", fresh: breakTrees(func(w *brokenTrees) {
			w.clear = func(ctx context.Context, branches map[string]string) (ports.Cleared, error) {
				cleared, err := w.Worktrees.Clear(ctx, branches)
				other, _ := w.repo.Repository.Attach(ctx, run+"0", nil)
				_, more := other.Clear(ctx, nil)
				return cleared, errors.Join(err, more)
			}
		})},
		{fault: "leaves the branches", rule: "clearing removes the run", fresh: breakTrees(func(w *brokenTrees) {
			w.clear = func(ctx context.Context, _ map[string]string) (ports.Cleared, error) {
				return w.Worktrees.Clear(ctx, nil)
			}
		})},
		{fault: "cannot be cancelled", rule: "a cancelled call changes nothing", says: "Move under a cancelled context: it was done", fresh: breakTrees(func(w *brokenTrees) {
			w.move = func(ctx context.Context, branch, old, new string) error {
				return w.Worktrees.Move(context.WithoutCancel(ctx), branch, old, new)
			}
		})},
		{fault: "a kind for a cancelled call", rule: "a cancelled call changes nothing", says: "got kind \"unavailable\"", fresh: breakTrees(func(w *brokenTrees) {
			w.keep = func(ctx context.Context, name, commit string) error {
				if err := w.Worktrees.Keep(ctx, name, commit); err != nil {
					return ports.Unavailable.Errorf("", "%w", err)
				}
				return nil
			}
		})},
	})
}

// first is the commit of the operator's branch.
func (w *brokenTrees) first(ctx context.Context) string {
	id, _ := w.repo.Resolve(ctx, "main")
	return id
}

// droppingSalvage makes clearing drop the run's salvage.
func droppingSalvage(w *brokenTrees) {
	w.clear = func(ctx context.Context, branches map[string]string) (ports.Cleared, error) {
		cleared, err := w.Worktrees.Clear(ctx, branches)
		for _, s := range cleared.Salvage {
			err = errors.Join(err, w.repo.DropSalvage(ctx, run, s.N))
		}
		cleared.Salvage = nil
		return cleared, err
	}
}

func TestBrokenCheckoutsAreFound(t *testing.T) {
	t.Parallel()
	find(t, workspaceRules(), []broken[*worksite]{
		{fault: "a tree as it was", rule: "the tree is live", fresh: breakCheckout(func(w *brokenCheckout) {
			w.tree = func() fs.FS { return copyOf(w.Workspace.Tree()) }
		})},
		{fault: "a tree to write", rule: "the tree is to read", fresh: breakCheckout(func(w *brokenCheckout) {
			tree := copyOf(w.Workspace.Tree())
			w.tree = func() fs.FS { return sharing{tree} }
		})},
		{fault: "changes in no order", rule: "changes are told apart", fresh: breakCheckout(func(w *brokenCheckout) {
			w.inspect = func(ctx context.Context, head string) (ports.Changes, error) {
				c, err := w.Workspace.Inspect(ctx, head)
				slices.Reverse(c.Tracked)
				return c, err
			}
		})},
		{fault: "touched is changed", rule: "what is as it was is no change", fresh: breakCheckout(func(w *brokenCheckout) {
			w.inspect = func(ctx context.Context, head string) (ports.Changes, error) {
				c, err := w.Workspace.Inspect(ctx, head)
				c.Tracked = append(c.Tracked, "a.txt")
				return c, err
			}
		})},
		{fault: "few paths", rule: "at most a hundred paths", fresh: breakCheckout(func(w *brokenCheckout) {
			w.inspect = func(ctx context.Context, head string) (ports.Changes, error) {
				c, err := w.Workspace.Inspect(ctx, head)
				c.Tracked = c.Tracked[:min(len(c.Tracked), 10)]
				return c, err
			}
		})},
		{fault: "the head it was told", rule: "the head is where the branch is", fresh: breakCheckout(func(w *brokenCheckout) {
			w.inspect = func(ctx context.Context, head string) (ports.Changes, error) {
				return ports.Changes{Head: head}, ctx.Err()
			}
		})},
		{fault: "commits what was there before", rule: "a commit has everything in the checkout", fresh: breakCheckout(func(w *brokenCheckout) {
			w.commit = func(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
				_ = memory(w).Remove(ctx, "new/b.bin")
				return w.Workspace.Commit(ctx, spec)
			}
		})},
		{fault: "commits move the branch", rule: "committing moves no ref", fresh: breakCheckout(func(w *brokenCheckout) {
			w.commit = func(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
				made, err := w.Workspace.Commit(ctx, spec)
				return made, errors.Join(err, w.trees.Move(ctx, w.branch, spec.Head, made.ID))
			}
		})},
		{fault: "an empty commit is one", rule: "nothing to commit is no commit", fresh: breakCheckout(func(w *brokenCheckout) {
			w.commit = func(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
				made, err := w.Workspace.Commit(ctx, spec)
				made.Empty = false
				return made, err
			}
		})},
		{fault: "the commit's id for its tree's", rule: "a tree's id is its files'", fresh: breakCheckout(func(w *brokenCheckout) {
			w.commit = func(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
				made, err := w.Workspace.Commit(ctx, spec)
				made.Tree = made.ID
				return made, err
			}
		})},
		{fault: "tidies messages", rule: "the message is used exactly", fresh: edited(func(s *ports.CommitSpec) {
			s.Message = strings.TrimSpace(s.Message) + "\n"
		})},
		{fault: "drops comments", rule: "the message is used exactly", fresh: edited(func(s *ports.CommitSpec) {
			s.Message = strings.TrimPrefix(s.Message, "# subject")
		})},
		{fault: "commits as itself", rule: "who and when are part of a commit", says: "another identity", fresh: edited(func(s *ports.CommitSpec) {
			s.Identity = "AGL <agl@localhost>"
		})},
		{fault: "commits on a day", rule: "who and when are part of a commit", says: "another date", fresh: edited(func(s *ports.CommitSpec) {
			s.Date = s.Date.Truncate(time.Hour)
		})},
		{fault: "commits now", rule: "who and when are part of a commit", says: "made again", fresh: func() func(testing.TB) *worksite {
			var now atomic.Int64
			return edited(func(s *ports.CommitSpec) { s.Date = s.Date.Add(time.Duration(now.Add(1)) * time.Minute) })
		}()},
		{fault: "takes anybody", rule: "a malformed commit is refused", fresh: edited(func(s *ports.CommitSpec) {
			s.Identity = "Some One <some@example.com>"
		})},
		{fault: "puts the files back alone", rule: "a checkout that is put back stands at head", fresh: breakCheckout(func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				at, _ := w.trees.repo.Branch(ctx, w.branch)
				done, err := w.Workspace.PutBack(ctx, head, reason)
				return done, errors.Join(err, w.trees.Move(ctx, w.branch, head, at))
			}
		})},
		{fault: "salvages nothing", rule: "what would be lost is salvaged", fresh: breakCheckout(func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				done, err := w.Workspace.PutBack(ctx, head, reason)
				done.Salvage = nil
				return done, err
			}
		})},
		{fault: "salvages what is new alone", rule: "a removed file is work too", fresh: breakCheckout(func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				if err := memory(w).WriteFile(ctx, "dir/b.txt", []byte(firstFiles["dir/b.txt"])); err != nil {
					return ports.PutBack{}, err
				}
				return w.Workspace.PutBack(ctx, head, reason)
			}
		})},
		{fault: "salvages a clean checkout", rule: "nothing to keep makes no salvage", fresh: everyTime("x")},
		{fault: "salvages again and again", rule: "an equal salvage makes no new one", fresh: everyTime("y")},
		{fault: "a reason on one line", rule: "a salvage says what it is", fresh: breakCheckout(func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				return w.Workspace.PutBack(ctx, head, strings.Join(strings.Fields(reason), " "))
			}
		})},
		{fault: "deletes, then looks", rule: "an unknown head puts nothing back", fresh: breakCheckout(func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				_ = memory(w).Remove(ctx, "a.txt")
				return w.Workspace.PutBack(ctx, head, reason)
			}
		})},
		{fault: "guards what changes", rule: "a guard is of its own form", fresh: breakCheckout(func(w *brokenCheckout) {
			w.verify = func(context.Context, json.RawMessage) error { return &ports.TamperedError{Changes: []string{"files"}} }
		})},
	})
}

func TestBrokenSalvageIsFound(t *testing.T) {
	t.Parallel()
	find(t, workspaceRules(), []broken[*worksite]{
		{fault: "writes text", rule: "what would be lost is salvaged", says: "the files of the salvage", fresh: breakRepo(func(r *brokenRepo) {
			r.writeSalvage = func(ctx context.Context, label string, n int, dir string) error {
				err := r.Repository.WriteSalvage(ctx, label, n, dir)
				return errors.Join(err, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
					file := filepath.Join(dir, path)
					data, readErr := os.ReadFile(file)
					if err != nil || d.IsDir() || readErr != nil {
						return err
					}
					return os.WriteFile(file, bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), 0o644)
				}))
			}
		})},
		{fault: "writes over what is there", rule: "a salvage is written into an empty folder", fresh: breakRepo(func(r *brokenRepo) {
			r.writeSalvage = func(ctx context.Context, label string, n int, dir string) error {
				err := r.Repository.WriteSalvage(ctx, label, n, dir)
				if ports.KindOf(err) == ports.Conflicted {
					return os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o644)
				}
				return err
			}
		})},
		{fault: "nothing is written without a word", rule: "a salvage that is not there is NotFound", fresh: breakRepo(func(r *brokenRepo) {
			r.writeSalvage = func(ctx context.Context, label string, n int, dir string) error {
				if err := r.Repository.WriteSalvage(ctx, label, n, dir); ports.KindOf(err) != ports.NotFound {
					return err
				}
				return nil
			}
		})},
		{fault: "lists by name", rule: "salvage is listed by number", fresh: breakRepo(func(r *brokenRepo) {
			r.salvaged = func(ctx context.Context, label string) ([]ports.Salvage, error) {
				list, err := r.Repository.Salvaged(ctx, label)
				slices.SortFunc(list, func(a, b ports.Salvage) int { return strings.Compare(a.Ref, b.Ref) })
				return list, err
			}
		})},
		{fault: "does not drop", rule: "a dropped salvage is gone", fresh: breakRepo(func(r *brokenRepo) {
			r.dropSalvage = func(context.Context, string, int) error { return nil }
		})},
		{fault: "counts what there is", rule: "numbers are not given again", fresh: breakRepo(func(r *brokenRepo) {
			r.checkout = func(w *brokenCheckout) {
				w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
					done, err := w.Workspace.PutBack(ctx, head, reason)
					if list, _ := r.Repository.Salvaged(ctx, run); done.Salvage != nil {
						done.Salvage.N = len(list)
					}
					return done, err
				}
			}
		})},
	})
}

func TestWhatIsPromisedAndNotDoneIsFound(t *testing.T) {
	t.Parallel()
	find(t, workspaceRules(), []broken[*worksite]{
		{fault: "finds no tampering", rule: "tampering is found", fresh: pretend(func(_ *WorkspacesOptions, r *Repository) {
			r.Tamper = func(ports.Workspace) (func() error, error) { return func() error { return nil }, nil }
		})},
		{fault: "holds no commit that was made", rule: "a made commit stays", fresh: pretend(func(_ *WorkspacesOptions, r *Repository) {
			r.Reachable = func(string) bool { return false }
		})},
		{fault: "knows no index", rule: "what is only staged is salvaged", fresh: pretend(func(_ *WorkspacesOptions, r *Repository) {
			r.Stage = func(ports.Workspace, string) error { return nil }
		})},
		{fault: "knows no commits but its own", rule: "stray commits are salvaged", fresh: pretend(straying)},
		{fault: "cannot tell that HEAD is detached", rule: "a detached HEAD is told", fresh: pretend(straying)},
		{fault: "commits beside the agent's commits", rule: "an agent's own commits are below", fresh: pretend(straying)},
		{fault: "knows no ignore rules", rule: "ignored files are not told", fresh: pretend(ignoring)},
		{fault: "knows no ignore rules when putting back", rule: "ignored files stay", fresh: pretend(ignoring)},
		{fault: "commits a repository in the checkout", rule: "a nested repository is rejected", fresh: pretend(func(o *WorkspacesOptions, r *Repository) {
			o.Nested = true
			writing(r, func(path string) string {
				if strings.Contains(path, ".git/") { // what makes a folder a repository
					return ""
				}
				return path
			})
		})},
		{fault: "puts a repository back", rule: "nested repositories are moved", fresh: pretend(func(o *WorkspacesOptions, r *Repository) {
			o.Nested = true
			writing(r, func(path string) string {
				if strings.Contains(path, ".git/") { // what makes a folder a repository
					return ""
				}
				return path
			})
		})},
	})
}

// straying are levers for an agent's commits that no checkout knows of.
func straying(_ *WorkspacesOptions, r *Repository) {
	r.Commit = func(ws ports.Workspace, message string, _ bool) (string, error) {
		at, err := ws.Inspect(context.Background(), "")
		if err != nil {
			return "", err
		}
		made, err := memory(ws).Commit(context.Background(), spec(at.Head, message))
		return made.ID, err
	}
}

// ignoring calls the file of ignore rules by another name, so that it has no
// effect.
func ignoring(o *WorkspacesOptions, r *Repository) {
	o.Ignored = true
	writing(r, func(path string) string { return strings.Replace(path, ".gitignore", "gitignore", 1) })
}

// edited makes checkouts that commit something else than they are told to.
func edited(edit func(*ports.CommitSpec)) func(testing.TB) *worksite {
	return breakCheckout(func(w *brokenCheckout) {
		w.commit = func(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
			edit(&spec)
			return w.Workspace.Commit(ctx, spec)
		}
	})
}

// everyTime makes checkouts that make a salvage whenever they are put back.
func everyTime(prefix string) func(testing.TB) *worksite {
	return breakCheckout(func(w *brokenCheckout) {
		n := 0
		w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
			n++
			if err := memory(w).WriteFile(ctx, fmt.Sprint(prefix, n), nil); err != nil {
				return ports.PutBack{}, err
			}
			return w.Workspace.PutBack(ctx, head, reason)
		}
	})
}

// copyOf returns the files of a tree as they are.
func copyOf(tree fs.FS) fstest.MapFS {
	files := fstest.MapFS{}
	_ = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	return files
}

// sharing gives its own bytes away.
type sharing struct{ fstest.MapFS }

func (s sharing) ReadFile(name string) ([]byte, error) { return s.MapFS[name].Data, nil }
