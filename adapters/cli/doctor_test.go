package cli_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/cli"
	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// plain is a third party's agent that cannot be examined.
type plain struct {
	ports.Agent
	ready error
}

func (p plain) Ready(context.Context, ports.Model) error { return p.ready }

func (plain) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{Enforce: []ports.Restriction{ports.NoShell}}, nil
}

// examined is one that can.
type examined struct {
	plain
	found ports.Examination
}

func (e examined) Examine(context.Context) ports.Examination { return e.found }

// doctor calls doctor of a program with the agents of third parties, none of
// which is a vendor's.
func doctor(t *testing.T, agents map[string]ports.Agent, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	repo := gittest.New(t, map[string]string{"file": "text\n"})
	var out, errs strings.Builder
	p := cli.Program{Name: "shipit", Agents: agents}
	code = p.Run(t.Context(), append([]string{"doctor", "--repo", repo.Dir, "--home", filepath.Join(t.TempDir(), "agl")}, args...),
		strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

var third = map[string]ports.Agent{
	"hostile": examined{found: ports.Examination{
		Program: "/opt/\x1b[2Jhostile", Version: "1.0\u202e", Supported: "1.0",
		Findings: []ports.Finding{
			{Name: "program\x1b[31m", State: ports.FoundOK, Detail: "/opt/\x1b[2Jhostile"},
			{Name: "version", State: ports.FoundWarning, Detail: strings.Repeat("many\nwords \x07", 12), Fix: "install\u200b another"},
			{Name: "a very long name of what was found", State: ports.FoundProblem, Detail: "gone"},
		},
	}},
	"plain":  plain{},
	"picky":  plain{ready: ports.Invalid.Errorf("", "name a model")},
	"absent": examined{found: ports.Examination{Findings: []ports.Finding{{Name: "program", State: ports.FoundAbsent, Detail: "none"}}}},
	"down":   plain{ready: ports.Unavailable.Errorf("", "the service is down")},
}

var varies = regexp.MustCompile(`(?m)^(git|repository|checkouts|build|records|terminal) .*\n( +\S.*\n)*`)

func TestTheTableOfDoctorFitsATerminalAndHidesNothing(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := doctor(t, third, "hostile", "plain", "picky")
	require.Equal(t, 6, code)
	require.Equal(t, "shipit: not all is well: hostile a very long name of what was found\n", stderr)
	want := `
hostile
  program?…   ok       /opt/?[2Jhostile
  version     warning  many words ?many words ?many words ?many words ?many
                       words ?many words ?many words ?many words ?many words
                       ?many words ?many words ?many words ?
                       fix: install? another
  a very lon… problem  gone
  enforces             no-shell; not no-write, no-network, no-vcs; and has no
                       tools

picky
  ready       warning  it can be told for a model alone: name a model
  enforces             no-shell; not no-write, no-network, no-vcs; and has no
                       tools

plain
  ready       ok
  enforces             no-shell; not no-write, no-network, no-vcs; and has no
                       tools
`
	if diff := cmp.Diff(strings.ReplaceAll(want, "?", "\ufffd"), varies.ReplaceAllString(stdout, "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text := range strings.Lines(stdout) {
		if n := utf8.RuneCountInString(text) - 1; n > 80 && !strings.Contains(text, "/") { // a path is whole
			t.Errorf("%d columns: %s", n, text)
		}
	}
}

func TestDoctorFailsForWhatIsAProblem(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"plain":          {},
		"picky":          {}, // a role names its model
		"absent":         {6, "absent program"},
		"plain down":     {6, "down ready"},
		"absent hostile": {6, "absent program; hostile a very"},
		"nobody":         {3, `no agent "nobody"`},
	} {
		code, _, stderr := doctor(t, third, strings.Fields(args)...)
		require.Equal(t, want.code, code, args)
		require.Contains(t, stderr, want.says, args)
	}
}

func TestTheJSONOfDoctor(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := doctor(t, third, "--json", "hostile", "plain")
	require.Equal(t, 6, code)
	require.Equal(t, `{"error":{"kind":"unavailable","message":"not all is well: hostile a very long name of what was found"}}`+"\n", stderr)
	var answer map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(stdout), &answer))
	require.Equal(t, "false", string(answer["ok"]))
	want := `[{"name":"hostile","usable":false,"program":"/opt/\u001b[2Jhostile","version":"1.0\u202e","supported":"1.0","tools":false,"enforces":["no-shell"],"findings":[` +
		`{"name":"program\u001b[31m","state":"ok","detail":"/opt/\u001b[2Jhostile","fix":""},` +
		`{"name":"version","state":"warning","detail":"` + strings.Repeat(`many\nwords \u0007`, 12) + `","fix":"install\u200b another"},` +
		`{"name":"a very long name of what was found","state":"problem","detail":"gone","fix":""}]},` +
		`{"name":"plain","usable":true,"program":"","version":"","supported":"","tools":false,"enforces":["no-shell"],"findings":[{"name":"ready","state":"ok","detail":"","fix":""}]}]`
	if diff := cmp.Diff(want, string(answer["agents"])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var machine []struct{ Name, State string }
	require.NoError(t, json.Unmarshal(answer["machine"], &machine))
	names := make([]string, len(machine))
	for i, f := range machine {
		names[i] = f.Name
	}
	require.Equal(t, []string{"git", "repository", "checkouts", "build", "records", "terminal"}, names)
}
