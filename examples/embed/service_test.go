package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/fix"
	"example.com/agl/internal/gittest"
)

// live returns a service that lives as long as ctx, and fails the test if a
// run of it fails.
func live(t *testing.T, ctx context.Context, repo *gittest.Repo, home, script string) *service {
	t.Helper()
	file := filepath.Join(t.TempDir(), "play.txtar")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	set, err := local.New(ctx, local.Options{Repo: repo.Dir, Home: home, Script: file, Env: repo.Env})
	require.NoError(t, err)
	engine, err := agl.New(set, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	var log bytes.Buffer
	s := newService(ctx, engine, slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() {
		s.wait()
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, context.Canceled.Error()) {
				t.Error(line)
			}
		}
	})
	return s
}

func ask(s *service, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

func states(t *testing.T, s *service) map[string]agl.State {
	t.Helper()
	var runs []agl.RunInfo
	require.NoError(t, json.Unmarshal(ask(s, "GET", "/runs", "").Body.Bytes(), &runs))
	states := make(map[string]agl.State)
	for _, run := range runs {
		states[run.Label] = run.State
	}
	return states
}

func TestARunOutlivesItsRequestAndItsService(t *testing.T) {
	t.Parallel()
	repo, home := gittest.New(t, nil), t.TempDir()
	begun := filepath.Join(t.TempDir(), "begun")
	ctx, stop := context.WithCancel(t.Context())
	first := live(t, ctx, repo, home, "-- implementer --\nexec touch "+begun+"; exec sleep 60\n")
	require.Equal(t, http.StatusAccepted, ask(first, "PUT", "/runs/issue-1", "greet the world").Code)
	require.Eventually(t, func() bool {
		_, err := os.Stat(begun)
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	require.Equal(t, map[string]agl.State{"issue-1": agl.StateRunning}, states(t, first))
	stop()
	first.wait()
	require.Equal(t, map[string]agl.State{"issue-1": agl.StateInterrupted}, states(t, first))

	// The repository has a run of another program, too.
	ctx, stop = context.WithCancel(t.Context())
	other := agl.NewWorkflow(agl.Spec{Name: "other", Version: 1, Roles: []agl.Role{}},
		func(context.Context, *agl.Run, agl.None) error { stop(); return context.Canceled })
	require.ErrorIs(t, first.engine.Start(ctx, "theirs", other.With(agl.None{}), nil), context.Canceled)

	second := live(t, t.Context(), repo, home, fix.Script)
	require.NoError(t, second.resume())
	second.wait()
	require.Equal(t, map[string]agl.State{"issue-1": agl.StateDone, "theirs": agl.StateInterrupted}, states(t, second))
	require.Equal(t, http.StatusAccepted, ask(second, "PUT", "/runs/issue-1", "greet the world").Code, "a client may repeat itself")
	second.wait()

	w := ask(second, "GET", "/runs/issue-1", "")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "implementer")
	require.Equal(t, http.StatusNotFound, ask(second, "GET", "/runs/nope", "").Code)
	require.Equal(t, http.StatusBadRequest, ask(second, "GET", "/runs/a%20b", "").Code)
	require.Equal(t, http.StatusBadRequest, ask(second, "PUT", "/runs/a%20b", "x").Code)
}
