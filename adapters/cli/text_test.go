package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

var begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func journal() agl.Journal {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	at := func(seconds float64) time.Time { return begun.Add(time.Duration(seconds * float64(time.Second))) }
	return agl.Journal{
		Run: agl.RunInfo{
			Label: "issue-12", Workflow: "fix", Version: 1, Branch: "agl/issue-12", Base: a, Head: b,
			Params: json.RawMessage(`{"Request":"say \u001b[31m<b>"}`), Created: begun, Ended: at(90),
			State: agl.StateFailed, Error: "over\x1b[2J\nlimit",
		},
		Records: []agl.Record{
			{
				Seq: 1, Kind: agl.KindStep, Namespace: ports.Base, Name: "implementer", Value: json.RawMessage(`{"summary":"a <b>"}`),
				Before: a, Head: b, Usage: agl.Usage{Input: 1840, Output: 412, Complete: true}, Started: at(1), Ended: at(3.25),
			},
			{
				Seq: 3, Kind: agl.KindStep, Namespace: "parser", Name: "reviewer",
				Failure: &agl.Failure{Kind: agl.Unavailable, Message: "the limit\nis reached"},
				Before:  b, Head: b, Started: at(3.25), Ended: at(90.3),
			},
		},
	}
}

func TestShowPrintsTheStepsInOrder(t *testing.T) {
	t.Parallel()
	j := journal()
	j.Run.Created = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	want := `run         issue-12
workflow    fix, version 1
parameters  {"Request":"say \u001b[31m<b>"}
branch      agl/issue-12 at bbbbbbbbbb, from aaaaaaaaaa
begun       2026-01-02 03:04:05
state       failed
error       over` + "\uFFFD" + `[2J limit

SEQ  KIND  ROLE             OUTCOME      TIME   TOKENS  COMMIT
1    step  implementer      ok           2.3s   2,252   bbbbbbbbbb
3    step  parser/reviewer  unavailable  1m27s  -       -

3 failed: the limit is reached

2,252 tokens in all
`
	if diff := cmp.Diff(want, journalText(j, false)); diff != "" {
		t.Errorf("show (-want +got):\n%s", diff)
	}
	require.Contains(t, journalText(j, true), "\x1b[31mfailed\x1b[0m")
}

// A program outside this repository reads this: docs/json.md.
func TestTheJSONOfShowIsStable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := &session{stdout: &out}
	j := journal()
	answer := showAnswer{Run: runJSON(j.Run)}
	for i := range j.Records {
		answer.Records = append(answer.Records, recordJSON(&j.Records[i]))
	}
	require.NoError(t, s.answer(answer))
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	want := `{"run":{"label":"issue-12","workflow":"fix","version":1,"branch":"agl/issue-12","base":"` + a + `",` +
		`"created":"2026-01-02T03:04:05Z","state":"failed","error":"over\u001b[2J\nlimit"},"records":[` +
		`{"seq":1,"kind":"step","namespace":"_base","name":"implementer","value":{"summary":"a <b>"},"head":"` + b + `",` +
		`"usage":{"input":1840,"output":412},"started":"2026-01-02T03:04:06Z","ended":"2026-01-02T03:04:08.25Z"},` +
		`{"seq":3,"kind":"step","namespace":"parser","name":"reviewer","value":null,` +
		`"failure":{"kind":"unavailable","message":"the limit\nis reached"},"head":"` + b + `",` +
		`"usage":{"input":0,"output":0},"started":"2026-01-02T03:04:08.25Z","ended":"2026-01-02T03:05:35.3Z"}]}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("show --json (-want +got):\n%s", diff)
	}
}

func TestAPlanSaysWhatDivergesAndWhatToDo(t *testing.T) {
	t.Parallel()
	was := ports.PlanRecord{Seq: 2, Kind: agl.KindStep, Namespace: ports.Base, Name: "reviewer"}
	plan := agl.Plan{Label: "issue-12", Namespaces: []agl.NamespacePlan{{
		Namespace: ports.Base, Hits: 1,
		Miss:      &ports.Miss{Kind: agl.KindStep, Name: "reviewer", Ordinal: 1, Instead: &was, Changes: []ports.TermChange{{Term: "prompt", Was: "two\n", Now: "three"}}},
		Unreached: []ports.PlanRecord{was}, Cost: agl.Usage{Input: 1000, Output: 234},
	}}}
	want := `_base: 1 recorded, then step reviewer (#1): prompt changed from "two\n" to "three", 1 not reached (first step reviewer, record 2)
diverges: _base: 1 recorded, then step reviewer (#1): prompt changed from "two\n" to "three", 1 not reached (first step reviewer, record 2); 1234 tokens at stake
shipit resume issue-12 is refused; with --rebuy it gives up what is not reached and goes on
`
	if diff := cmp.Diff(want, planText(plan, "shipit")); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestProgressIsPlainLinesWhateverAnAgentWrites(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newProgress(&out)
	at := begun
	tell := func(namespace string, after time.Duration, what ports.Happening) {
		at = at.Add(after)
		p.event(agl.Event{Run: "issue-12", Namespace: namespace, Time: at, What: what})
	}
	tell("", 0, ports.RunBegan{Info: agl.RunInfo{Label: "issue-12", Workflow: "fix", Branch: "agl/issue-12"}})
	tell(ports.Base, 0, ports.Hit{Record: ports.PlanRecord{Name: "planner"}})
	tell(ports.Base, 0, ports.Began{Kind: agl.KindStep, Name: "implementer", Ordinal: 2, Model: "claude/opus"})
	tell(ports.Base, 1500*time.Millisecond, ports.Activity{Text: "runs \x1b[31mrm\r\n-rf\u202e " + strings.Repeat("x", 300)})
	tell("parser", 0, ports.Began{Kind: agl.KindStep, Name: "builder", Ordinal: 1})
	tell(ports.Base, time.Second, ports.WasSalvaged{Salvage: ports.Salvage{N: 1, Paths: 3, Reason: "the step failed"}})
	tell(ports.Base, 0, ports.Ended{Record: agl.Record{
		Before: "a", Head: "bbbbbbbbbbbbbb", Usage: agl.Usage{Input: 12000, Output: 345, Cost: 0.5},
	}})
	tell("parser", time.Minute, ports.Ended{Record: agl.Record{Failure: &agl.Failure{Message: "no\nway"}}})
	tell(ports.Base, 0, ports.Gated{Verdict: agl.Verdict{Note: "it took too long"}})
	tell("", 0, ports.Noted{Text: "a note"})

	lines := strings.Split(out.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	want := []string{
		"fix begins run issue-12 (branch agl/issue-12)",
		"planner recorded already",
		"implementer #2 0s begins with claude/opus",
		"implementer #2 1.5s runs \uFFFD[31mrm -rf\uFFFD " + strings.Repeat("x", 178) + "…",
		"parser/builder 0s begins",
		"implementer #2 2.5s kept 3 changed paths as salvage 1: the step failed",
		"implementer #2 2.5s done, 12,345 tokens, $0.50, commit bbbbbbbbbb",
		"parser/builder 1m1s failed: no way",
		"issue-12 the build gate failed: it took too long",
		"issue-12 a note",
		"",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestNumbersHaveTheirThousandsApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		require.Equal(t, want, count(n))
	}
}
