// Package intercept puts a function between an engine and its ports: it sees
// every call, and may make it fail before or after its effect. Crashes and
// faults are injected with it.
package intercept

import (
	"context"
	"strings"

	"example.com/agl/ports"
)

// A Call is one call of a port.
type Call struct {
	Verb    ports.Verb // on whose behalf it is; zero where a run starts or recovers
	Op      string     // what it does: "write records/000002.json", "commit"
	Changes bool       // whether it may change anything
}

// The names of some operations.
const (
	Lock       = "lock"
	Gate       = "gate"
	Ask        = "ask"                // a person, at the terminal
	NoteBegin  = "note the beginning" // of a verb
	NoteEnd    = "note the end"       // of what a verb ran: it is bought
	WriteEntry = "write a record"
)

// AgentOp is the operation of running a role's agent.
func AgentOp(role string) string { return "agent " + role }

// Long reports whether the call runs somebody else's program or function, or
// asks a person, for as long as that takes.
func (c Call) Long() bool {
	return c.Op == Gate || c.Op == Ask || strings.HasPrefix(c.Op, "agent ")
}

// Steady returns the operation without what differs from run to run, or tells
// nobody anything: numbers of records, names of commits, ids of questions.
func (c Call) Steady() string {
	switch op := c.Op; {
	case strings.HasPrefix(op, "write records/"):
		return WriteEntry
	case strings.HasPrefix(op, "write notes/") && strings.HasSuffix(op, ".begun.json"):
		return NoteBegin
	case strings.HasPrefix(op, "write notes/"):
		return NoteEnd
	case strings.HasPrefix(op, "delete notes/"):
		return "drop a note"
	case strings.HasPrefix(op, "write questions/"):
		return "note a question"
	case strings.HasPrefix(op, "delete questions/"):
		return "drop a question"
	case strings.HasPrefix(op, "delete answers/"):
		return "drop an answer"
	}
	for _, kept := range []string{"keep fix", "keep hold", "keep stray", "keep record"} {
		if strings.HasPrefix(c.Op, kept+"-") {
			return kept
		}
	}
	return c.Op
}

// A Func is called for every call of a port that can fail. It calls do, which
// makes the call, or not, and returns the error that the engine is to see.
type Func func(ctx context.Context, call Call, do func() error) error

// Wrap returns set with around between it and whoever uses it. Only Close, and
// what cannot fail, is passed through.
func Wrap(set ports.Set, around Func) ports.Set {
	i := interceptor(around)
	set.Store = store{set.Store, i}
	set.Workspaces = workspaces{set.Workspaces, i}
	if set.Integrator != nil {
		set.Integrator = integrator{set.Integrator, i}
	}
	set.History = history{set.History, i}
	set.Verifier = verifier{set.Verifier, i}
	if set.Reaper != nil {
		set.Reaper = reaper{set.Reaper, i}
	}
	if set.Terminal != nil {
		set.Terminal = terminal{set.Terminal, i}
	}
	agents := map[string]ports.Agent{}
	for provider, a := range set.Agents {
		agents[provider] = agent{a, i}
	}
	set.Agents = agents
	return set
}

type interceptor Func

// change makes a call that may change something.
func (i interceptor) change(ctx context.Context, op string, do func() error) error {
	verb, _ := ports.VerbOf(ctx)
	return i(ctx, Call{Verb: verb, Op: op, Changes: true}, do)
}

// ask makes a call that has a result and changes nothing.
func ask[T any](ctx context.Context, i interceptor, op string, do func() (T, error)) (T, error) {
	return get(ctx, i, op, false, do)
}

// take makes a call that has a result and may change something. A call that
// failed has no result, whatever its implementation returned.
func take[T any](ctx context.Context, i interceptor, op string, do func() (T, error)) (T, error) {
	return get(ctx, i, op, true, do)
}

func get[T any](ctx context.Context, i interceptor, op string, changes bool, do func() (T, error)) (T, error) {
	var v, zero T
	verb, _ := ports.VerbOf(ctx)
	err := i(ctx, Call{Verb: verb, Op: op, Changes: changes}, func() (err error) { v, err = do(); return err })
	if err != nil {
		return zero, err
	}
	return v, nil
}
