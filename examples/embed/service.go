package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"example.com/agl"
	"example.com/agl/examples/fix"
	"example.com/agl/ports"
)

// A service starts runs of fix and says how they stand.
type service struct {
	http.ServeMux
	ctx    context.Context // the service's life, which is that of its runs
	engine *agl.Engine
	log    *slog.Logger
	runs   sync.WaitGroup
}

func newService(ctx context.Context, engine *agl.Engine, log *slog.Logger) *service {
	s := &service{ctx: ctx, engine: engine, log: log}
	s.HandleFunc("PUT /runs/{label}", s.start)
	s.HandleFunc("GET /runs", s.list)
	s.HandleFunc("GET /runs/{label}", s.show)
	return s
}

// wait returns when every run has ended.
func (s *service) wait() { s.runs.Wait() }

// start starts a run, or goes on with the one that has the label if it is of
// the same request: a client may repeat itself.
func (s *service) start(w http.ResponseWriter, r *http.Request) {
	label := r.PathValue("label")
	if err := ports.CheckName("label", label); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.run(label, func(ctx context.Context) error {
		job := fix.Workflow.With(fix.Params{Request: string(body)})
		return s.engine.Start(ctx, label, job, &agl.StartOptions{Resume: true})
	})
	w.WriteHeader(http.StatusAccepted)
}

// resume goes on with the runs of fix that an earlier life of the service
// began; the repository may have others.
func (s *service) resume() error {
	runs, err := s.engine.Runs(s.ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.State == agl.StateInterrupted && run.Workflow == fix.Workflow.Spec().Name {
			s.run(run.Label, func(ctx context.Context) error {
				return s.engine.Resume(ctx, run.Label, fix.Workflow, nil)
			})
		}
	}
	return nil
}

// run calls do in a goroutine: it returns when the run has ended.
func (s *service) run(label string, do func(context.Context) error) {
	s.runs.Go(func() {
		if err := do(s.ctx); err != nil {
			s.log.Warn("the run did not end well", "run", label, "err", err)
		}
	})
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	runs, err := s.engine.Runs(r.Context())
	answer(w, runs, err)
}

func (s *service) show(w http.ResponseWriter, r *http.Request) {
	journal, err := s.engine.Journal(r.Context(), r.PathValue("label"))
	answer(w, journal, err)
}

func answer(w http.ResponseWriter, v any, err error) {
	switch agl.KindOf(err) {
	case agl.NotFound:
		http.Error(w, err.Error(), http.StatusNotFound)
	case agl.Invalid:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // whoever asked may have gone
	}
}
