package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// An attempt is one run of a verb that is not recorded, in a checkout that
// stands at its namespace's head.
type attempt struct {
	x      *execution
	space  *namespace
	verb   *verb
	ws     ports.Workspace
	guard  json.RawMessage
	mark   string        // what its processes carry as EnvStep
	record *ports.Record // as it will be recorded, without a value

	committer string // "Name <email>", if it may end in a commit
}

// prepare puts the namespace's checkout at its head and notes what is about to
// run.
func (x *execution) prepare(ctx context.Context, s *namespace, v *verb) (*attempt, error) {
	a := &attempt{x: x, space: s, verb: v, mark: rand.Text()}
	a.record = &ports.Record{
		Kind: v.kind, Namespace: s.name, Name: v.name, Key: v.key, Terms: v.terms,
		Before: s.head, Head: s.head, Called: x.book.Last(), Retry: s.retry,
	}
	var err error
	if a.ws, err = x.workspace(ctx, s.name, s.branch, s.head); err != nil {
		return nil, err
	}
	if err := x.putBack(ctx, s.name, a.ws, s.head, fmt.Sprintf("found before %s", v.op())); err != nil {
		return nil, err
	}
	if a.guard, err = a.ws.Guard(ctx); err != nil {
		return nil, err
	}
	if v.commits {
		if a.committer, err = x.committer(ctx); err != nil {
			return nil, err
		}
	}
	a.record.Started = x.engine.now()
	note := ledger.Note{Key: v.key, Started: a.record.Started, Name: v.op(), Guard: a.guard}
	if err := x.book.WriteNote(ctx, s.name, note); err != nil {
		return nil, err
	}
	return a, nil
}

// workspace returns a namespace's checkout, made when it is first needed.
func (x *execution) workspace(ctx context.Context, namespace, branch, head string) (ports.Workspace, error) {
	x.mu.Lock()
	ws := x.workspaces[namespace]
	x.mu.Unlock()
	if ws != nil {
		return ws, nil
	}
	ws, err := x.trees.Open(ctx, ports.Place{Namespace: namespace, Branch: branch}, head)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	x.workspaces[namespace] = ws
	x.mu.Unlock()
	return ws, nil
}

// putBack makes a checkout stand at head; what was there is salvaged and told
// of.
func (x *execution) putBack(ctx context.Context, namespace string, ws ports.Workspace, head, reason string) error {
	done, err := ws.PutBack(ctx, head, reason)
	if done.Salvage != nil {
		x.publish(namespace, ports.WasSalvaged{Salvage: *done.Salvage})
	}
	x.tell(namespace, done.Notes)
	return err
}

func (x *execution) tell(namespace string, notes []string) {
	for _, n := range notes {
		x.note(namespace, "%s", n)
	}
}

// began tells that the verb runs now.
func (a *attempt) began() {
	a.x.publish(a.space.name, ports.Began{Kind: a.verb.kind, Name: a.verb.name, Ordinal: a.verb.ordinal, Model: a.verb.model})
}

// env is what every process of the attempt carries.
func (a *attempt) env() []string {
	return []string{ports.EnvRun + "=" + a.x.book.Run.Nonce, ports.EnvStep + "=" + a.mark}
}

// world is what a handler or function is told that runs under ctx.
func (a *attempt) world(ctx context.Context) ports.World {
	return ports.NewWorld(ctx, attemptKey(a.x.book.Run.Nonce, a.space.name, a.space.pos, a.verb.key), a.ws)
}

// reap ends the processes that the attempt left.
func (a *attempt) reap(ctx context.Context) error {
	return a.x.reap(ctx, a.space.name, ports.EnvStep+"="+a.mark)
}

func (x *execution) reap(ctx context.Context, namespace, entry string) error {
	if x.engine.set.Reaper == nil {
		return nil
	}
	ended, err := x.engine.set.Reaper.Reap(ctx, entry)
	for _, p := range ended {
		x.note(namespace, "ended a process that was left behind: %s", p)
	}
	return err
}

// committer returns who makes the run's commits.
func (x *execution) committer(ctx context.Context) (string, error) {
	x.once.Lock()
	defer x.once.Unlock()
	if x.identity == "" {
		var err error
		if x.identity, err = x.trees.Identity(ctx); err != nil {
			return "", err
		}
	}
	return x.identity, nil
}
