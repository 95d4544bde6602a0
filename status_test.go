package agl_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

func TestTheStatusOfAResumedRunCountsWhatItUsedBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.n == 2 || tn.n == 3 {
			return nil, ports.Unavailable.Errorf("", "no")
		}
		return findings{}, nil
	})
	var live agl.Status
	wf := script(func(ctx context.Context, run *agl.Run) error {
		for i := range 4 {
			if err := run.Step(ctx, reader, agl.In("i", i)); err != nil {
				return err
			}
		}
		live = run.Status()
		return nil
	})
	require.Error(t, w.start(job(wf)))
	require.Error(t, w.resume(wf))
	require.NoError(t, w.resume(wf))
	recorded, err := w.engine().Status(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, int64(440), live.Usage.Tokens())
	require.Equal(t, recorded.Usage.Tokens(), live.Usage.Tokens())
	require.Len(t, live.Namespaces, 1)
	require.Equal(t, int64(440), live.Namespaces[0].Usage.Tokens())
	require.Equal(t, recorded.Namespaces[0].Usage.Tokens(), live.Namespaces[0].Usage.Tokens())
}

// A resume calls the function dry, and then again, and again for each failure
// that it retries.
func TestAHitIsToldOnceAResume(t *testing.T) {
	t.Parallel()
	refused := true
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.Role == "reader" && refused {
			return nil, ports.Unavailable.Errorf("", "no")
		}
		return twoRounds(tn)
	})
	wf := script(func(ctx context.Context, run *agl.Run) error {
		if err := run.Step(ctx, editor.Commit("m")); err != nil {
			return err
		}
		return run.Step(ctx, reader)
	})
	e := w.engine()
	require.Error(t, e.Start(t.Context(), "job", job(wf), nil))
	require.NoError(t, e.Close(), "all its events are delivered")
	w.events, refused = nil, false
	e = w.engine()
	require.NoError(t, e.Resume(t.Context(), "job", wf, nil))
	require.NoError(t, e.Close())
	var hits []string
	for _, event := range w.events {
		if hit, ok := event.What.(agl.Hit); ok {
			hits = append(hits, hit.Record.Name)
		}
	}
	if diff := cmp.Diff([]string{"editor"}, hits); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

// asking asks for the status of a run when it is asked whether it is ready.
type asking struct {
	ports.Agent
	engine **agl.Engine
	asked  *[]error
}

func (a asking) Ready(ctx context.Context, _ ports.Model) error {
	answer := make(chan error, 1)
	go func() {
		_, err := (*a.engine).Status(context.WithoutCancel(ctx), "job")
		answer <- err
	}()
	select {
	case err := <-answer:
		*a.asked = append(*a.asked, err)
	case <-time.After(10 * time.Second):
		*a.asked = append(*a.asked, context.DeadlineExceeded)
	}
	return nil
}

func TestTheStatusIsThereWhileAgentsAreProbed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	ctx, cancel := context.WithCancel(t.Context())
	wf := script(func(c context.Context, run *agl.Run) error {
		if err := run.Step(c, reader); err != nil {
			return err
		}
		cancel()
		return run.Step(c, reader, agl.In("x", 1))
	}, reader)
	require.ErrorIs(t, w.engine().Start(ctx, "job", job(wf), nil), context.Canceled)

	var e *agl.Engine
	var asked []error
	w.set.Agents = map[string]ports.Agent{ports.AnyProvider: asking{w.set.Agents[ports.AnyProvider], &e, &asked}}
	e = w.engine()
	require.NoError(t, e.Resume(t.Context(), "job", wf, nil))
	require.Equal(t, []error{nil}, asked)
}

func TestTheJournalReadsEachRecordToFindItAndOnceWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*turn) (any, error) { return findings{}, nil })
	const steps = 50
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		for i := range steps {
			if err := run.Step(ctx, reader, agl.In("i", i)); err != nil {
				return err
			}
		}
		return nil
	}))))
	f := &faults{}
	w.set = f.wrap(w.set)
	require.Len(t, w.journal(), steps)
	reads := slices.DeleteFunc(f.names, func(name string) bool { return !strings.HasPrefix(name, "read ") })
	require.LessOrEqual(t, len(reads), 2*steps+2, "and the run, and its end")
}
