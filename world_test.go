package agl_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// world is a store, a repository and an agent that outlive an engine, as a
// machine outlives a process.
type world struct {
	t        *testing.T
	store    *mem.Store
	repo     *mem.Repository
	clock    *mem.Clock
	verifier *mem.Verifier
	gitDir   string    // the repository, if it is a real one
	gitPath  string    // what is before PATH for that
	gitEnv   []string  // what its git runs in
	trees    string    // where its checkouts are
	set      ports.Set // what engines are made of; tests replace ports in it

	mu      sync.Mutex
	play    func(turn *turn) (any, error)
	started []string // "role#ordinal" of every agent that was started
	events  []agl.Event
}

// turn is one run of the agent.
type turn struct {
	ports.Task
	ctx  context.Context
	emit func(ports.AgentEvent)
	n    int // this is the n-th agent that was started
}

// write writes a file of the checkout.
func (t *turn) write(path, text string) {
	if t.Dir != "" {
		if err := os.WriteFile(filepath.Join(t.Dir, path), []byte(text), 0o644); err != nil {
			panic(err)
		}
		return
	}
	if err := t.Workspace.WriteFile(t.ctx, path, []byte(text)); err != nil {
		panic(err)
	}
}

// call calls a tool.
func (t *turn) call(name, args string) ports.ToolResult {
	for _, tool := range t.Tools {
		if tool.Name == name {
			return tool.Call(t.ctx, json.RawMessage(args))
		}
	}
	panic("no tool " + name)
}

// newWorld returns a world whose agent plays play: what it returns is
// reported, nil is not.
func newWorld(t *testing.T, play func(turn *turn) (any, error)) *world {
	clock := mem.NewClock()
	w := &world{
		t: t, store: &mem.Store{}, clock: clock, verifier: &mem.Verifier{}, play: play,
		repo: mem.NewRepository(clock, map[string]string{"main.go": "package main\n"}),
	}
	w.set = ports.Set{
		Store: w.store, Workspaces: w.repo, Integrator: w.repo.Integrator(), History: w.repo, Verifier: w.verifier, Clock: clock,
		Agents: map[string]ports.Agent{ports.AnyProvider: mem.Agent(w.run)},
	}
	return w
}

func (w *world) run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	w.mu.Lock()
	w.started = append(w.started, fmt.Sprintf("%s#%d", task.Role, task.Ordinal))
	tn := &turn{Task: task, ctx: ctx, emit: emit, n: len(w.started)}
	play := w.play
	w.mu.Unlock()
	outcome := ports.Outcome{Stop: ports.StopCompleted, Usage: ports.Usage{Input: 100, Output: 10, Complete: true}}
	report, err := play(tn)
	if err != nil {
		return ports.Outcome{}, err
	}
	if o, ok := report.(ports.Outcome); ok {
		return o, nil
	}
	if report != nil {
		doc, err := strictjson.Canonical(report)
		if err != nil {
			return outcome, err
		}
		if res := tn.call("report", string(doc)); res.Rejected {
			return outcome, fmt.Errorf("report refused: %s", res.Text)
		}
	}
	return outcome, nil
}

// engine returns a fresh engine, as a new process would have.
func (w *world) engine() *agl.Engine {
	e, err := agl.New(w.set, &agl.Options{Events: func(e agl.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, e.Close()) })
	return e
}

func (w *world) start(job agl.Job, opts ...agl.StartOptions) error {
	return w.engine().Start(w.t.Context(), "job", job, first(opts))
}

func (w *world) resume(def agl.Definition, opts ...agl.ResumeOptions) error {
	return w.engine().Resume(w.t.Context(), "job", def, first(opts))
}

func first[T any](opts []T) *T {
	if len(opts) == 0 {
		return nil
	}
	return &opts[0]
}

// journal returns the live ordered records.
func (w *world) journal() []agl.Record {
	j, err := w.engine().Journal(w.t.Context(), "job")
	require.NoError(w.t, err)
	return j.Records
}

func (w *world) info() agl.RunInfo {
	j, err := w.engine().Journal(w.t.Context(), "job")
	require.NoError(w.t, err)
	return j.Run
}

// files returns the tree of the run's branch.
func (w *world) files() map[string]string {
	at, err := w.repo.Branch(w.t.Context(), "agl/job")
	require.NoError(w.t, err)
	return w.repo.Files(at)
}

// agents returns what was started since the last call.
func (w *world) agents() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	started := w.started
	w.started = nil
	return started
}

// The roles and the workflow that most tests run.

type patch struct {
	Summary string `json:"summary"`
}

type findings struct {
	Items []string `json:"items"`
}

var (
	editor = agl.Editor[patch]{Name: "editor", Model: "fake/one", Prompt: "Change it."}
	reader = agl.Reader[findings]{Name: "reader", Model: "fake/two", Prompt: "Review it."}
)

type params struct {
	Request string
	Rounds  int
}

// fix edits and reviews until the reviewer has nothing to say.
func fix(version int) *agl.Workflow[params] {
	return agl.NewWorkflow(agl.Spec{Name: "fix", Version: version, Doc: "Fix it.", Roles: []agl.Role{editor, reader}},
		func(ctx context.Context, run *agl.Run, p params) error {
			var review findings
			for round := range cmp.Or(p.Rounds, 3) {
				var done patch
				err := run.Step(ctx, editor.Commit(fmt.Sprintf("round %d", round+1)).Into(&done),
					agl.In("request", p.Request), agl.In("findings", review.Items))
				if err != nil {
					return err
				}
				if err := run.Step(ctx, reader.Into(&review), agl.In("summary", done.Summary)); err != nil {
					return err
				}
				if len(review.Items) == 0 {
					return nil
				}
			}
			return agl.Stopf("%d findings left", len(review.Items))
		})
}

// twoRounds plays fix: one finding in the first round, none in the second.
func twoRounds(t *turn) (any, error) {
	switch t.Role {
	case "editor":
		t.write("fix.txt", fmt.Sprintf("round %d\n", t.Ordinal))
		return patch{fmt.Sprintf("change %d", t.Ordinal)}, nil
	default:
		if t.Ordinal == 1 {
			return findings{[]string{"no test"}}, nil
		}
		return findings{}, nil
	}
}

// script makes a workflow of a function, for tests of one verb.
func script(fn func(ctx context.Context, run *agl.Run) error, roles ...agl.Role) *agl.Workflow[agl.None] {
	if roles == nil {
		roles = []agl.Role{editor, reader}
	}
	return agl.NewWorkflow(agl.Spec{Name: "script", Version: 1, Roles: roles},
		func(ctx context.Context, run *agl.Run, _ agl.None) error { return fn(ctx, run) })
}

func job(w *agl.Workflow[agl.None]) agl.Job { return w.With(agl.None{}) }
