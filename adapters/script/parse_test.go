package script_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/script"
	"example.com/agl/ports"
)

func TestAMalformedScriptIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ script, want string }{
		{"", "s.txtar:1: no section for a role"},
		{"just text\n", "s.txtar:1: no section for a role"},
		{"-- a.go --\npackage a\n", "s.txtar:1: no section for a role"},
		{"-- dev --\nsay hi\nwirte a b\n", `s.txtar:3: in section dev: unknown command "wirte"`},
		{"about\n\n-- dev --\nsay hi\n-- rev --\n\n  shout\n", `s.txtar:7: in section rev: unknown command "shout"`},
		{"-- dev --\r\nsay hi\r\nshout\r\n", `s.txtar:3: in section dev: unknown command "shout"`},
		{"\ufeff-- dev --\nshout\n", "s.txtar:2: "},
		{"-- dev --\n-- rev -- \n", `s.txtar:2: in section dev: unknown command "--"`},
		{"-- dev --\nsay hi\n-- LICENSE --\nMIT\n", `s.txtar:4: in section LICENSE: unknown command "MIT"`},
		{"-- dev#1.5 --\nsayy\n", "s.txtar:1: section dev#1.5: steps of a role are numbered from 1: dev#1"},
		{"-- dev --\n-- x/dev#0 --\n", "s.txtar:2: section x/dev#0"},
		{"-- dev --\n-- dev#01 --\n", "s.txtar:2: section dev#01"},
		{"-- dev --\n-- rev --\n-- dev --\n", "s.txtar:3: section dev is at line 1 already"},
		{"-- dev --\nwrite\n", "the path is missing"},
		{"-- dev --\nwrite x\n", `there is no section ""`},
		{"-- dev --\nwrite x y\n", `s.txtar:2: in section dev: write PATH SECTION: there is no section "y"`},
		{"-- dev --\nwrite ../x f.txt\n-- f.txt --\n", `"../x" is no path in the checkout`},
		{"-- dev --\nwrite /x f.txt\n-- f.txt --\n", `"/x" is no path`},
		{"-- dev --\nappend a/../.. x\n", "is no path"},
		{"-- dev --\nappend\n", "the path is missing"},
		{"-- dev --\nrm .\n", `"." is no path`},
		{"-- dev --\nrm # all\n", "the path is missing"},
		{"-- dev --\nexec\n", "exec COMMAND: nothing follows"},
		{"-- dev --\nsay\n", "say TEXT: nothing follows"},
		{"-- dev --\nactivity  \n", "activity TEXT: nothing follows"},
		{"-- dev --\ncall ask\n", "call TOOL JSON"},
		{"-- dev --\ncall ask {\"a\":\n", "call TOOL JSON"},
		{"-- dev --\nreport {'a': 1}\n", "report JSON"},
		{"-- dev --\nreport {} {}\n", `"{}" follows the JSON`},
		{"-- dev --\nusage 1\n", "there are 1 numbers"},
		{"-- dev --\nusage 1 -2\n", `"-2" is no number of tokens`},
		{"-- dev --\nsleep 5\n", `"5" is no duration`},
		{"-- dev --\nsleep -1s\n", `"-1s" is no duration`},
		{"-- dev --\nstop\n", "stop: \"\" is no reason"},
		{"-- dev --\nstop now\n", "there is: limit"},
		{"-- dev --\nfail internal oops\n", `"internal" is none of`},
		{"-- dev --\nfail denied\n", "no text follows"},
		{"-- dev --\ncrash now\n", "crash takes nothing more"},
	} {
		_, err := script.Parse("s.txtar", []byte(tt.script))
		if ports.KindOf(err) != ports.Invalid || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "s.txtar:") {
			t.Errorf("%q:\n got %v\nwant Invalid %s", tt.script, err, tt.want)
		}
	}
}

func TestWhichSectionsAreFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script, roles string }{
		{"one that is written", "-- dev --\nwrite LICENSE LICENSE # as it is\n-- LICENSE --\nMIT\n", "dev"},
		{"also if it comes first and reads like commands", "-- clean --\nrm x\n-- dev --\nwrite clean.sh clean\n", "dev"},
		{"no role can be called so", "-- dev --\n-- the program --\nwrite me\n-- a/b/c --\nx\n-- .env --\nx\n-- a:b --\nx\n", "dev"},
		{"a dot, and not commands", "-- dev --\n-- main.go --\npackage main\n-- cmd/x.go --\nsay\n", "dev"},
		{"a dot, and commands", "-- dev --\n-- v1.dev --\n# fine\nsay hi\n", "dev, v1.dev"},
		{"prose that mentions write is no command", "-- README.md --\nHow to\nwrite x dev\n-- dev --\n", "dev"},
		{"all four forms of a role's", "-- a --\n-- a#12 --\n-- n/a --\n-- _base/a#1 --\n", "a, a#12, n/a, _base/a#1"},
		{"those in a landing", "-- a@1 --\n-- a@2#12 --\n-- n/a@3 --\n-- _base/a@1#1 --\n", "a@1, a@2#12, n/a@3, _base/a@1#1"},
		{"no landing", "-- dev --\n-- icon@2x --\nx\n-- a@0 --\nx\n-- a@b#1 --\nx\n", "dev"},
		{"a number that is none, but written", "-- dev --\nwrite x C#\n-- C# --\nx\n", "dev"},
	} {
		agent, err := script.Parse("s", []byte(tt.script))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		_, err = agent.Run(t.Context(), ports.Task{Role: "nobody", Namespace: ports.Base, Ordinal: 3}, nil)
		want := "no section of s plays nobody, step 3 of it in _base; it has: " + tt.roles
		if ports.KindOf(err) != ports.Unexpected || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", tt.name, err, want)
		}
	}
}

func TestALoadedScriptIsNamedByItsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "play.txtar")
	_, err := script.Load(file)
	require.Equal(t, ports.NotFound, ports.KindOf(err), "%v", err)
	require.ErrorContains(t, err, file)

	require.NoError(t, os.WriteFile(file, []byte("-- dev --\nshout\n"), 0o600))
	_, err = script.Load(file)
	require.Equal(t, ports.Invalid, ports.KindOf(err), "%v", err)
	require.ErrorContains(t, err, file+":2: ")

	require.NoError(t, os.WriteFile(file, []byte("-- dev --\n"), 0o600))
	agent, err := script.Load(file)
	require.NoError(t, err)
	require.NoError(t, agent.Ready(t.Context(), "script/x"))

	_, err = script.Load(filepath.Dir(file))
	require.Equal(t, ports.Unavailable, ports.KindOf(err), "%v", err)
}

func TestWithoutAScriptTheAgentIsNotReady(t *testing.T) {
	t.Parallel()
	agent := script.Missing()
	_, runErr := agent.Run(context.Background(), ports.Task{}, nil)
	for _, err := range []error{agent.Ready(context.Background(), "script/x"), runErr} {
		require.Equal(t, ports.Unavailable, ports.KindOf(err), "%v", err)
		require.ErrorContains(t, err, "--script FILE")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"-- dev --\nwrite a b\nusage 1 2\ncall x {\"a\":1} # c\nreport []\n-- b --\nx\n",
		"c\r\n-- n/dev#2 --\r\nsleep 1s\r\nfail denied no\r\ncrash\r\nstop limit\r\nrm x\r\nappend y z\r\n",
		"\ufeff-- a.b --\nsay #\nactivity x\nexec true",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		agent, err := script.Parse("s", data)
		if (agent == nil) == (err == nil) {
			t.Fatalf("agent %v, error %v", agent, err)
		}
		if err != nil && (ports.KindOf(err) != ports.Invalid || !strings.HasPrefix(err.Error(), "s:")) {
			t.Errorf("error without its kind or its place: %v", err)
		}
	})
}
