// Package gittest makes git repositories for tests, cut off from the git
// configuration and the repository of whoever runs them.
package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Repo is a repository with a checkout.
type Repo struct {
	Dir string   // the checkout, its links resolved
	Env []string // an environment that reaches no configuration but the repository's own
	t   testing.TB
}

// New returns a repository with a commit of files, by name, on branch main,
// and a committer identity of its own.
func New(t testing.TB, files map[string]string) *Repo {
	t.Helper()
	r := prepared(t, "with an identity", func(r *Repo) {
		r.init()
		r.Git("config", "user.name", "Tess Ter")
		r.Git("config", "user.email", "tess@example.com")
	})
	r.Write(files)
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", "first")
	return r
}

// Empty returns a repository without a commit and without an identity.
func Empty(t testing.TB) *Repo {
	t.Helper()
	return prepared(t, "empty", (*Repo).init)
}

func prepared(t testing.TB, name string, prepare func(r *Repo)) *Repo {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &Repo{Dir: filepath.Join(dir, "repo"), Env: Env(t), t: t}
	Prepared(t, r.Dir, "gittest: "+name, func() { prepare(r) })
	return r
}

func (r *Repo) init() {
	r.t.Helper()
	if err := os.Mkdir(r.Dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	r.Git("init", "--quiet", "--initial-branch", "main")
}

// Env returns an environment with an empty home of its own. Of this process's
// it has what starting programs takes, and nothing that says where git and AGL
// look, or who is there: a CI, a terminal, a language.
func Env(t testing.TB) []string {
	t.Helper()
	return environ(t.TempDir())
}

func environ(home string) []string {
	env := []string{
		"HOME=" + home, "USERPROFILE=" + home,
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(kept, name) || strings.HasPrefix(name, "GO") {
			env = append(env, entry)
		}
	}
	return env
}

// kept are the variables that starting a program takes, beside those of Go.
var kept = []string{"PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP"}

// Main runs the tests of a package whose code reads the process's own
// environment, in one like Env's, and returns their exit code: for TestMain.
func Main(m *testing.M) int {
	home, err := os.MkdirTemp("", "gittest-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	env := environ(home)
	os.Clearenv()
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// Git runs git in the checkout and returns what it wrote, without the last
// line's end.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Write writes files into the checkout, by name.
func (r *Repo) Write(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// Blob returns the content of a file, named as git names an object.
func (r *Repo) Blob(object string) string {
	r.t.Helper()
	cmd := exec.Command("git", "cat-file", "blob", object)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git cat-file blob %s: %v", object, err)
	}
	return string(out)
}
