//go:build unix

package git_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/git"
	"example.com/agl/ports"
)

// killedSteps is how many commits the killed process makes before it clears.
const killedSteps = 5

func TestMain(m *testing.M) {
	for name, run := range map[string]func(context.Context, string) error{
		"AGL_TEST_KILLED": runUntilKilled, "AGL_TEST_KILLED_LANDING": landUntilKilled,
	} {
		if root := os.Getenv(name); root != "" {
			if err := run(context.Background(), root); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// attachLocked opens the repository of root, and the worktrees of its run, under
// the run's lock. That is free when the last git child of its holder has ended.
func attachLocked(ctx context.Context, root string) (*git.Repo, ports.Worktrees, error) {
	lock, err := os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, nil, err
	}
	repo, err := git.Open(ctx, git.Options{
		Repo: filepath.Join(root, "repo"), Trees: filepath.Join(root, "trees"), SalvageDir: filepath.Join(root, "salvage"),
	})
	if err != nil {
		return nil, nil, err
	}
	trees, err := repo.Attach(ctx, label, fileLock{lock})
	return repo, trees, err
}

// runUntilKilled does what an engine does to a repository, from wherever an
// earlier process was killed: root/record is its journal, "<old> <new>".
func runUntilKilled(ctx context.Context, root string) error {
	_, trees, err := attachLocked(ctx, root)
	if err != nil {
		return err
	}
	record := filepath.Join(root, "record")
	data, err := os.ReadFile(record)
	if err != nil {
		return err
	}
	old, head, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	branch := "agl/" + label
	done := filepath.Join(root, "done")
	if _, err := os.Stat(done); errors.Is(err, fs.ErrNotExist) {
		if old != head {
			if err := trees.Move(ctx, branch, old, head); err != nil {
				return err
			}
		}
		ws, err := trees.Open(ctx, basePlace(), head)
		if err != nil {
			return err
		}
		for {
			if _, err := ws.PutBack(ctx, head, "resume"); err != nil {
				return err
			}
			step, err := os.ReadFile(filepath.Join(ws.Dir(), "step"))
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(strings.TrimSpace(string(step)))
			if err != nil {
				return err
			}
			if n == killedSteps {
				break
			}
			for _, name := range []string{"step", "a", "b", "new/c"} {
				path := filepath.Join(ws.Dir(), name)
				err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, fmt.Appendln(nil, n+1), 0o644))
				if err != nil {
					return err
				}
			}
			made, err := ws.Commit(ctx, commitSpec(head, fmt.Sprint("step ", n+1)))
			if err != nil {
				return err
			}
			tmp := record + ".new"
			err = errors.Join(os.WriteFile(tmp, []byte(head+" "+made.ID), 0o644), os.Rename(tmp, record))
			if err == nil {
				err = trees.Move(ctx, branch, head, made.ID)
			}
			if err != nil {
				return err
			}
			head = made.ID
		}
		if err := os.WriteFile(done, nil, 0o644); err != nil {
			return err
		}
	}
	_, err = trees.Clear(ctx, map[string]string{branch: head})
	return err
}

func TestAProcessThatIsKilledAtAnyInstantIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"step": "0\n", "a": "0\n", "b": "0\n"})
	w.write(filepath.Join(w.root, "record"), w.base+" "+w.base)
	self, err := os.Executable()
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for ended := false; !ended; {
		var stderr strings.Builder
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env, cmd.Stderr = append(w.env, "AGL_TEST_KILLED="+w.root), &stderr
		require.NoError(t, cmd.Start())
		if kills < 15 {
			after := time.Duration(random.IntN(120)) * time.Millisecond
			timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		err := cmd.Wait()
		var exit *exec.ExitError
		switch {
		case err == nil:
			ended = true
		case errors.As(err, &exit) && exit.ExitCode() == -1:
			kills++
		default:
			t.Fatalf("after %d kills: %v: %s", kills, err, stderr.String())
		}
	}
	t.Logf("killed %d times", kills)
	_, head, _ := strings.Cut(w.read(filepath.Join(w.root, "record")), " ")
	require.Equal(t, "step 5\nstep 4\nstep 3\nstep 2\nstep 1\nfirst", w.git(w.dir, "log", "--format=%s", head))
	require.Equal(t, "5", w.git(w.dir, "show", head+":new/c"))
	require.NotContains(t, w.git(w.dir, "worktree", "list"), "trees")
	require.Empty(t, w.git(w.dir, "for-each-ref", "refs/heads/agl", "refs/agl/keep"))
	require.False(t, w.exists(filepath.Join(w.root, "trees", label)))
	for path := range snapshot(t, filepath.Join(w.dir, ".git")) {
		if strings.HasSuffix(path, ".lock") && path != "agl-worktrees.lock" || strings.Contains(path, "worktrees/") {
			t.Errorf("%s is left", path)
		}
	}
}

// A12.
func TestAGitThatHangsIsStoppedAtItsDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.txt": "one\n", ".gitattributes": "*.slow filter=slow\n"})
	pid := filepath.Join(w.root, "pid")
	w.git(w.dir, "config", "filter.slow.clean", "trap '' TERM; echo $$ >"+pid+"; sleep 60")
	opts := w.options(w.dir)
	opts.Deadline = 300 * time.Millisecond
	repo, err := git.Open(t.Context(), opts)
	require.NoError(t, err)
	w.repo = repo
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "x.slow"), "x\n")
	start := time.Now()
	ctx := t.Context()
	_, err = ws.Commit(ctx, commitSpec(w.base, "x"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, "filter")
	var rejected *ports.RejectedError
	require.False(t, errors.As(err, &rejected), "the step is not to blame")
	n, err := strconv.Atoi(strings.TrimSpace(w.read(pid)))
	require.NoError(t, err)
	until(t, "the filter to end", func() bool { return syscall.Kill(n, 0) != nil || zombie(n) })
	require.Less(t, time.Since(start), 20*time.Second)
	require.False(t, w.exists(filepath.Join(w.adminDir(ws), "index.lock")), "git was not given time to remove its lock")
}

// zombie reports whether a process has ended and nobody has asked for its end.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
