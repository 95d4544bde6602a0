package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/local"
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
				Before: a, Head: b, Model: "claude/opus", Usage: agl.Usage{Input: 1840, Output: 412, Complete: true}, Started: at(1), Ended: at(3.25),
			},
			{
				Seq: 3, Kind: agl.KindStep, Namespace: "parser", Name: "reviewer",
				Failure: &agl.Failure{Kind: agl.Unavailable, Message: "the limit\nis reached"},
				Before:  b, Head: b, Model: "codex/gpt", Started: at(3.25), Ended: at(90.3),
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

ROLE         MODEL        STEPS  INPUT  CACHED  OUTPUT  REASONING  COST
implementer  claude/opus  1      1,840  0       412     0          -
reviewer     codex/gpt    1      ≥0     ≥0      ≥0      ≥0         -

at least 2,252 tokens in all
`
	status := agl.Status{Usage: agl.Usage{Input: 2252}}
	if diff := cmp.Diff(want, journalText(j, status, begun, false)); diff != "" {
		t.Errorf("show (-want +got):\n%s", diff)
	}
	require.Contains(t, journalText(j, status, begun, true), "\x1b[31mfailed\x1b[0m")
}

func TestShowTellsWhatWasGivenUpAndWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	j := journal()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	status := agl.Status{
		Usage: agl.Usage{Input: 3000, Output: 512, Cost: 0.25},
		Namespaces: []agl.NamespaceStatus{
			{Namespace: ports.Base, Verb: agl.KindVerdict, Name: "verify", Since: since},
			{Namespace: "lexer"},
			{Namespace: "parser", Verb: agl.KindStep, Name: "builder", Since: since, Session: "3b0b-\x1b1"},
		},
	}
	text := journalText(j, status, since.Add(90*time.Second), false)
	require.Contains(t, text, "\nunder way   verdict verify, since 2026-01-02 03:04:05 (1m30s)\n\nWORKTREE")
	require.Contains(t, text, "\nthe agent of parser is in session 3b0b-\ufffd1\n")
	status.Namespaces[0].Session = "77aa"
	require.Contains(t, journalText(j, status, since, false), "\nsession     77aa\n")
	require.True(t, strings.HasSuffix(text, "\n2,252 tokens; 1,260 more in records given up or landings under way, $0.25\n"), text)
	j.Records = nil
	require.True(t, strings.HasSuffix(journalText(j, status, since, false), "\n\n0 tokens; 3,512 more in records given up or landings under way, $0.25\n"))
}

// nested is a run that has a worktree of each sort, told of in any order.
func nested(since time.Time) (agl.Journal, agl.Status) {
	j := journal()
	landed := &agl.Landing{Into: ports.Base, Before: strings.Repeat("b", 40), After: strings.Repeat("d", 40), Child: strings.Repeat("c", 40)}
	given := *landed
	given.After = given.Before
	inner := given
	inner.Into = "lexer"
	j.Records = []agl.Record{
		{Seq: 5, Kind: agl.KindLanding, Namespace: "lexer", Name: "lexer", Landing: landed, Started: since, Ended: since},
		{Seq: 7, Kind: agl.KindLanding, Namespace: "printer", Name: "printer", Landing: &given, Started: since, Ended: since},
		{
			Seq: 8, Kind: agl.KindLanding, Namespace: "parser", Name: "parser", Landing: &given, Started: since, Ended: since,
			Failure: &agl.Failure{Kind: agl.Conflicted, Message: "conflicts", Conflict: &agl.ConflictError{Verdict: &agl.Verdict{
				Output: "ok a\n\tFAIL \x1b[31mb\n\n", Command: "make", Note: "exit status 2", Took: time.Second,
			}}},
		},
		{Seq: 9, Kind: agl.KindLanding, Namespace: "tokens", Name: "tokens", Landing: &inner, Started: since, Ended: since},
		{Seq: 10, Kind: agl.KindStep, Namespace: "tokens", Name: "builder", Started: since, Ended: since},
		{Seq: 11, Kind: agl.KindStep, Namespace: "tokens", Name: "builder", Started: since, Ended: since},
	}
	return j, agl.Status{Run: j.Run, Namespaces: []agl.NamespaceStatus{
		{Namespace: "tokens", Parent: "lexer", Verb: agl.KindStep, Name: "builder", Since: since, Records: 2, Usage: agl.Usage{Input: 1000, Output: 234}},
		{Namespace: "printer", Parent: ports.Base, Records: 1},
		{Namespace: ports.Base, Waiting: "wide"},
		{Namespace: "lexer", Parent: ports.Base, Records: 3, Waiting: ports.Base},
		{Namespace: "parser", Parent: ports.Base, Records: 1},
		{Namespace: "deep", Parent: "tokens"},
		{Namespace: "wide", Parent: ports.Base, Verb: agl.KindLanding, Name: "wide", Since: since},
	}}
}

func TestShowHasATreeOfWorktrees(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	j, status := nested(since)
	_, text, _ := strings.Cut(journalText(j, status, since.Add(90*time.Second), false), "over\uFFFD[2J limit\n")
	want := `under way   waits for wide

WORKTREE  RECORDS  TOKENS  LANDED       NOW
lexer     3        0       dddddddddd   waits for the run's own branch
  tokens  2        1,234   nothing new  step builder (1m30s)
    deep  0        0       -            -
parser    1        0       no           -
printer   1        0       nothing new  -
wide      0        0       -            lands (1m30s)
their branches are agl/_work/issue-12/WORKTREE

SEQ  KIND     ROLE               OUTCOME     TIME  TOKENS  COMMIT
5    landing  lexer              ok          0s    -       dddddddddd
7    landing  printer            ok          0s    -       -
8    landing  parser             conflicted  0s    -       -
9    landing  tokens in lexer    ok          0s    -       -
10   step     tokens/builder     ok          0s    -       -
11   step     tokens/builder #2  ok          0s    -       -

8 failed: conflicts
    ok a
    FAIL ` + "\uFFFD" + `[31mb

0 tokens in all
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("show (-want +got):\n%s", diff)
	}
}

func TestTheJSONOfWorktreesAndLandingsIsStable(t *testing.T) {
	t.Parallel()
	j, status := nested(begun)
	status.Namespaces = status.Namespaces[:4] // and lexer's own parent among them
	b, c, d := strings.Repeat("b", 40), strings.Repeat("c", 40), strings.Repeat("d", 40)
	got, err := encode(namespacesJSON(status))
	require.NoError(t, err)
	const none = `"usage":{"input":0,"output":0,"cached":0,"reasoning":0,"cost":0,"complete":false},"verb":"","name":""`
	want := `[{"namespace":"_base","parent":"","records":0,` + none + `,"waiting":"wide","asking":[]},` +
		`{"namespace":"lexer","parent":"_base","records":3,` + none + `,"waiting":"_base","asking":[]},` +
		`{"namespace":"tokens","parent":"lexer","records":2,"usage":{"input":1000,"output":234,"cached":0,"reasoning":0,"cost":0,"complete":false},"verb":"step","name":"builder","waiting":"","asking":[]},` +
		`{"namespace":"printer","parent":"_base","records":1,` + none + `,"waiting":"","asking":[]}]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
	got, err = encode(recordJSON(&j.Records[0]))
	require.NoError(t, err)
	require.Contains(t, got, `"ended":"2026-01-02T03:04:05Z","landing":{"into":"_base","before":"`+b+`","after":"`+d+`","child":"`+c+`"}}`)
	got, err = encode(recordJSON(&j.Records[2]))
	require.NoError(t, err)
	require.Contains(t, got, `"child":"`+c+`","verdict":{"passed":false,"output":"ok a\n\tFAIL \u001b[31mb\n\n","tree":"","command":"make","note":"exit status 2","took":"1s"}}}`)
}

// A program outside this repository reads this: docs/json.md.
func TestTheJSONOfShowIsStable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := &session{stdout: &out}
	j := journal()
	answer := showAnswer{Run: runJSON(j.Run), Usage: usageJSON(j.Records)}
	for i := range j.Records {
		answer.Records = append(answer.Records, recordJSON(&j.Records[i]))
	}
	require.NoError(t, s.answer(answer))
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	want := `{"run":{"label":"issue-12","workflow":"fix","version":1,"branch":"agl/issue-12","base":"` + a + `",` +
		`"created":"2026-01-02T03:04:05Z","state":"failed","error":"over\u001b[2J\nlimit"},"records":[` +
		`{"seq":1,"kind":"step","namespace":"_base","name":"implementer","value":{"summary":"a <b>"},"head":"` + b + `",` +
		`"usage":{"input":1840,"output":412,"cached":0,"reasoning":0,"cost":0,"complete":true},"started":"2026-01-02T03:04:06Z","ended":"2026-01-02T03:04:08.25Z"},` +
		`{"seq":3,"kind":"step","namespace":"parser","name":"reviewer","value":null,` +
		`"failure":{"kind":"unavailable","message":"the limit\nis reached"},"head":"` + b + `",` +
		`"usage":{"input":0,"output":0,"cached":0,"reasoning":0,"cost":0,"complete":false},"started":"2026-01-02T03:04:08.25Z","ended":"2026-01-02T03:05:35.3Z"}],"namespaces":[],"replies":[],` +
		`"usage":{"total":{"input":1840,"output":412,"cached":0,"reasoning":0,"cost":0,"complete":false},"roles":[` +
		`{"name":"implementer","steps":1,"usage":{"input":1840,"output":412,"cached":0,"reasoning":0,"cost":0,"complete":true}},` +
		`{"name":"reviewer","steps":1,"usage":{"input":0,"output":0,"cached":0,"reasoning":0,"cost":0,"complete":false}}],"models":[` +
		`{"name":"claude/opus","steps":1,"usage":{"input":1840,"output":412,"cached":0,"reasoning":0,"cost":0,"complete":true}},` +
		`{"name":"codex/gpt","steps":1,"usage":{"input":0,"output":0,"cached":0,"reasoning":0,"cost":0,"complete":false}}]}}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("show --json (-want +got):\n%s", diff)
	}
}

func TestTheJSONOfTheOtherAnswersIsStable(t *testing.T) {
	t.Parallel()
	salvage := ports.Salvage{
		N: 1, Namespace: ports.Base, Ref: "refs/agl/salvage/issue-12/_base/1", Commit: "c", Reason: "the step <failed>", Paths: 3, Made: begun,
	}
	all := salvage
	all.Nested, all.Index, all.Commits, all.Notes = []string{"/moved"}, "i", []string{"s"}, []string{"a socket"}
	const short = `{"n":1,"namespace":"_base","ref":"refs/agl/salvage/issue-12/_base/1","commit":"c","reason":"the step <failed>","paths":3`
	const cost = `{"input":1,"output":2,"cached":3,"reasoning":4,"cost":0.5,"complete":true}`
	const record = `{"seq":2,"kind":"step","namespace":"_base","name":"reviewer"}`
	was := ports.PlanRecord{Seq: 2, Kind: agl.KindStep, Namespace: ports.Base, Name: "reviewer"}
	for _, tc := range []struct {
		answer any
		want   string
	}{
		{[]runObject(nil), `[]`},
		{[]ports.Salvage(nil), `[]`},
		{[]ports.Salvage{salvage, all}, `[` + short + `,"made":"2026-01-02T03:04:05Z"},` +
			short + `,"nested":["/moved"],"index":"i","commits":["s"],"notes":["a socket"],"made":"2026-01-02T03:04:05Z"}]`},
		{agl.Cleared{Label: "issue-12"}, `{"label":"issue-12","branches":[],"worktrees":[],"salvage":[],"tips":[]}`},
		{
			agl.Cleared{Label: "issue-12", Branches: []string{"agl/issue-12"}, Tips: []ports.Tip{{Branch: "agl/issue-12", Commit: "b"}}},
			`{"label":"issue-12","branches":["agl/issue-12"],"worktrees":[],"salvage":[],"tips":[{"branch":"agl/issue-12","commit":"b"}]}`,
		},
		{
			agl.Plan{Label: "issue-12", Namespaces: []agl.NamespacePlan{
				{
					Namespace: ports.Base, Hits: 1,
					Miss: &ports.Miss{
						Kind: agl.KindStep, Name: "reviewer", Ordinal: 1, Instead: &was,
						Changes: []ports.TermChange{{Term: "prompt", Was: "a", Now: "b"}},
					},
					Unreached: []ports.PlanRecord{was},
					Cost:      agl.Usage{Input: 1, Output: 2, Cached: 3, Reasoning: 4, Cost: 0.5, Complete: true},
				},
				{Namespace: "parser", Parent: ports.Base},
			}, Error: "it failed"},
			`{"label":"issue-12","namespaces":[{"namespace":"_base","parent":"","hits":1,"miss":{"kind":"step","name":"reviewer","ordinal":1,"instead":` + record +
				`,"changes":[{"term":"prompt","was":"a","now":"b"}]},"unreached":[` + record + `],"cost":` + cost + `},` +
				`{"namespace":"parser","parent":"_base","hits":0,"miss":null,"unreached":[],"cost":{"input":0,"output":0,"cached":0,"reasoning":0,"cost":0,"complete":false}}],` +
				`"retries":[],"partial":false,"error":"it failed","refused":""}`,
		},
		{workflowObject{Name: "fix", Version: 1}, `{"name":"fix","version":1,"doc":"","disabled":""}`},
		{errorAnswer{errorObject{Kind: agl.NotFound, Message: "a\nb"}}, `{"error":{"kind":"not found","message":"a\nb"}}`},
	} {
		got, err := encode(tc.answer)
		require.NoError(t, err)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", tc.answer, diff)
		}
	}
}

func TestASalvageIsShownWithAllThatItKept(t *testing.T) {
	t.Parallel()
	text := salvageText(ports.Salvage{
		N: 2, Namespace: "parser", Ref: "refs/x", Commit: "c", Reason: "why\nnot", Paths: 3, Made: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local),
		Nested: []string{"/a", "/b"}, Index: "i", Commits: []string{"s"}, Notes: []string{"a socket"},
	})
	want := `salvage   2
worktree  parser
made      2026-01-02 03:04:05
why       why not
paths     3
ref       refs/x
commit    c
staged    i
commits   s
moved to  /a
          /b
not kept  a socket
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("salvage (-want +got):\n%s", diff)
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
	const diverges = `_base: 1 recorded, then step reviewer (#1): prompt changed from "two\n" to "three", 1 not reached (first step reviewer, record 2)`
	want := diverges + `
this diverges, with 1,234 tokens at stake: shipit resume issue-12 is refused; with --rebuy it gives up what is not reached and goes on
`
	if diff := cmp.Diff(want, planText(plan, "shipit")); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	require.Equal(t, diverges+"; 1,234 tokens at stake", divergence(plan))
}

func TestAPlanHasATreeOfWorktrees(t *testing.T) {
	t.Parallel()
	landing := &ports.Miss{Kind: agl.KindLanding, Name: "tokens", Ordinal: 1}
	plan := agl.Plan{Namespaces: []agl.NamespacePlan{
		{Namespace: ports.Base, Hits: 1},
		{Namespace: "lexer", Parent: ports.Base},
		{Namespace: "parser", Parent: ports.Base, Hits: 2},
		{Namespace: "tokens", Parent: "lexer", Hits: 3, Miss: landing},
	}, Refused: "no\nbuild"}
	want := `_base: 1 recorded
  lexer: 0 recorded
    tokens: 3 recorded, then landing tokens (#1) is new
  parser: 2 recorded
in a landing that meets a conflict, or does not build, its resolver may buy agents
a resume is refused: no build
`
	require.Equal(t, want, planText(plan, "shipit"))
	failed := ports.PlanRecord{Seq: 9, Kind: agl.KindLanding, Namespace: "tokens", Name: "tokens"}
	plan = agl.Plan{Retries: []ports.PlanRecord{failed}}
	require.Contains(t, planText(plan, "shipit"), "record 9\nin a landing that")
}

func TestAPlanSaysHowTheWorkflowEnds(t *testing.T) {
	t.Parallel()
	miss := &ports.Miss{Kind: agl.KindStep, Name: "reviewer", Ordinal: 2}
	failed := ports.PlanRecord{Seq: 2, Kind: agl.KindStep, Namespace: ports.Base, Name: "reviewer"}
	for name, tc := range map[string]struct {
		plan agl.Plan
		want string // after the namespace's line
	}{
		"well":             {agl.Plan{}, "and then it ends well\n"},
		"in an error":      {agl.Plan{Error: "2 findings\nleft"}, "and then it ends: 2 findings left\n"},
		"with a miss":      {agl.Plan{Namespaces: []agl.NamespacePlan{{Miss: miss}}}, ""},
		"in what is tried": {agl.Plan{Error: "no", Retries: []ports.PlanRecord{failed}}, "_base: tries again what failed, step reviewer, record 2\n"},
		"after a swallowed error": {
			agl.Plan{Partial: true, Namespaces: []agl.NamespacePlan{{Miss: miss}}},
			"the workflow went on after a verb that was not run: what follows is not known\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.plan.Namespaces == nil {
				tc.plan.Namespaces = []agl.NamespacePlan{{}}
			}
			tc.plan.Namespaces[0].Namespace = ports.Base
			_, rest, _ := strings.Cut(planText(tc.plan, "shipit"), "\n")
			require.Equal(t, tc.want, rest)
		})
	}
}

func TestEveryErrorOfAJoinHasALine(t *testing.T) {
	t.Parallel()
	limit := &agl.LimitError{Message: "wait\nan hour"}
	for _, tc := range []struct {
		err            error
		json           bool
		stdout, stderr string
	}{
		{errors.Join(limit, agl.Unavailable.Errorf("open", "no\x1b[31m disk")), false, "", "shipit: wait an hour\nshipit: open: no\uFFFD[31m disk\n"},
		{fmt.Errorf("build: %w", limit), false, "", "shipit: build: wait an hour\n"},
		{errors.Join(agl.Stopf("one"), agl.Stopf("two")), false, "stopped: one\nstopped: two\n", ""},
		{agl.Stopf("one"), true, "", `{"error":{"kind":"stopped","message":"one"}}` + "\n"},
		{
			(&session{program: Program{Name: "shipit"}}).unlanded("x", errors.Join(&agl.ConflictError{Child: "a", Verdict: &agl.Verdict{Command: "make"}}, limit, &agl.ConflictError{Child: "b", Paths: []agl.ConflictPath{{Path: "x"}}})), false, "",
			"shipit: a was not landed: the build gate failed (make)\nshipit: wait an hour\nshipit: b was not landed: conflicts in x\n" +
				"shipit: shipit resume x tries again what was not landed; or merge it yourself, in your own checkout: git merge agl/x, then git merge agl/_work/x/a (and 1 more)\n",
		},
		{agl.Unavailable.Errorf("ask", "%s", strings.Repeat("x", 1<<20)), false, "", "shipit: ask: " + strings.Repeat("x", errorLimit-len("ask: ")) + "…\n"},
		{agl.Stopf("%s", strings.Repeat("x", 1<<20)), false, "stopped: " + strings.Repeat("x", errorLimit) + "…\n", ""},
		{errors.New("a fault"), true, "", `{"error":{"kind":"internal","message":"a fault"}}` + "\n"},
		{fmt.Errorf("run x was stopped: %w", context.Canceled), true, "", `{"error":{"kind":"cancelled","message":"run x was stopped: context canceled"}}` + "\n"},
	} {
		var stdout, stderr strings.Builder
		s := &session{program: Program{Name: "shipit"}, stdout: &stdout, stderr: &stderr}
		s.globals.JSON = tc.json
		s.report(tc.err)
		require.Equal(t, tc.stdout, stdout.String())
		require.Equal(t, tc.stderr, stderr.String())
	}
}

func TestJSONHoldsNothingThatMovesAScreen(t *testing.T) {
	t.Parallel()
	text := "a\x1b\x7f\u0080\u009f\u00ad\u200b\u202e\ufeff\U000e0041 <é世👋> b"
	raw, err := json.Marshal(text)
	require.NoError(t, err)
	got, err := encode(recordObject{Name: text, Value: raw})
	require.NoError(t, err)
	want := `"a\u001b\u007f\u0080\u009f\u00ad\u200b\u202e\ufeff\udb40\udc41 <é世👋> b"`
	require.Contains(t, got, `"name":`+want)
	var back recordObject
	require.NoError(t, json.Unmarshal([]byte(got), &back))
	require.Equal(t, text, back.Name)
	require.NotContains(t, string(back.Value), "\u202e")
}

func TestNumbersHaveTheirThousandsApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		require.Equal(t, want, count(n))
	}
	require.Equal(t, "1 token", tokens(agl.Usage{Input: 1}))
	require.Equal(t, "1,000 tokens, $0.50", tokens(agl.Usage{Output: 1000, Cost: 0.5}))
}

// F2: nothing that a terminal obeys is written to it, as JSON neither.
func TestJSONHasNoControlCharacter(t *testing.T) {
	t.Parallel()
	const text = "\x00\x1b[2J\x7f \u009b2J \u202e \u2066 日本語 e\u0301"
	got, err := encode(questionObject{Text: text})
	require.NoError(t, err)
	require.Contains(t, got, "\\u007f \\u009b2J \\u202e \\u2066 日本語 e\u0301")
	var back questionObject
	require.NoError(t, json.Unmarshal([]byte(got), &back))
	require.Equal(t, text, back.Text)
}

func TestTheTableOfDoctorIsColouredOnlyIfAsked(t *testing.T) {
	t.Parallel()
	d := local.Diagnosis{Machine: []ports.Finding{
		{Name: "git", State: ports.FoundOK, Detail: "2.39.5"},
		{Name: "build", State: ports.FoundWarning, Detail: "none"},
		{Name: "records", State: ports.FoundProblem, Detail: "full"},
		{Name: "other", State: ports.FoundAbsent},
	}}
	plain := doctorText(d, false)
	want := "git           ok       2.39.5\nbuild         warning  none\nrecords       problem  full\nother         absent\n"
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	coloured := doctorText(d, true)
	want = strings.NewReplacer("ok", "\x1b[32mok\x1b[0m", "warning", "\x1b[33mwarning\x1b[0m", "problem", "\x1b[31mproblem\x1b[0m").Replace(plain)
	if diff := cmp.Diff(want, coloured); diff != "" {
		t.Errorf("coloured (-want +got):\n%s", diff)
	}
}
