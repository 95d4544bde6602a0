package agl_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
)

var rounds = flag.Int("rounds", 0, "how often a crowd of children is landed over git, in a repository of 1,000 files; 0: once, in a small one")

// crowd returns how many children land at once: 32, or fewer in the small one.
func crowd() int {
	if *rounds == 0 {
		return 12
	}
	return 32
}

// TestACrowdOfChildrenLandsOnceEachWhileOthersUseTheRepository opens and lands
// many children in parallel over git, while somebody else takes and gives back
// the locks of the operator's checkout and of the configuration.
func TestACrowdOfChildrenLandsOnceEachWhileOthersUseTheRepository(t *testing.T) {
	t.Parallel()
	files := 1000
	if *rounds == 0 {
		files = 100 // to make so many files in so many checkouts takes longer than all else
	}
	for round := range max(*rounds, 1) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			w := newWorld(t, inCrowd)
			w.overGit()
			w.grow(files)
			w.verifier.Command = "true"
			wf := crowdOf(crowd())

			release := w.takeLocks()
			err := w.start(job(wf))
			release()
			require.NoError(t, err)
			require.Len(t, w.agents(), crowd())
			w.isCrowd(files)

			records, err := w.store.Names(t.Context(), "job", "records")
			require.NoError(t, err)
			require.Len(t, records, 4*crowd()+1, "of each child its opening, its step, its verdict and its landing; the end")

			count := w.countGit()
			opened := count()
			require.Positive(t, opened, "git leaves its traces")
			require.NoError(t, w.resume(wf))
			require.Equal(t, opened, count(), "a replay starts no git")
			require.Empty(t, w.agents())
		})
	}
}

// crowdOf opens n worktrees at once, builds in each and lands it.
func crowdOf(n int) *agl.Workflow[agl.None] {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	return script(func(ctx context.Context, run *agl.Run) error {
		return each(names, func(name string) error {
			child, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			if err := child.Step(ctx, builder.Commit("build "+name), agl.In("task", name)); err != nil {
				return err
			}
			return child.Integrate(ctx, agl.Abandon)
		})
	}, builder)
}

// grow commits files, and one in which every child of a crowd has a
// place of its own.
func (w *world) grow(files int) {
	w.t.Helper()
	for i := range files {
		path := filepath.Join(w.gitDir, fmt.Sprintf("d%d", i/50), fmt.Sprintf("f%d.txt", i))
		require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(w.t, os.WriteFile(path, fmt.Appendf(nil, "file %d\n", i), 0o644))
	}
	var shared strings.Builder
	for i := range crowd() {
		fmt.Fprintf(&shared, "%s1\n2\n3\n4\n5\n6\n7\n8\n", placeInCrowd(fmt.Sprintf("c%02d", i)))
	}
	require.NoError(w.t, os.WriteFile(filepath.Join(w.gitDir, "shared.txt"), []byte(shared.String()), 0o644))
	w.git("add", "-A")
	w.git("commit", "-qm", "grow")
}

func placeInCrowd(child string) string { return "place of " + child + "\n" }

// inCrowd is what a child's agent does: a file of its own, one that is there,
// and its place in the one that all change.
func inCrowd(tn *turn) (any, error) {
	child := filepath.Base(tn.Dir)
	shared, err := os.ReadFile(filepath.Join(tn.Dir, "shared.txt"))
	if err != nil {
		return nil, err
	}
	text := strings.Replace(string(shared), placeInCrowd(child), "taken by "+child+"\n", 1)
	if text == string(shared) {
		return nil, errors.New("its place is gone")
	}
	tn.write("shared.txt", text)
	tn.write(child+".txt", child+"\n")
	tn.write("d0/f"+strings.TrimPrefix(child[1:], "0")+".txt", "changed by "+child+"\n")
	return patch{child}, nil
}

// isCrowd checks that each child was built and landed once, and that each
// landing made what bare git makes of merging them in the recorded order.
func (w *world) isCrowd(files int) {
	w.t.Helper()
	bare := filepath.Join(w.t.TempDir(), "bare")
	w.git("worktree", "add", "-q", "--detach", bare, "main")
	times := map[string]int{}
	for _, r := range w.journal() {
		times[string(r.Kind)]++
		if r.Kind == agl.KindLanding {
			w.gitIn(bare, "merge", "-q", "--no-ff", "-m", "m", r.Landing.Child)
		}
	}
	require.Equal(w.t, map[string]int{"step": crowd(), "landing": crowd()}, times)
	landed := func(head string) []string {
		return strings.Fields(w.git("log", "--first-parent", "--reverse", "--format=%T", "main.."+head))
	}
	if diff := cmp.Diff(landed(w.gitIn(bare, "rev-parse", "HEAD")), landed("agl/job")); diff != "" {
		w.t.Errorf("trees after each landing (-want +got):\n%s", diff)
	}
	require.Empty(w.t, w.git("status", "--porcelain"), "the operator's checkout")
	require.Len(w.t, strings.Fields(w.git("ls-tree", "-r", "--name-only", "agl/job")), files+crowd()+2)
}

// takeLocks takes and gives back, as another git would, the lock of the
// operator's index and that of the configuration, which AGL needs neither of,
// until it is told to stop.
func (w *world) takeLocks() (stop func()) {
	w.t.Helper()
	var taken atomic.Int64
	done, stopped := make(chan struct{}), make(chan error)
	go func() {
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		stopped <- func() error {
			for {
				for _, name := range []string{"index.lock", "config.lock"} {
					path := filepath.Join(w.gitDir, ".git", name)
					f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o644)
					if err != nil {
						return fmt.Errorf("somebody has it: %w", err)
					}
					taken.Add(1)
					<-tick.C
					if err := errors.Join(f.Close(), os.Remove(path)); err != nil {
						return err
					}
				}
				select {
				case <-done:
					return nil
				default:
				}
			}
		}()
	}()
	return func() {
		w.t.Helper()
		close(done)
		require.NoError(w.t, <-stopped)
		require.Greater(w.t, taken.Load(), int64(10))
	}
}
