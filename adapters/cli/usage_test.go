package cli_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/cli"
	"example.com/agl/internal/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m)) }

// workflow returns one with parameters P and no steps.
func workflow[P any](name string) agl.Definition {
	return agl.NewWorkflow(agl.Spec{Name: name, Version: 1, Doc: "Does " + name + ".", Roles: []agl.Role{}},
		func(context.Context, *agl.Run, P) error { return nil })
}

type goodParams struct {
	Request string `short:"r" required:"" help:"What to change."`
	Rounds  int    `default:"3" help:"Reviews before giving up, at $$5 each."`
	Mode    string `enum:"fast,slow" default:"fast"`
}

// call runs a program that has the workflows.
func call(t *testing.T, workflows []agl.Definition, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	p := cli.Program{Name: "shipit", Version: "v1.2.3", Workflows: workflows}
	code = p.Run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestAWorkflowThatClashesIsDisabledAlone(t *testing.T) {
	t.Parallel()
	type (
		long  struct{ JSON bool }
		short struct {
			Number int `short:"n"`
		}
		alias struct {
			Source string `aliases:"from"`
		}
		negated struct {
			Loud bool `negatable:"quiet"`
		}
		bad struct {
			Rounds int `default:"many"`
		}
		enum struct {
			Mode string `enum:"a,b"`
		}
		command struct {
			Sub struct{} `cmd:""`
		}
		broken struct {
			X int `short:"long"`
		}
		twice struct {
			A int `name:"x"`
			B int `name:"x"`
		}
		undefined struct {
			X int `help:"${undefined}"`
		}
	)
	workflows := []agl.Definition{
		workflow[goodParams]("good"), workflow[long]("long"), workflow[short]("short"), workflow[alias]("alias"),
		workflow[negated]("negated"), workflow[bad]("bad"), workflow[enum]("enum"),
		workflow[command]("command"), workflow[broken]("broken"), workflow[twice]("twice"), workflow[undefined]("undefined"),
		workflow[agl.None]("good"),
	}
	want := map[string]string{
		"long": "--json", "short": "-n", "alias": "--from", "negated": "--quiet", "bad": "many", "enum": "enum",
		"command": "sub", "broken": "short", "twice": "--x", "undefined": "undefined",
	}
	_, listed, _ := call(t, workflows, "workflows")
	for name, reason := range want {
		code, stdout, stderr := call(t, workflows, "run", name, "-n", "x")
		require.Equal(t, 2, code, name)
		require.Empty(t, stdout, name)
		require.Contains(t, stderr, `workflow "`+name+`" is disabled`, name)
		require.Contains(t, stderr, reason, name)
		require.Equal(t, 1, strings.Count(stderr, "\n"), name)
		require.Regexp(t, `(?m)^`+name+` +version 1  disabled: .*`, listed)
	}
	require.Regexp(t, `(?m)^good +version 1  Does good\.$`, listed)
	require.Regexp(t, `(?m)^good +version 1  disabled: another workflow of this program has the same name$`, listed)

	code, help, _ := call(t, workflows, "run", "good", "--help")
	require.Zero(t, code)
	require.Contains(t, help, "--request")
	require.Contains(t, help, "at $5 each")
}

func TestBadArgumentsAreRefusedInOneLine(t *testing.T) {
	t.Parallel()
	workflows := []agl.Definition{workflow[goodParams]("good"), workflow[agl.None]("plain")}
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"an unknown command":          {[]string{"frobnicate"}, 2, "frobnicate"},
		"an unknown flag":             {[]string{"runs", "--bogus"}, 2, "--bogus"},
		"an unknown workflow":         {[]string{"run", "nope", "-n", "x"}, 3, `no workflow "nope"; this program has good, plain`},
		"... after flags":             {[]string{"--json=false", "--repo", "run", "run", "-n", "good", "--from=x", "nope"}, 3, `no workflow "nope"`},
		"... to describe":             {[]string{"workflows", "nope"}, 3, `no workflow "nope"`},
		"no workflow":                 {[]string{"run"}, 2, "name the workflow to run: this program has good, plain; see shipit run --help"},
		"... but a label":             {[]string{"run", "-n", "x"}, 2, "name the workflow to run"},
		"... but an unknown flag":     {[]string{"run", "--bogus"}, 2, "unknown flag --bogus"},
		"a flag before its workflow":  {[]string{"run", "--tokens", "5", "good", "-n", "x", "-r", "y"}, 2, "unknown flag --tokens"},
		"a missing flag":              {[]string{"run", "good", "-n", "x"}, 2, "missing flags: --request=STRING;"},
		"a missing label":             {[]string{"run", "plain"}, 2, "missing flags: --name=LABEL;"},
		"both":                        {[]string{"run", "good"}, 2, "missing flags: --name=LABEL, --request=STRING; see shipit run good --help"},
		"help for what is not there":  {[]string{"help", "run", "nope"}, 3, `no workflow "nope"`},
		"nobody's instructions":       {[]string{"resume", "x", "--instructions=all"}, 2, `"all" is no setting: "repository" gives`},
		"no time to build":            {[]string{"resume", "x", "--build-timeout=0s"}, 2, "--build-timeout=0s is not more than nothing"},
		"a missing argument":          {[]string{"resume"}, 2, "label"},
		"one argument too many":       {[]string{"runs", "x"}, 2, "unexpected argument x"},
		"a flag that is no number":    {[]string{"run", "good", "-n", "x", "-r", "y", "--rounds", "z"}, 2, "--rounds"},
		"a value that is not in enum": {[]string{"run", "good", "-n", "x", "-r", "y", "--mode", "z"}, 2, "--mode"},
		"a shell nobody knows":        {[]string{"completion", "ksh"}, 2, "ksh"},
		"drop without a number":       {[]string{"salvage", "x", "--drop"}, 2, "shipit salvage x N"},
		"drop and write":              {[]string{"salvage", "x", "1", "--drop", "--to=y"}, 2, "--drop"},
		"a control character":         {[]string{"fro\x1b[31mb\nnicate"}, 2, "fro\uFFFD[31mb nicate"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(t, workflows, tc.args...)
			require.Equal(t, tc.code, code)
			require.Empty(t, stdout)
			require.Contains(t, stderr, tc.want)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			require.True(t, strings.HasPrefix(stderr, "shipit: "), stderr)

			_, stdout, stderr = call(t, workflows, append([]string{"--json"}, tc.args...)...)
			require.Empty(t, stdout)
			require.True(t, strings.HasPrefix(stderr, `{"error":{"kind":"`) && strings.HasSuffix(stderr, "\"}}\n") ||
				slices.Contains(tc.args, "--json=false"), stderr)
		})
	}
}

func TestEveryCommandsHelpHasAnExample(t *testing.T) {
	t.Parallel()
	workflows := []agl.Definition{workflow[goodParams]("good")}
	_, words, _ := call(t, workflows, "__complete", "")
	commands := strings.Fields(words)
	require.Contains(t, commands, "run")
	for _, command := range append(commands, "run good") {
		code, help, stderr := call(t, workflows, append(strings.Fields(command), "--help")...)
		require.Zero(t, code)
		require.Empty(t, stderr)
		require.Contains(t, help, "Example:\n\n    shipit "+command, command)
	}
}

func TestHelpIsAWordToo(t *testing.T) {
	t.Parallel()
	workflows := []agl.Definition{workflow[goodParams]("good")}
	for _, command := range [][]string{{}, {"resume"}, {"run", "good"}} {
		_, want, _ := call(t, workflows, append(command, "--help")...)
		code, got, stderr := call(t, workflows, append([]string{"help"}, command...)...)
		require.Zero(t, code)
		require.Empty(t, stderr)
		require.Equal(t, want, got)
	}
}

// What a workflow has a flag for is its own; the rest every workflow has.
func TestAWorkflowKeepsItsFlagsAndHasTheOthers(t *testing.T) {
	t.Parallel()
	type own struct {
		Build  string `help:"Mine."`
		Number int    `name:"n2" aliases:"tokens" help:"Mine."`
	}
	gated := agl.NewWorkflow(agl.Spec{Name: "gated", Version: 1, Roles: []agl.Role{}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			verdict, err := run.Verify(ctx)
			if err != nil {
				return err
			}
			return agl.Stopf("%s: %v, %s", verdict.Command, verdict.Passed, verdict.Note)
		})
	mine := agl.NewWorkflow(agl.Spec{Name: "mine", Version: 1, Roles: []agl.Role{}},
		func(_ context.Context, _ *agl.Run, p own) error { return agl.Stopf("%s %d", p.Build, p.Number) })
	workflows := []agl.Definition{mine, gated}

	_, help, _ := call(t, workflows, "run", "mine", "--help")
	require.Regexp(t, `--build=STRING +Mine`, help)
	require.Regexp(t, `--build-timeout=DURATION`, help)
	require.NotContains(t, help, "--tokens=N")
	_, help, _ = call(t, workflows, "run", "gated", "--help")
	for _, flag := range []string{"--tokens=N", "--build=COMMAND", "--build-timeout=DURATION", "--instructions=WHOSE"} {
		require.Contains(t, help, flag)
	}
	for _, command := range []string{"show", "runs", "clear"} {
		_, help, _ = call(t, workflows, command, "--help")
		require.NotContains(t, help, "--build", command)
	}

	at := []string{"--repo", gittest.New(t, nil).Dir, "--home", t.TempDir()}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "mine", "-n", "mine", "--build", "x", "--tokens=7"}, `^stopped: x 7\n$`},
		{[]string{"init", "--build", "exit 1"}, `^wrote `},
		{[]string{"run", "gated", "-n", "file"}, `^stopped: exit 1: false, `},
		{[]string{"run", "gated", "-n", "flag", "--build=exit 0", "--build-timeout=1m"}, `^stopped: exit 0: true,`},
		{[]string{"run", "gated", "-n", "late", "--build=sleep 60", "--build-timeout=10ms"}, `^stopped: sleep 60: false, .*10ms`},
		{[]string{"resume", "flag", "--build=exit 0", "--build-timeout=1m"}, `^stopped: exit 0: true,`},
		{[]string{"run", "gated", "-n", "told", "--instructions", "repository"}, `^stopped: exit 1: false, `},
		{[]string{"plan", "flag", "--build=exit 0"}, `^_base: 1 recorded\nand then it ends: exit 0: true,`},
		{[]string{"plan", "flag"}, `^_base: 0 recorded, then verdict verify \(#1\): command changed from "exit 0" to "exit 1"`},
	} {
		_, stdout, stderr := call(t, workflows, append(tc.args, at...)...)
		require.Regexp(t, tc.want, stdout, "%v\n%s", tc.args, stderr)
	}
	code, _, stderr := call(t, workflows, append([]string{"run", "gated", "-n", "none", "--build="}, at...)...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "has no build command")
}

func TestWhatWasStoppedBeforeItBeganCannotBeResumed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	p := cli.Program{Name: "shipit", Workflows: []agl.Definition{workflow[agl.None]("plain")}}
	code := p.Run(ctx, []string{"run", "plain", "-n", "x", "--repo", gittest.New(t, nil).Dir, "--home", t.TempDir()}, nil, &stdout, &stderr)
	require.Equal(t, 130, code, stderr.String())
	require.Empty(t, stdout.String())
	require.NotContains(t, stderr.String(), "resume")
	require.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
}

// Its stack is for whoever looks for the fault.
func TestAPanicsStackIsShownWithAGL_DEBUG(t *testing.T) {
	workflows := []agl.Definition{agl.NewWorkflow(agl.Spec{Name: "broken", Version: 1, Roles: []agl.Role{}},
		func(context.Context, *agl.Run, agl.None) error { panic("oh no") })}
	at := []string{"--repo", gittest.New(t, nil).Dir, "--home", t.TempDir()}
	code, _, stderr := call(t, workflows, append([]string{"run", "broken", "-n", "x"}, at...)...)
	require.Equal(t, 70, code)
	require.Contains(t, stderr, "oh no (usage_test.go:")
	require.NotContains(t, stderr, "goroutine")

	t.Setenv("AGL_DEBUG", "1")
	_, _, stderr = call(t, workflows, append([]string{"resume", "x"}, at...)...)
	require.Regexp(t, `level=ERROR msg=panic .*goroutine .*usage_test\.go`, stderr)
	_, _, stderr = call(t, workflows, append([]string{"resume", "x", "--json"}, at...)...)
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
}

func TestTheVersionIsTold(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"version", "--version"} {
		code, stdout, _ := call(t, nil, arg)
		require.Zero(t, code)
		require.Equal(t, "shipit v1.2.3\n", stdout)
	}
}

func TestWordsAreCompleted(t *testing.T) {
	t.Parallel()
	workflows := []agl.Definition{workflow[goodParams]("good"), workflow[struct{ JSON bool }]("bad")}
	tests := map[string]string{
		"r":                           "resume run runs",
		"run ":                        "good",
		"run -":                       "--from --help --home --json --name --quiet --repo --script",
		"run good --r":                "--repo --request --rounds",
		"run good --mode ":            "fast slow",
		"--repo x run good --mode f":  "fast",
		"run good --request ":         "",
		"--json --repo run compl":     "completion",
		"completion ":                 "bash fish zsh",
		"workflows ":                  "bad good",
		"show --":                     "--help --home --json --quiet --repo --script",
		"resume --re":                 "--rebuy --repo --retry",
		"nonsense nonsense nonsense ": "answer clear completion doctor init plan questions resume run runs salvage show version workflows",
	}
	for line, want := range tests {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			_, stdout, _ := call(t, workflows, append([]string{"__complete"}, strings.Split(line, " ")...)...)
			if diff := cmp.Diff(want, strings.Join(strings.Fields(stdout), " ")); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
		})
	}
}

// The script is sourced by a real bash, in which a function stands in for the
// program.
func TestBashCompletesWithTheScript(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	_, script, _ := call(t, nil, "completion", "bash")
	file := filepath.Join(t.TempDir(), "completion")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	cmd := exec.Command(bash, "--norc", "-c", `
		shipit() { printf '<%s>' "$@" >&3; printf '%s\n' 'two words' other; }
		. "$1"
		COMP_WORDS=(shipit run ""); COMP_CWORD=2
		_shipit
		printf '[%s]' "${COMPREPLY[@]}"
		complete -p shipit >/dev/null
	`, "bash", file)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	cmd.ExtraFiles = []*os.File{write}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, write.Close())
	given, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Equal(t, "[two words][other]", string(out))
	require.Equal(t, "<__complete><run><>", string(given))
}

func TestEveryShellHasAScriptForTheProgramsName(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		var out strings.Builder
		code := cli.Program{Name: "ship-it"}.Run(t.Context(), []string{"completion", shell}, nil, &out, io.Discard)
		require.Zero(t, code)
		require.Contains(t, out.String(), "ship-it __complete")
		require.NotContains(t, out.String(), "PROGRAM")
		require.NotContains(t, out.String(), "FUNCTION")
	}
}

func FuzzArguments(f *testing.F) {
	workflows := []agl.Definition{workflow[goodParams]("good"), workflow[struct{ JSON bool }]("bad")}
	for _, line := range []string{"", "run good -n x -r y", "run\nbad", "--json --quiet show -- x", "salvage x 1 --to=", "-q -h", "__complete run good --", "run -n -n"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := slices.Concat([]string{"--repo=/nonexistent"}, strings.Split(line, " "), []string{"--repo=/nonexistent"})
		code, stdout, stderr := call(t, workflows, args...)
		switch {
		case strings.IndexFunc(stderr, func(r rune) bool { return r != '\n' && r < ' ' }) >= 0:
			t.Errorf("a control character in %q", stderr)
		case code == 0 && stderr != "", code != 0 && (stdout != "" || strings.Count(stderr, "\n") != 1):
			t.Errorf("exit code %d with %q on stdout and %q on stderr", code, stdout, stderr)
		}
	})
}
