package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"example.com/agl"
	"example.com/agl/adapters/cli"
	"example.com/agl/examples/fix"
	"example.com/agl/examples/split"
)

func TestMain(m *testing.M) {
	programs := map[string]func(){
		"agl": main,
		// A program before and after somebody changed a word of a prompt, and
		// one that has another workflow.
		"before": func() { cli.Program{Name: "pair", Workflows: []agl.Definition{pair("carefully")}}.Main() },
		"after":  func() { cli.Program{Name: "pair", Workflows: []agl.Definition{pair("diligently")}}.Main() },
		"other":  func() { cli.Program{Name: "other", Workflows: []agl.Definition{other}}.Main() },
	}
	for name, v := range vendors {
		programs["claude-"+name] = v.main
	}
	testscript.Main(m, programs)
}

// TestTheCommand plays testdata/*.txtar: each is a story of a person and a
// repository.
func TestTheCommand(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
			for _, vendor := range []string{"claude", "codex", "copilot"} { // no program of the machine's is started
				env.Setenv("AGL_"+strings.ToUpper(vendor), filepath.Join(env.WorkDir, "no", vendor))
			}
			env.Setenv("STATE", filepath.Join(home, ".local", "state", "agl"))
			hurried := func(name, script string) error {
				script = regexp.MustCompile(`(?m)^sleep .*\n`).ReplaceAllString(script, "")
				return os.WriteFile(filepath.Join(env.WorkDir, name), []byte(script), 0o600)
			}
			return errors.Join(os.Mkdir(home, 0o700), hurried("fix.txtar", fix.Script), hurried("split.txtar", split.Script))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"await":     await,
			"question":  question,
			"remember":  remember,
			"unchanged": unchanged,
			"repo":      repo,
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("no condition %q", name)
		},
		RequireExplicitExec: true,
	})
}

// exits CODE COMMAND… runs a command that must end with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// await FILE waits until there is such a file.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(time.Minute); ; {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		select {
		case <-look.C:
		case <-late:
			ts.Fatalf("%s did not appear", args[0])
		}
	}
}

// question LABEL sets $ID to the id of the one question of a run that is open.
func question(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: question LABEL")
	}
	ts.Check(ts.Exec("agl", "questions", args[0], "--json"))
	id, err := onlyID(ts.ReadFile("stdout"))
	ts.Check(err)
	ts.Setenv("ID", id)
}

// onlyID returns the id of the one question in an answer of questions --json.
func onlyID(answer string) (string, error) {
	var open struct{ Questions []struct{ ID string } }
	if err := json.Unmarshal([]byte(answer), &open); err != nil {
		return "", err
	}
	if n := len(open.Questions); n != 1 {
		return "", fmt.Errorf("%d questions are open", n)
	}
	return open.Questions[0].ID, nil
}

// repo DIR makes a repository with a commit, whose committer is known.
func repo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(os.WriteFile(filepath.Join(dir, "greet.go"), []byte("package greet\n"), 0o600))
	for _, command := range []string{
		"init --quiet --initial-branch main",
		"config user.name Tess",
		"config user.email tess@example.com",
		"add --all",
		"commit --quiet --message first",
	} {
		ts.Check(ts.Exec("git", append([]string{"-C", dir}, strings.Fields(command)...)...))
	}
}

// remember takes down what is in every file of the work folder.
func remember(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: remember")
	}
	ts.Setenv("REMEMBERED", digest(ts))
}

// unchanged fails if a file is not what it was when remember was called.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: unchanged")
	}
	if diff := cmp.Diff(ts.Getenv("REMEMBERED"), digest(ts)); diff != "" {
		ts.Fatalf("something changed (-was +is):\n%s", diff)
	}
}

func digest(ts *testscript.TestScript) string {
	var lines []string
	root := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join(root, ".tmp"): // the test's own
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) == ".lock" && filepath.Base(filepath.Dir(path)) == "locks" {
			return nil // a run's lock was taken and let go of
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var sum [sha256.Size]byte
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(data)
		}
		lines = append(lines, fmt.Sprintf("%s %v %x", strings.TrimPrefix(path, root), info.Mode(), sum[:6]))
		return nil
	}))
	return strings.Join(lines, "\n")
}
