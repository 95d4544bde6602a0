package porttest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// A broken row is an implementation with one fault, and the rule that must
// find it.
type broken[S any] struct {
	fault string
	fresh func(t testing.TB) S
	rule  string
	says  string        // part of a failure
	limit time.Duration // 0: long enough
}

// find checks that each fault is found by its rule, which is quoted.
func find[S any](t *testing.T, rules []rule[S], rows []broken[S]) {
	t.Helper()
	for _, b := range rows {
		t.Run(b.fault, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(rules, func(r rule[S]) bool { return r.name == b.rule })
			if i < 0 {
				t.Fatalf("there is no rule %q", b.rule)
			}
			t.Cleanup(func() {
				if t.Skipped() {
					t.Error("the rule was not checked")
				}
			})
			limit := b.limit
			if limit == 0 {
				limit = 20 * time.Second
			}
			failures := rules[i].run(t, b.fresh, limit)
			for _, f := range failures {
				if !strings.HasPrefix(f, "broken rule: "+rules[i].text+"\n") {
					t.Errorf("the failure does not quote the rule: %s", f)
				}
			}
			if all := strings.Join(failures, "\n"); len(failures) == 0 || !strings.Contains(all, b.says) {
				t.Errorf("not found, or not in these words: %q; the failures:\n%s", b.says, all)
			}
		})
	}
}

// names checks that every rule is told from the others by its name, and says
// what it is.
func names[S any](t *testing.T, rules []rule[S]) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.name] || r.name == "" || !strings.HasSuffix(r.text, ".") || r.check == nil {
			t.Errorf("rule %q (%q) has no name of its own, is no sentence or checks nothing", r.name, r.text)
		}
		seen[r.name] = true
	}
}

func TestEveryRuleHasItsNameAndItsSentence(t *testing.T) {
	t.Parallel()
	names(t, storeRules())
}

func TestARuleThatHangsOrPanicsFailsByName(t *testing.T) {
	t.Parallel()
	find(t, []rule[func(context.Context)]{
		{"a rule", "What is called returns.", func(c *check, call func(context.Context)) { call(c.Context()) }},
	}, []broken[func(context.Context)]{
		{
			fault: "never returns",
			fresh: func(t testing.TB) func(context.Context) {
				stop := make(chan struct{})
				t.Cleanup(func() { close(stop) })
				return func(context.Context) { <-stop }
			},
			rule: "a rule", says: "it hangs", limit: 50 * time.Millisecond,
		},
		{
			fault: "returns when it is told to",
			fresh: func(testing.TB) func(context.Context) { return func(ctx context.Context) { <-ctx.Done() } },
			rule:  "a rule", says: "took longer than 50ms", limit: 50 * time.Millisecond,
		},
		{
			fault: "panics",
			fresh: func(testing.TB) func(context.Context) { return func(context.Context) { panic("oops") } },
			rule:  "a rule", says: "panic: oops",
		},
		{
			fault: "cannot be made",
			fresh: func(t testing.TB) func(context.Context) { t.Fatal("no disk"); return nil },
			rule:  "a rule", says: "no disk",
		},
	})
}
