package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// An attempt is one run of a verb that is not recorded, under the lease of its
// namespace.
type attempt struct {
	x      *execution
	walk   *walk
	space  *namespace
	verb   *verb
	at     *namespace      // in whose checkout it works: a landing in its parent's, the others in their own
	base   string          // the head of that
	ws     ports.Workspace // that checkout; nil until it is prepared
	guard  json.RawMessage
	mark   string        // what its processes carry as EnvStep
	record *ports.Record // as it will be recorded, without a value

	note ledger.Note // that it has begun

	committer string // "Name <email>", if it may end in a commit
	since     int    // what was answered to its agent before this record was to another

	mu         sync.Mutex
	asked      map[string][]bool // what its agent has asked so far: which of them were not given up
	waiting    int               // questions that wait for an answer
	halt       error             // why its turn was ended; nil if it was not
	cancelTurn context.CancelFunc
}

func (x *execution) attempt(w *walk, s *namespace, v *verb) *attempt {
	head := x.book.Head(s.name)
	if again := x.book.Entry(s.retry); again != nil && again.Landing != nil && again.Failure == nil {
		head = again.Landing.Child // it is made again where it was, whatever came after it
	}
	since := 0
	if s.pos > 0 {
		since = s.live[s.pos-1].Seq
	}
	return &attempt{
		x: x, walk: w, space: s, at: s, base: head, verb: v, mark: rand.Text(), since: since,
		record: &ports.Record{
			Kind: v.kind, Namespace: s.name, Name: v.name, Key: v.key, Terms: v.terms,
			Before: head, Head: head, Called: w.called(s.name), Retry: s.retry,
		},
	}
}

// run runs the attempt's verb. Where that ends its goroutine, nobody is left to
// whom an error could be given: the walk ends.
func (a *attempt) run(ctx context.Context) (*ledger.Entry, error) {
	returned := false
	defer func() {
		if !returned {
			_ = a.walk.stop(ports.Internal.Errorf(a.verb.op(),
				"its goroutine was ended while it ran (by runtime.Goexit, or FailNow of a test); return an error instead, and resume"))
		}
	}()
	e, err := a.verb.run(ctx, a)
	returned = true
	return e, err
}

// errNotBegun is in the error of a verb whose context had ended before it
// began: nothing was done, and nothing is recorded.
var errNotBegun = errors.New("it was not begun")

// prepare puts the checkout of the attempt's namespace at its head, and notes
// what is about to run.
func (a *attempt) prepare(ctx context.Context) error {
	err := a.enter(ctx, a.space)
	if err == nil {
		err = a.clean(ctx)
	}
	if err == nil {
		err = a.begin(ctx, ledger.Note{})
	}
	return a.unprepared(ctx, err)
}

// unprepared is the error of an attempt that could not be prepared.
func (a *attempt) unprepared(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return ended(ctx, a.verb.op())
	case err != nil:
		return fmt.Errorf("%s: %w", a.verb.op(), err)
	}
	return nil
}

// enter opens the checkout in which the attempt is to work.
func (a *attempt) enter(ctx context.Context, at *namespace) (err error) {
	a.at, a.base = at, a.x.book.Head(at.name)
	a.ws, err = a.x.workspace(ctx, at.name, at.branch, a.base)
	return err
}

// clean puts the checkout at its namespace's head.
func (a *attempt) clean(ctx context.Context) error {
	return a.x.putBack(ctx, a.at.name, a.ws, a.base, fmt.Sprintf("found before %s", a.verb.op()))
}

// begin takes the checkout's guard and notes what is about to run.
func (a *attempt) begin(ctx context.Context, note ledger.Note) (err error) {
	x, v := a.x, a.verb
	if a.guard, err = a.ws.Guard(ctx); err != nil {
		return err
	}
	if v.commits {
		if a.committer, err = x.committer(ctx); err != nil {
			return err
		}
	}
	a.record.Started = x.engine.now()
	note.Key, note.Started, note.Name, note.Guard = v.key, a.record.Started, v.op(), a.guard
	a.note = note
	return x.book.WriteNote(ctx, a.space.name, note)
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
	x.tellPutBack(namespace, done)
	return err
}

func (x *execution) tellPutBack(namespace string, done ports.PutBack) {
	if done.Salvage != nil {
		x.publish(namespace, ports.WasSalvaged{Salvage: *done.Salvage})
	}
	x.tell(namespace, done.Notes)
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

// inSession notes which of the vendor's conversations the attempt's agent is in,
// before it ends: after a kill somebody can look there. That it could not be
// noted is told and ends no turn: it is in the record too.
func (a *attempt) inSession(ctx context.Context, id string) {
	id = sessionID(id)
	if id == a.note.Session || id == "" {
		return
	}
	a.note.Session = id
	a.x.inSession(a.space.name, id)
	if err := a.x.book.WriteNote(context.WithoutCancel(ctx), a.space.name, a.note); err != nil {
		a.x.note(a.space.name, "the session of %s is not noted: %v", a.verb.op(), err)
	}
}

// sessionID is the id of an agent's conversation as it is recorded.
func sessionID(id string) string { return ports.Clip(ports.Printable(id), 400) }

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
