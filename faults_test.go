package agl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// faults counts the calls of every port that has effects, and makes one of
// them fail, or "crash": from then on every call fails and changes nothing, as
// if the process were dead.
type faults struct {
	mu     sync.Mutex
	names  []string // of all calls, in order
	at     int      // the call that fails, from 1; 0: none
	after  bool     // its effect is made before it fails
	crash  bool     // it is the last call that has an effect
	failed bool
	dead   bool
}

var errFault = ports.Unavailable.Errorf("", "injected fault")

// do makes a call: before is whether it is to fail without its effect.
func (f *faults) do(name string, effect func() error) error {
	f.mu.Lock()
	f.names = append(f.names, name)
	hit := len(f.names) == f.at
	dead := f.dead
	if hit {
		f.failed = true
		f.dead = f.crash
	}
	f.mu.Unlock()
	if dead || hit && !f.after {
		return fmt.Errorf("%s: %w", name, errFault)
	}
	err := effect()
	if hit && err == nil {
		return fmt.Errorf("%s, done: %w", name, errFault)
	}
	return err
}

// die makes every further call fail, as the fault of a crash does.
func (f *faults) die() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead, f.failed = true, true
}

// wrap puts the faults between an engine and a set.
func (f *faults) wrap(set ports.Set) ports.Set {
	set.Store = faultStore{set.Store, f}
	set.Workspaces = faultWorkspaces{set.Workspaces, f}
	set.Agents = map[string]ports.Agent{ports.AnyProvider: faultAgent{set.Agents[ports.AnyProvider], f}}
	return set
}

type faultStore struct {
	ports.Store
	f *faults
}

func (s faultStore) Read(ctx context.Context, label, name string) (doc []byte, err error) {
	err = s.f.do("read "+name, func() error { doc, err = s.Store.Read(ctx, label, name); return err })
	if err != nil && errors.Is(err, errFault) {
		return nil, err
	}
	return doc, err
}

func (s faultStore) Write(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
	return s.f.do("write "+name, func() error { return s.Store.Write(ctx, label, name, doc, d) })
}

func (s faultStore) Delete(ctx context.Context, label, name string) error {
	return s.f.do("delete "+name, func() error { return s.Store.Delete(ctx, label, name) })
}

// Remove removes a document a call, as a folder loses them.
func (s faultStore) Remove(ctx context.Context, label, last string) error {
	for _, name := range s.Store.(*mem.Store).Documents(label, "") {
		if name == last {
			continue
		}
		if err := s.Delete(ctx, label, name); err != nil {
			return err
		}
	}
	return s.f.do("remove "+last, func() error { return s.Store.Remove(ctx, label, last) })
}

type faultWorkspaces struct {
	ports.Workspaces
	f *faults
}

func (w faultWorkspaces) Attach(ctx context.Context, label string, lock ports.Lock) (ports.Worktrees, error) {
	trees, err := w.Workspaces.Attach(ctx, label, lock)
	return faultTrees{trees, w.f}, err
}

type faultTrees struct {
	ports.Worktrees
	f *faults
}

func (t faultTrees) Open(ctx context.Context, place ports.Place, head string) (ws ports.Workspace, err error) {
	err = t.f.do("open", func() error { ws, err = t.Worktrees.Open(ctx, place, head); return err })
	if err != nil {
		return nil, err
	}
	return faultWorkspace{ws, t.f}, nil
}

func (t faultTrees) Move(ctx context.Context, branch, old, new string) error {
	return t.f.do("move", func() error { return t.Worktrees.Move(ctx, branch, old, new) })
}

func (t faultTrees) Keep(ctx context.Context, name, commit string) error {
	return t.f.do("keep "+name, func() error { return t.Worktrees.Keep(ctx, name, commit) })
}

func (t faultTrees) Clear(ctx context.Context, branches map[string]string) (c ports.Cleared, err error) {
	err = t.f.do("clear", func() error { c, err = t.Worktrees.Clear(ctx, branches); return err })
	return c, err
}

type faultWorkspace struct {
	ws ports.Workspace
	f  *faults
}

func (w faultWorkspace) Dir() string { return w.ws.Dir() }
func (w faultWorkspace) Tree() fs.FS { return w.ws.Tree() }

func (w faultWorkspace) Guard(ctx context.Context) (g json.RawMessage, err error) {
	err = w.f.do("guard", func() error { g, err = w.ws.Guard(ctx); return err })
	return g, err
}

func (w faultWorkspace) Verify(ctx context.Context, guard json.RawMessage) error {
	return w.f.do("verify", func() error { return w.ws.Verify(ctx, guard) })
}

func (w faultWorkspace) Inspect(ctx context.Context, head string) (c ports.Changes, err error) {
	err = w.f.do("inspect", func() error { c, err = w.ws.Inspect(ctx, head); return err })
	return c, err
}

func (w faultWorkspace) PutBack(ctx context.Context, head, reason string) (p ports.PutBack, err error) {
	err = w.f.do("put back", func() error { p, err = w.ws.PutBack(ctx, head, reason); return err })
	return p, err
}

func (w faultWorkspace) Commit(ctx context.Context, spec ports.CommitSpec) (c ports.Commit, err error) {
	err = w.f.do("commit", func() error { c, err = w.ws.Commit(ctx, spec); return err })
	if err != nil {
		return ports.Commit{}, err
	}
	return c, nil
}

type faultAgent struct {
	ports.Agent
	f *faults
}

func (a faultAgent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (o ports.Outcome, err error) {
	if w, ok := task.Workspace.(faultWorkspace); ok {
		task.Workspace = w.ws
	}
	err = a.f.do("agent "+task.Role, func() error { o, err = a.Agent.Run(ctx, task, emit); return err })
	return o, err
}
