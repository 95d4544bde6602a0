package agl_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
)

// outcome is what must be the same however often a run was interrupted.
type outcome struct {
	Records []string
	Files   map[string]string
	State   agl.State
}

func (w *world) outcome() outcome {
	o := outcome{Files: w.files(), State: w.info().State}
	for _, r := range w.journal() {
		o.Records = append(o.Records, fmt.Sprintf("%s %s %s %s %v", r.Namespace, r.Kind, r.Name, r.Value, w.repo.Files(r.Head)))
	}
	return o
}

// interrupted starts the run with a fault at call n, then resumes until it is
// done.
func interrupted(t *testing.T, f *faults, powerCut bool) (*world, error) {
	w := newWorld(t, twoRounds)
	plain := w.set
	w.set = f.wrap(plain)
	err := w.start(fix(1).With(params{Request: "x"}))
	w.set = plain
	if powerCut {
		w.store.PowerCut()
	}
	if !f.failed {
		return w, err
	}
	if _, readErr := w.store.Read(t.Context(), "job", "run.json"); readErr != nil {
		// Nothing was bought: it is started again. The branch was not made before
		// the run was recorded.
		require.Empty(t, w.agents())
		return w, w.start(fix(1).With(params{Request: "x"}))
	}
	return w, w.resume(fix(1))
}

// Case D10.
func TestACrashAtAnyPortCallIsResumedWithoutBuyingTwice(t *testing.T) {
	t.Parallel()
	probe := &faults{}
	w, err := interrupted(t, probe, false)
	require.NoError(t, err)
	want := w.outcome()
	require.Greater(t, len(probe.names), 35)

	for _, powerCut := range []bool{false, true} {
		for i, name := range probe.names {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d %s after=%v powercut=%v", i+1, name, after, powerCut), func(t *testing.T) {
					t.Parallel()
					w, err := interrupted(t, &faults{at: i + 1, after: after, crash: true}, powerCut)
					require.NoError(t, err)
					if diff := cmp.Diff(want, w.outcome()); diff != "" {
						t.Errorf("outcome (-want +got):\n%s", diff)
					}
					// The fault falls between an agent's start and its note, or not: the
					// agent itself is a call that may run twice, and with a power cut so is
					// one whose record was not written yet.
					twice := len(w.agents()) - 4
					if twice > 1 || twice == 1 && !mayRunAgain(probe.names, i, after, powerCut) {
						t.Errorf("%d agents were started twice", twice)
					}
				})
			}
		}
	}
}

// mayRunAgain reports whether a crash at call i falls between the start of an
// agent and the note that it has ended, or, with a power cut, its record.
func mayRunAgain(names []string, i int, after, powerCut bool) bool {
	survives := "write notes/_base.ended.json"
	if powerCut {
		survives = "write records/"
	}
	for j := i; j >= 0; j-- {
		switch {
		case len(names[j]) >= len(survives) && names[j][:len(survives)] == survives && (j < i || after):
			return false
		case len(names[j]) > 6 && names[j][:6] == "agent " && (j < i || after):
			return true
		}
	}
	return false
}

func TestAFaultAtAnyPortCallLosesNothing(t *testing.T) {
	t.Parallel()
	probe := &faults{}
	w, err := interrupted(t, probe, false)
	require.NoError(t, err)
	want := w.outcome()
	for i, name := range probe.names {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s after=%v", i+1, name, after), func(t *testing.T) {
				t.Parallel()
				w, err := interrupted(t, &faults{at: i + 1, after: after}, false)
				require.NoError(t, err)
				got := w.outcome()
				if diff := cmp.Diff(want.Files, got.Files); diff != "" {
					t.Errorf("files (-want +got):\n%s", diff)
				}
				require.Equal(t, agl.StateDone, got.State)
			})
		}
	}
}
