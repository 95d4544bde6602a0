package agl_test

import (
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
)

// A pair of crashes takes some ten milliseconds, all of them take minutes.
var crashAll = flag.Bool("crash.all", false, "test every crash and every pair of crashes, not a sample of them")

// pairs calls fn, for the first of a pair of crashes, with the second: one at
// each call of what follows it, before its effect and after it, until fn says
// that there are no more calls. If not all are asked for it is every 97th,
// beginning at another one for each first.
func pairs(first int, fn func(second *faults) bool) {
	step, start := 97, first*31%97
	if *crashAll {
		step, start = 1, 0
	}
	for i := start; fn(&faults{at: i/2 + 1, after: i%2 == 1, crash: true}); i += step {
	}
}

// stride is how far it is to the next crash that is tried: n, or 1 if all are
// asked for. Crashes that follow each other differ in how they crash, in two
// ways or four: an odd n comes to all of them.
func stride(n int) int {
	if *crashAll {
		return 1
	}
	return n
}

func TestASecondCrashWhileTheFirstIsRecoveredBuysNothingTwice(t *testing.T) {
	t.Parallel()
	probe := &faults{}
	w, err := interrupted(t, probe, false)
	require.NoError(t, err)
	want := w.outcome()
	resume := &agl.StartOptions{Resume: true}
	for i := 0; i < 4*len(probe.names); i += stride(3) {
		at, after, powerCut := i/4, i%2 == 1, i/2%2 == 1
		t.Run(fmt.Sprintf("%d %s after=%v powercut=%v", at+1, probe.names[at], after, powerCut), func(t *testing.T) {
			t.Parallel()
			pairs(i, func(second *faults) bool {
				w := newWorld(t, twoRounds)
				plain, start := w.set, fix(1).With(params{Request: "x"})
				first := &faults{at: at + 1, after: after, crash: true}
				for _, f := range []*faults{first, second} {
					w.set = f.wrap(plain)
					err := w.engine().Start(t.Context(), "job", start, resume)
					require.Equal(t, f.failed, err != nil, "%v", err)
					if powerCut {
						w.store.PowerCut()
					}
				}
				w.set = plain
				require.NoError(t, w.engine().Start(t.Context(), "job", start, resume))

				which := fmt.Sprintf("the second at call %d of %d, after=%v", second.at, len(second.names), second.after)
				if diff := cmp.Diff(want, w.outcome()); diff != "" {
					t.Errorf("%s: outcome (-want +got):\n%s", which, diff)
				}
				again := 0
				for _, f := range []*faults{first, second} {
					if f.failed && mayRunAgain(f.names, f.at-1, f.after, powerCut) {
						again++
					}
				}
				if n := len(w.agents()) - 4; n > again {
					t.Errorf("%s: %d agents were started twice, at most %d may be", which, n, again)
				}
				return second.failed
			})
		})
	}
}

func TestASecondCrashInARebuyIsResumed(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *world {
		word := "one"
		w := newWorld(t, func(tn *turn) (any, error) {
			if tn.Role == "editor" {
				tn.write("f", fmt.Sprint(word, tn.Ordinal))
				return patch{}, nil
			}
			return findings{}, nil
		})
		require.NoError(t, w.start(job(fixWith(word))))
		word = "two"
		return w
	}
	rebuy := agl.ResumeOptions{Rebuy: true}
	w, probe := begin(t), &faults{}
	w.set = probe.wrap(w.set)
	require.NoError(t, w.resume(fixWith("two"), rebuy))
	want := w.outcome()
	for i := 0; i < 2*len(probe.names); i += stride(3) {
		at, after := i/2, i%2 == 1
		t.Run(fmt.Sprintf("%d %s after=%v", at+1, probe.names[at], after), func(t *testing.T) {
			t.Parallel()
			pairs(i, func(second *faults) bool {
				w := begin(t)
				plain := w.set
				for _, f := range []*faults{{at: at + 1, after: after, crash: true}, second} {
					w.set = f.wrap(plain)
					err := w.resume(fixWith("two"), rebuy)
					require.Equal(t, f.failed, err != nil, "%v", err)
					w.store.PowerCut()
				}
				w.set = plain
				err := w.resume(fixWith("two"))
				var diverged *agl.DivergedError
				if errors.As(err, &diverged) { // neither came as far as to record the rebuy
					err = w.resume(fixWith("two"), rebuy)
				}
				require.NoError(t, err)
				if diff := cmp.Diff(want, w.outcome()); diff != "" {
					t.Errorf("the second at call %d, after=%v: outcome (-want +got):\n%s", second.at, second.after, diff)
				}
				return second.failed
			})
		})
	}
}
