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
)

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
		"a missing flag":              {[]string{"run", "good", "-n", "x"}, 2, "--request"},
		"a missing label":             {[]string{"run", "plain"}, 2, "--name"},
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
		"nonsense nonsense nonsense ": "clear completion init plan resume run runs salvage show version workflows",
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
