//go:build linux

package killtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
)

// label is that of every run here.
const label = "t"

// A sandbox is a repository of an operator's, a home for AGL, and an
// environment whose git notes AGL's calls.
type sandbox struct {
	t       testing.TB
	dir     string
	repo    string // the operator's checkout
	home    string
	trees   string // where its checkouts go
	counter string
	script  string
	chunks  []string // the worktrees that its runs make
	env     []string
	git     string // the real one
	path    string // where programs are found
	notes   bool   // git calls are noted even if no process is killed at one
	shim    string // a folder with the git that kills
	mark    string
	started int // processes so far
	kills   []kill
}

// newSandbox returns a sandbox whose agents play testdata/<script>.
func newSandbox(t testing.TB, script string) *sandbox {
	t.Helper()
	repo := newRepository(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	self, err := os.Readlink("/proc/self/exe")
	require.NoError(t, err)
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	git, err = filepath.Abs(git)
	require.NoError(t, err)
	s := &sandbox{
		t: t, dir: dir, repo: repo, home: filepath.Join(dir, "home"), trees: filepath.Join(dir, "home", "trees"), counter: filepath.Join(dir, "counter"),
		git: git, mark: envMark + "=" + filepath.Base(filepath.Dir(dir)) + "-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(dir),
	}
	if script != "" {
		s.script, err = filepath.Abs(filepath.Join("testdata", script))
		require.NoError(t, err)
	}
	bin := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o700))
	for _, name := range []string{"agl", "work", "agent", "watched"} {
		require.NoError(t, os.Symlink(self, filepath.Join(bin, name)))
	}
	s.shim = filepath.Join(dir, "shim")
	require.NoError(t, os.Mkdir(s.shim, 0o700))
	require.NoError(t, os.Symlink(os.Getenv(envShim), filepath.Join(s.shim, "git")))
	require.NoError(t, os.WriteFile(s.counter, nil, 0o600))
	s.path = bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	s.env = append(slices.DeleteFunc(gittest.Env(t), func(entry string) bool { return strings.HasPrefix(entry, "PATH=") }),
		"PATH="+s.path,
		"AGL_HOME="+s.home, "AGL_BUILD=agent build#1 && test -f made.go",
		s.mark, envGit+"="+git, envExe+"="+self, envCounter+"="+s.counter, envGate+"="+filepath.Join(dir, "gate"))
	t.Cleanup(func() {
		for range 100 { // what one look misses the next finds
			left := processes(s.mark)
			if len(left) == 0 {
				return
			}
			for _, p := range left {
				_ = p.Kill()
			}
		}
		t.Error("processes of this test could not be ended")
	})
	return s
}

// newRepository returns a repository with a commit and a committer.
func newRepository(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir = filepath.Join(dir, "repo")
	gittest.Prepared(t, dir, "operator's", func() {
		require.NoError(t, os.Rename(gittest.New(t, map[string]string{
			"README.md": "# A project\n", "old.txt": "old\n", "tool.sh": "#!/bin/sh\n", "sub/kept.txt": "kept\n",
		}).Dir, dir))
	})
	return dir
}

// processes returns the processes that carry entry in their environment, as
// handles that cannot come to mean others.
func processes(entry string) []*os.Process {
	var found []*os.Process
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && slices.Contains(strings.Split(string(environ), "\x00"), entry) {
			found = append(found, p)
			continue
		}
		_ = p.Release()
	}
	return found
}

// A process is a process of AGL, as it was started.
type process struct {
	s              *sandbox
	cmd            *exec.Cmd
	name           string
	calls          string // the file with its git calls
	stdout, stderr *os.File
	done           chan struct{}
}

// start starts bin/<name> in the operator's checkout, to be killed at p.
func (s *sandbox) start(p point, env []string, name string, args ...string) *process {
	s.t.Helper()
	proc := s.prepare(p, env, name, args...)
	proc.begin()
	return proc
}

// prepare is start, without starting it.
func (s *sandbox) prepare(p point, env []string, name string, args ...string) *process {
	s.t.Helper()
	s.started++
	base := filepath.Join(s.dir, strconv.Itoa(s.started))
	out, err := os.Create(base + ".stdout")
	require.NoError(s.t, err)
	errs, err := os.Create(base + ".stderr")
	require.NoError(s.t, err)
	proc := &process{
		s: s, name: fmt.Sprintf("%s %s (killed at: %s)", name, strings.Join(args, " "), p),
		calls: base + ".calls", stdout: out, stderr: errs, done: make(chan struct{}),
	}
	proc.cmd = exec.Command(filepath.Join(s.dir, "bin", name), args...)
	proc.cmd.Dir = s.repo
	proc.cmd.Env = append(slices.Clone(s.env), envPoint+"="+p.String(), envCalls+"="+proc.calls, envProcess+"="+strconv.Itoa(s.started))
	if p.what == gitCall || s.notes {
		proc.cmd.Env = append(proc.cmd.Env, "PATH="+s.shim+string(filepath.ListSeparator)+s.path)
	}
	proc.cmd.Env = append(proc.cmd.Env, env...)
	proc.cmd.Stdout, proc.cmd.Stderr = out, errs
	return proc
}

func (p *process) begin() {
	p.s.t.Helper()
	require.NoError(p.s.t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // how it ended is in its state
		close(p.done)
	}()
}

// A call is a call of git's by AGL, as gitshim notes it.
type call struct {
	Args  []string  `json:"args"` // without the settings every call has
	Began time.Time `json:"began"`
}

// A result is how a process ended.
type result struct {
	killed         bool // by SIGKILL
	code           int
	stdout, stderr string
	calls          []call
	writes, starts int // of work
	name           string
}

func (r result) String() string {
	return fmt.Sprintf("%s: killed %v, exit code %d\n%s%s", r.name, r.killed, r.code, r.stdout, r.stderr)
}

// patience is how long anything here may take; it is far more than it does.
const patience = 2 * time.Minute

// wait waits for the process itself, not for what it left behind.
func (p *process) wait() result {
	p.s.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.done
		p.s.t.Fatalf("%s did not end within %s\n%s", p.name, patience, read(p.stderr.Name()))
	}
	_ = p.stdout.Close()
	_ = p.stderr.Close()
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	r := result{
		killed: status.Signaled() && status.Signal() == syscall.SIGKILL, code: status.ExitStatus(),
		stdout: read(p.stdout.Name()), stderr: read(p.stderr.Name()), name: p.name,
		writes: strings.Count(read(p.calls+"."+string(write)), "\n"), starts: strings.Count(read(p.calls+"."+string(start)), "\n"),
	}
	for line := range strings.Lines(read(p.calls)) {
		var note call
		require.NoError(p.s.t, json.Unmarshal([]byte(line), &note))
		r.calls = append(r.calls, note)
	}
	return r
}

// read returns what is in a file; nothing if there is none.
func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// agl runs the command to its end.
func (s *sandbox) agl(args ...string) result {
	s.t.Helper()
	return s.start(point{}, nil, "agl", args...).wait()
}

// realGit runs git itself in dir, writing nothing that is not asked for.
func (s *sandbox) realGit(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(s.git, append([]string{"-C", dir}, args...)...)
	cmd.Env = append(slices.Clone(s.env), "GIT_OPTIONAL_LOCKS=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("git %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return strings.TrimSuffix(out.String(), "\n") + errs.String()
}

// project is the folder with the project's runs; there is one project.
func (s *sandbox) project() string {
	found, err := filepath.Glob(filepath.Join(s.home, "projects", "*"))
	require.NoError(s.t, err)
	require.LessOrEqual(s.t, len(found), 1)
	if len(found) == 0 {
		return filepath.Join(s.home, "projects", "none")
	}
	return found[0]
}

// runLock is the file by which the run is locked.
func (s *sandbox) runLock() string { return filepath.Join(s.project(), "locks", label+".lock") }

// runDir is where the run's documents are.
func (s *sandbox) runDir() string { return filepath.Join(s.project(), "runs", label) }

// checkout is the run's own.
func (s *sandbox) checkout() string {
	return filepath.Join(s.trees, filepath.Base(s.project()), label, "_base")
}

// gitDir is the repository's.
func (s *sandbox) gitDir() string { return filepath.Join(s.repo, ".git") }

// await waits until cond holds.
func await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(patience)
	for !cond() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("%s did not come about within %s", what, patience)
		}
	}
}

// walk calls visit for everything below root that is neither skipped nor in a
// skipped folder; names are relative to root.
func walk(t testing.TB, root string, visit func(name, path string, d fs.DirEntry) (skip bool)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if visit(filepath.ToSlash(name), path, d) && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	require.NoError(t, err)
}

// digest says what is in a folder: a line for each name.
func digest(t testing.TB, root string, skip func(name string) bool) []string {
	t.Helper()
	var lines []string
	walk(t, root, func(name, path string, d fs.DirEntry) bool {
		if skip != nil && skip(name) {
			return true
		}
		info, err := d.Info()
		require.NoError(t, err)
		line := fmt.Sprintf("%s %v", name, info.Mode())
		switch {
		case info.Mode().IsRegular():
			line += fmt.Sprintf(" %q", read(path))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			require.NoError(t, err)
			line += " " + target
		}
		lines = append(lines, line)
		return false
	})
	return lines
}
