package agl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// sessions returns the sessions that an engine tells of, by namespace, and the
// state of the run.
func sessions(t *testing.T, e *agl.Engine) (agl.State, map[string]string) {
	t.Helper()
	status, err := e.Status(t.Context(), "job")
	require.NoError(t, err)
	seen := map[string]string{}
	for _, ns := range status.Namespaces {
		if ns.Session != "" {
			seen[ns.Namespace] = ns.Session
		}
	}
	return status.Run.State, seen
}

// killed returns an engine over what is stored at this moment, as it would be
// after a kill.
func (w *world) leftover() *agl.Engine {
	w.t.Helper()
	stored, err := w.store.Export()
	require.NoError(w.t, err)
	left := &mem.Store{}
	require.NoError(w.t, left.Import(stored))
	set := w.set
	set.Store = left
	e, err := agl.New(set, nil)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, e.Close()) })
	return e
}

func TestTheSessionOfAnAgentIsRecordedWhenItBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	live := w.engine()
	w.play = func(tn *turn) (any, error) {
		id := fmt.Sprintf("session-%d", tn.n)
		tn.emit(ports.AgentEvent{Kind: ports.AgentSession, Text: id})
		tn.emit(ports.AgentEvent{Kind: ports.AgentSession, Text: id})
		want := map[string]string{tn.Namespace: id}
		for _, tt := range []struct {
			who    string
			engine *agl.Engine
			state  agl.State
		}{{"the engine itself", live, agl.StateRunning}, {"another", w.engine(), agl.StateRunning}, {"after a kill", w.leftover(), agl.StateInterrupted}} {
			state, seen := sessions(t, tt.engine)
			if diff := cmp.Diff(want, seen); diff != "" || state != tt.state {
				t.Errorf("turn %d, %s: %s (-want +got):\n%s", tn.n, tt.who, state, diff)
			}
		}
		tn.write("file", id)
		return patch{"done"}, nil
	}
	wf := script(func(ctx context.Context, run *agl.Run) error {
		if err := run.Step(ctx, editor.Commit("one")); err != nil {
			return err
		}
		child, err := run.Worktree(ctx, "child")
		if err != nil {
			return err
		}
		return child.Step(ctx, editor.Commit("two"))
	})
	require.NoError(t, live.Start(t.Context(), "job", job(wf), nil))
	_, seen := sessions(t, live)
	require.Empty(t, seen, "nothing runs")
	for i, r := range w.journal() {
		require.Equal(t, fmt.Sprintf("session-%d", i+1), r.Session)
	}
}

func TestTheSessionOfAnAgentInAConflictIsRecordedToo(t *testing.T) {
	t.Parallel()
	c := newClash(t, false)
	var seen map[string]string
	c.mend = func(tn *turn) (any, error) {
		tn.emit(ports.AgentEvent{Kind: ports.AgentSession, Text: "mending"})
		_, seen = sessions(t, c.leftover())
		tn.write("same.txt", "of both\n")
		return patch{"mended"}, nil
	}
	require.NoError(t, c.start(job(clashing(plainly, agl.ResolveWith(editor, 1, agl.Abandon)))))
	require.Equal(t, map[string]string{"b": "mending"}, seen)
	_, after := sessions(t, c.engine())
	require.Empty(t, after)
}

// A store that refuses the notes that have a session.
type sessionless struct{ ports.Store }

func (s sessionless) Write(ctx context.Context, label, name string, doc []byte, durability ports.Durability) error {
	if strings.HasPrefix(name, "notes/") && strings.Contains(string(doc), `"session":`) {
		return errors.New("there is no room")
	}
	return s.Store.Write(ctx, label, name, doc, durability)
}

func TestASessionThatCannotBeNotedEndsNoTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		tn.emit(ports.AgentEvent{Kind: ports.AgentSession, Text: "s\x1b1"})
		return findings{}, nil
	})
	w.set.Store = sessionless{w.store}
	var notes []string
	e, err := agl.New(w.set, &agl.Options{Events: func(e agl.Event) {
		if note, ok := e.What.(agl.Noted); ok {
			notes = append(notes, note.Text)
		}
	}})
	require.NoError(t, err)
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
	require.NoError(t, e.Start(t.Context(), "job", job(wf), nil))
	require.NoError(t, e.Close()) // all events are told
	require.Equal(t, []string{"the session of step reader is not noted: there is no room"}, notes)
	require.Len(t, w.journal(), 1)
}
