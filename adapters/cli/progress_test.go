package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

// told returns the lines that were written, with one blank between columns.
func told(out *strings.Builder) []string {
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return lines
}

// tell tells of a run with everything that is written about in it.
func tell(p *progress) {
	at := begun
	tell := func(namespace string, after time.Duration, what ports.Happening) {
		at = at.Add(after)
		p.event(agl.Event{Run: "issue-12", Namespace: namespace, Time: at, What: what})
	}
	tell("", 0, ports.RunBegan{Info: agl.RunInfo{Label: "issue-12", Workflow: "fix", Branch: "agl/issue-12"}})
	tell(ports.Base, 0, ports.Hit{Record: ports.PlanRecord{Name: "implementer"}, Ordinal: 1})
	tell(ports.Base, 0, ports.Hit{Record: ports.PlanRecord{Name: "implementer"}, Ordinal: 2, Failed: true})
	tell(ports.Base, 0, ports.Began{Kind: agl.KindStep, Name: "implementer", Ordinal: 3, Model: "claude/opus"})
	tell(ports.Base, 1500*time.Millisecond, ports.Activity{Text: "runs \x1b[31mrm\r\n-rf\u202e " + strings.Repeat("x", 300)})
	tell("parser", 0, ports.Began{Kind: agl.KindStep, Name: "builder", Ordinal: 1})
	tell(ports.Base, time.Second, ports.WasSalvaged{Salvage: ports.Salvage{N: 1, Paths: 1, Reason: "the step failed"}})
	tell(ports.Base, 0, ports.Ended{Record: agl.Record{
		Kind: agl.KindStep, Name: "implementer", Before: "a", Head: "bbbbbbbbbbbbbb", Usage: agl.Usage{Input: 12000, Output: 345, Cost: 0.5},
	}})
	tell("parser", time.Minute, ports.Ended{Record: agl.Record{Kind: agl.KindStep, Name: "builder", Failure: &agl.Failure{Message: "no\nway"}}})
	tell(ports.Base, 0, ports.Gated{Verdict: agl.Verdict{Note: "it took too long"}})
	tell("", 0, ports.Noted{Text: "a note"})
	tell("parser", 0, ports.Ended{Record: agl.Record{Kind: agl.KindStep, Namespace: "parser", Name: "mender", Failure: &agl.Failure{Message: "too dear"}}})
}

func TestProgressIsPlainLinesWhateverAnAgentWrites(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newProgress(&out, everything)
	tell(p)
	want := []string{
		"fix begins run issue-12 (branch agl/issue-12)",
		"implementer recorded already",
		"implementer #2 recorded already, as failed",
		"implementer #3 0s begins with claude/opus",
		"implementer #3 1.5s runs \uFFFD[31mrm -rf\uFFFD " + strings.Repeat("x", 178) + "…",
		"parser/builder 0s begins",
		"implementer #3 2.5s kept 1 changed path as salvage 1: the step failed",
		"implementer #3 2.5s done, 12,345 tokens, $0.50, commit bbbbbbbbbb",
		"parser/builder 1m1s failed: no way",
		"issue-12 the build gate failed: it took too long",
		"issue-12 a note",
		"parser/mender failed: too dear",
	}
	if diff := cmp.Diff(want, told(&out)); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	require.True(t, p.begun)
}

func TestWithoutProgressWarningsAreStillTold(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newProgress(&out, warnings)
	tell(p)
	p.tick(begun.Add(time.Hour))
	want := []string{
		"implementer #3 2.5s kept 1 changed path as salvage 1: the step failed",
		"issue-12 a note",
	}
	if diff := cmp.Diff(want, told(&out)); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}

	out.Reset()
	p = newProgress(&out, nothing)
	tell(p)
	require.Empty(t, out.String())
	require.True(t, p.begun)
}

func TestAnAgentThatSaysNothingIsSeenToRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := newProgress(&out, everything)
		stop := p.keepTime()
		tell := func(namespace string, what ports.Happening) {
			p.event(agl.Event{Run: "issue-12", Namespace: namespace, Time: time.Now(), What: what})
		}
		tell(ports.Base, ports.Began{Kind: agl.KindStep, Name: "implementer", Ordinal: 1})
		tell("parser", ports.Began{Kind: agl.KindStep, Name: "builder", Ordinal: 2})
		time.Sleep(20*time.Second + time.Millisecond)
		tell("parser", ports.Activity{Text: "thinks"})
		time.Sleep(70 * time.Second)
		tell(ports.Base, ports.Ended{Record: agl.Record{Kind: agl.KindStep, Name: "implementer"}})
		time.Sleep(30 * time.Second)
		stop()
		time.Sleep(time.Hour)
		want := []string{
			"implementer 0s begins",
			"parser/builder #2 0s begins",
			"parser/builder #2 20s thinks",
			"implementer 30s … still running",
			"parser/builder #2 51s … still running",
			"implementer 1m0s … still running",
			"parser/builder #2 1m21s … still running",
			"implementer 1m30s … still running",
			"implementer 1m30s done",
			"parser/builder #2 1m51s … still running",
		}
		if diff := cmp.Diff(want, told(&out)); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

func TestProgressFollowsWorktreesToTheirLanding(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newProgress(&out, everything)
	at := begun
	tell := func(namespace string, after time.Duration, what ports.Happening) {
		at = at.Add(after)
		p.event(agl.Event{Run: "issue-12", Namespace: namespace, Time: at, What: what})
	}
	landing := func(namespace, into, after string, failure *agl.Failure) ports.Ended {
		return ports.Ended{Record: agl.Record{
			Kind: agl.KindLanding, Namespace: namespace, Name: namespace, Before: "c", Head: "c", Failure: failure,
			Landing: &agl.Landing{Into: into, Before: "aaaaaaaaaaaaaa", After: after, Child: "c"},
		}}
	}
	both := []agl.ConflictPath{{Path: "a\x1b.go", Kind: "content"}, {Path: "b.go", Kind: "add/add"}}
	red := agl.Verdict{Note: "exit status 1", Output: strings.Repeat("ok\n", 20) + "FAIL\x1b[2J\n\n"}
	gaveUp := &agl.ConflictError{Child: "parser", Verdict: &agl.Verdict{Command: "make"}}

	tell("parser", 0, ports.Hit{Record: ports.PlanRecord{Kind: ports.KindOpened, Name: "parser"}})
	tell("lexer", 0, ports.Opened{Parent: ports.Base, Base: "aaaaaaaaaaaaaa"})
	tell("tokens", 0, ports.Opened{Parent: "lexer", Base: "aaaaaaaaaaaaaa"})
	tell("lexer", 0, ports.Began{Kind: agl.KindLanding, Name: "lexer", Ordinal: 1})
	tell("parser", 0, ports.Waits{For: "lexer"})
	tell(ports.Base, 0, ports.Waits{For: "lexer"})
	tell("lexer", time.Second, ports.Gated{Verdict: agl.Verdict{Passed: true}})
	tell("lexer", 0, landing("lexer", ports.Base, "bbbbbbbbbbbbbb", nil))
	tell(ports.Base, 0, ports.Waits{For: "parser"}) // not told again
	tell("parser", 0, ports.Waits{})
	tell("parser", 0, ports.Began{Kind: agl.KindLanding, Name: "parser", Ordinal: 2})
	tell("parser", 0, ports.Met{Attempt: 1, Paths: both})
	tell("parser", time.Second, ports.Began{Kind: ports.KindFix, Name: "mender", Ordinal: 1, Model: "claude/opus"})
	tell("parser", 0, ports.Activity{Text: "reads a.go"})
	tell("parser", time.Second, ports.Ended{Record: agl.Record{Kind: ports.KindFix, Namespace: "parser", Name: "mender", Head: "ffffffffff"}})
	tell("parser", 0, ports.Gated{Verdict: red})
	tell("parser", 0, ports.Met{Attempt: 2, Verdict: &red})
	tell("parser", 0, ports.Began{Kind: ports.KindFix, Name: "mender", Ordinal: 2}) // cancelled: it has no end
	tell("parser", 0, landing("parser", ports.Base, "aaaaaaaaaaaaaa", &agl.Failure{Message: gaveUp.Error(), Conflict: gaveUp}))
	tell("tokens", 0, ports.Began{Kind: agl.KindLanding, Name: "tokens", Ordinal: 1})
	tell("tokens", 0, ports.Gated{Verdict: agl.Verdict{Passed: true}, Again: true})
	tell("tokens", 0, landing("tokens", "lexer", "dddddddddddddd", nil))
	tell("tokens", 0, landing("tokens", "lexer", "aaaaaaaaaaaaaa", nil))
	tell("tokens", 0, ports.Began{Kind: agl.KindLanding, Name: "tokens", Ordinal: 2})
	tell("tokens", 0, ports.Met{Attempt: 1, Verdict: &agl.Verdict{Output: "recorded"}})
	tell("tokens", 0, landing("tokens", "lexer", "aaaaaaaaaaaaaa", &agl.Failure{Message: gaveUp.Error(), Conflict: gaveUp}))
	tell("tokens", 0, landing("tokens", "lexer", "aaaaaaaaaaaaaa", &agl.Failure{Message: "resolver: no (" + gaveUp.Error() + ")", Conflict: gaveUp}))
	tell("tokens", 0, ports.Waits{For: ports.Base})
	tell("tokens", 0, ports.Noted{Text: "a note"})
	want := []string{
		"parser its worktree is recorded already",
		"lexer worktree opened at aaaaaaaaaa",
		"tokens worktree opened from lexer at aaaaaaaaaa",
		"lexer 0s begins to land",
		"parser waits for lexer",
		"issue-12 waits for lexer",
		"lexer 1s the build gate passed",
		"lexer 1s landed, commit bbbbbbbbbb",
		"parser #2 0s begins to land",
		"parser #2 0s conflicts in a\uFFFD.go (content), b.go (add/add)",
		"parser/mender 0s begins with claude/opus",
		"parser/mender 0s reads a.go",
		"parser/mender 1s done",
		"parser #2 2s the build gate failed: exit status 1",
		"ok", "ok", "ok", "ok", "ok", "ok", "ok", "ok", "ok", "FAIL\uFFFD[2J",
		"parser #2 2s after 1 try: the merged tree does not build",
		"parser/mender #2 0s begins",
		"parser #2 2s given up after 1 try: the build gate failed (make)",
		"tokens 0s begins to land",
		"tokens 0s the build gate has passed on this tree before",
		"tokens 0s landed in lexer, commit dddddddddd",
		"tokens nothing new to land",
		"tokens #2 0s begins to land",
		"tokens #2 0s the merged tree does not build",
		"recorded",
		"tokens #2 0s given up: the build gate failed (make)",
		"tokens failed: resolver: no (parser was not landed: the build gate failed (make))",
		"tokens waits for the run's own branch",
		"tokens a note",
	}
	if diff := cmp.Diff(want, told(&out)); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	require.Empty(t, p.now)
}

func TestManyRecordedVerbsAreCounted(t *testing.T) {
	t.Parallel()
	told := func(n int, what ...ports.Happening) []string {
		var out strings.Builder
		p := newProgress(&out, everything)
		for range n {
			p.event(agl.Event{Run: "issue-12", Namespace: "a", What: ports.Hit{Record: ports.PlanRecord{Kind: agl.KindStep, Name: "builder"}}})
		}
		p.event(agl.Event{Run: "issue-12", Namespace: "a", What: ports.Hit{Record: ports.PlanRecord{Kind: agl.KindLanding, Name: "a"}, Failed: true}})
		require.Empty(t, out.String())
		for _, what := range what {
			p.event(agl.Event{Run: "issue-12", Namespace: "a", What: what})
		}
		return told(&out)
	}
	require.Equal(t, []string{"a/builder recorded already", "a/builder recorded already", "a its landing is recorded already, as failed"},
		told(2, ports.RunEnded{}))
	require.Equal(t, []string{"issue-12 1,000 verbs recorded already", "a its landing is recorded already, as failed", "a 0s begins to land"},
		told(1000, ports.Began{Kind: agl.KindLanding, Name: "a"}, ports.RunEnded{}))
}
