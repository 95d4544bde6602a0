package porttest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
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
			failure, _ := rules[i].run(t, b.fresh, limit)
			if failure == "" || !strings.Contains(failure, b.says) {
				t.Errorf("not found, or not in these words: %q; the failure:\n%s", b.says, failure)
			}
			if failure != "" && (!strings.HasPrefix(failure, "broken rule: "+rules[i].text+"\n") || strings.Count(failure, rules[i].text) != 1) {
				t.Errorf("the failure does not quote the rule, once: %s", failure)
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

func TestAPanicInAnyGoroutineOfARuleFailsItByName(t *testing.T) {
	t.Parallel()
	rules := []rule[func()]{
		{"at once", "Several may call.", func(c *check, call func()) {
			others := make(chan struct{})
			c.together(3, func(i int) {
				if i > 0 {
					<-others // which the one that panics was to close
				}
				call()
				close(others)
			})
		}},
		{"soon", "A call returns.", func(c *check, call func()) {
			c.soon("calling", call)
			c.Errorf("it went on")
		}},
	}
	fresh := func(testing.TB) func() { return func() { panic("oops") } }
	for _, r := range rules {
		failure, hung := r.run(t, fresh, time.Minute)
		if !strings.HasPrefix(failure, "broken rule: "+r.text+"\npanic: oops\n") || !strings.Contains(failure, "suite_internal_test.go") || hung {
			t.Errorf("%s: it is told as (hung: %v)\n%s", r.name, hung, failure)
		}
		if strings.Contains(failure, "it went on") || strings.Contains(failure, "longer") {
			t.Errorf("%s: more is told than the panic:\n%s", r.name, failure)
		}
	}
}

func TestWhenTheTimeOfARuleIsOverNothingElseIsTold(t *testing.T) {
	t.Parallel()
	r := rule[int]{"a rule", "What is called returns.", func(c *check, _ int) {
		c.Errorf("before: got 1, want 2")
		<-c.Context().Done()
		c.Errorf("there are the names [] (error: %v)", c.Context().Err())
		c.must(c.Context().Err(), "listing")
	}}
	failure, hung := r.run(t, func(testing.TB) int { return 0 }, 20*time.Millisecond)
	if want := "broken rule: What is called returns.\nit took longer than 20ms\nbefore: got 1, want 2"; failure != want || !hung {
		t.Errorf("(hung: %v) got\n%s\nwant\n%s", hung, failure, want)
	}
}

// A finishedTest is a test that can be over: then what it is asked panics, as it
// does in the testing package.
type finishedTest struct {
	testing.TB
	mu       sync.Mutex
	over     bool
	cleanups []func()
}

func (f *finishedTest) Cleanup(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.alive("Cleanup")
	f.cleanups = append(f.cleanups, fn)
}

func (f *finishedTest) finish() {
	for _, fn := range slices.Backward(f.cleanups) {
		fn()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

func (f *finishedTest) alive(what string) {
	if f.over {
		panic(what + " after the test has completed")
	}
}

func (f *finishedTest) Logf(string, ...any)   { f.alive("Logf") }
func (f *finishedTest) Errorf(string, ...any) { f.alive("Errorf") }
func (f *finishedTest) Attr(string, string)   { f.alive("Attr") }
func (f *finishedTest) Output() io.Writer     { f.alive("Output"); return io.Discard }
func (f *finishedTest) TempDir() string       { f.alive("TempDir"); return "folder" }
func (f *finishedTest) ArtifactDir() string   { f.alive("ArtifactDir"); return "folder" }

func TestACheckThatWakesWhenItsTestIsOverAsksNothingOfIt(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(c *check) (ends bool){
		"Log":         func(c *check) bool { c.Log("late"); return false },
		"Logf":        func(c *check) bool { c.Logf("late"); return false },
		"Error":       func(c *check) bool { c.Error("late"); return false },
		"Attr":        func(c *check) bool { c.Attr("late", "yes"); return false },
		"TempDir":     func(c *check) bool { c.TempDir(); return true },
		"ArtifactDir": func(c *check) bool { c.ArtifactDir(); return true },
		"Skip":        func(c *check) bool { c.Skip("late"); return true },
		"Fatal":       func(c *check) bool { c.Fatal("late"); return true },
		"Output": func(c *check) bool {
			if n, err := c.Output().Write([]byte("late")); n != 4 || err != nil {
				t.Errorf("writing late: %d, %v", n, err)
			}
			return false
		},
		"Cleanup": func(c *check) bool {
			cleaned := false
			c.Cleanup(func() { cleaned = true })
			c.Cleanup(func() { panic("late") })
			if !cleaned {
				t.Error("what was made late is not cleaned up")
			}
			return false
		},
	} {
		wake, woken := make(chan struct{}), make(chan any, 1)
		went := false
		r := rule[int]{"a rule", "What is called returns.", func(c *check, _ int) {
			defer func() { woken <- recover() }()
			c.Log("in time")
			if c.TempDir() != "folder" {
				t.Error("there is no folder in time")
			}
			<-wake
			if !ask(c) {
				went = true
			}
		}}
		test := &finishedTest{TB: t}
		failure, _ := r.run(test, func(testing.TB) int { return 0 }, time.Millisecond)
		if !strings.Contains(failure, "it hangs") {
			t.Errorf("%s: it is told as %s", name, failure)
		}
		test.finish()
		close(wake)
		if p := <-woken; p != nil {
			t.Errorf("%s: panic: %v", name, p)
		}
		if ends := name != "Cleanup" && !went; ends != slices.Contains([]string{"TempDir", "ArtifactDir", "Skip", "Fatal"}, name) {
			t.Errorf("%s: the check went on: %v", name, went)
		}
	}
}

// The rules are no subtests here: those that fail would fail this one.
// A toldTest keeps what it is told.
type toldTest struct {
	finishedTest
	told []string
}

func (f *toldTest) Errorf(format string, args ...any) {
	f.told = append(f.told, fmt.Sprintf(format, args...))
}

func TestWhatFailsInACleanupFailsTheTest(t *testing.T) {
	t.Parallel()
	r := rule[int]{"a rule", "What is called returns.", func(c *check, _ int) {
		c.Cleanup(func() { c.Errorf("the program was not started") })
	}}
	f := &toldTest{finishedTest: finishedTest{TB: t}}
	if failure, _ := r.run(f, func(testing.TB) int { return 0 }, time.Minute); failure != "" {
		t.Errorf("before the cleanup it fails: %s", failure)
	}
	f.finish()
	if want := []string{"the program was not started"}; !slices.Equal(f.told, want) {
		t.Errorf("the test was told %q, want %q", f.told, want)
	}
}

func TestOnceARuleHasHungTheOthersGetLess(t *testing.T) {
	t.Parallel()
	p := &patience{limit: 80 * time.Millisecond, hurried: 20 * time.Millisecond}
	r := rule[int]{"a rule", "What is called returns.", func(c *check, _ int) { <-c.Context().Done() }}
	for _, limit := range []string{"80ms", "20ms", "20ms"} {
		failure := r.graded(t, func(testing.TB) int { return 0 }, p)
		if !strings.Contains(failure, "it took longer than "+limit) {
			t.Errorf("want a limit of %s: %s", limit, failure)
		}
	}
}
