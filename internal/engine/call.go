package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"example.com/agl/internal/fingerprint"
	"example.com/agl/internal/ledger"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// Call calls a Go function, unless it is recorded.
func (r *Run) Call(ctx context.Context, c *Call) error {
	terms, err := callTerms(c)
	if err != nil {
		return fmt.Errorf("call %s: %w", c.Name, err)
	}
	return r.take(ctx, &verb{
		kind:    ports.KindCall,
		name:    c.Name,
		terms:   terms,
		commits: c.Ending == EndCommit,
		deliver: c.Deliver,
		run: func(ctx context.Context, a *attempt) (*ledger.Entry, error) {
			return a.call(ctx, c)
		},
	})
}

func (a *attempt) call(ctx context.Context, c *Call) (*ledger.Entry, error) {
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	a.began()
	value, err := guardPanic(a.x, "", func() (json.RawMessage, error) {
		return c.Func(ctx, a.world(ctx))
	})
	if err != nil {
		return a.fail(ctx, fmt.Errorf("%s: %w", a.verb.op(), err))
	}
	a.record.Value = value
	return a.succeed(ctx, result{ending: c.Ending, message: c.Message, allowEmpty: true})
}

// Verify runs the build gate on the run's own tree, unless it is recorded.
func (r *Run) Verify(ctx context.Context) (ports.Verdict, error) {
	var verdict ports.Verdict
	gate := r.walk.x.gate()
	if gate == "" {
		// Not the workflow's to handle, and no end of the run: whoever drives it
		// forgot something.
		return verdict, r.walk.stop(ports.Invalid.Errorf("verify", "the project has no build command; set one (AGL_BUILD, or build in project.toml: agl init --build), then resume"))
	}
	command, err := fingerprint.Term("command", gate)
	if err != nil {
		return verdict, ports.Invalid.Errorf("verify", "the build command: %w", err)
	}
	err = r.take(ctx, &verb{
		kind:  ports.KindVerdict,
		name:  "verify",
		terms: []ports.Term{command},
		deliver: func(value json.RawMessage) error {
			return strictjson.Decode(value, &verdict)
		},
		run: func(ctx context.Context, a *attempt) (*ledger.Entry, error) {
			return a.gate(ctx)
		},
	})
	return verdict, err
}

// gate returns the build command; where there is none, that with which the run
// was started: what is recorded was built with it, and nothing else is begun
// (ungatedSince).
func (x *execution) gate() string {
	return cmp.Or(x.engine.set.Verifier.Gate().Command, x.book.Run.Build)
}

// ungatedSince refuses to go on without the build command that the run was
// started with: what that has kept from landing would land.
func (x *execution) ungatedSince() error {
	if x.book.Run.Build == "" || x.engine.set.Verifier.Gate().Command != "" {
		return nil
	}
	return ports.Conflicted.Errorf("", "run %q was started with the build command %q, and now there is none: give it again (--build, AGL_BUILD, project.toml), or --build true to land unbuilt",
		x.label, x.book.Run.Build)
}

// gate runs the build command. What it leaves in the checkout is put back, and
// never gets into a commit.
func (a *attempt) gate(ctx context.Context) (*ledger.Entry, error) {
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	tree, err := a.x.engine.set.History.Tree(ctx, a.record.Before)
	if err != nil {
		return nil, err
	}
	a.began()
	verdict, err := a.build(ctx, tree)
	if err != nil {
		return a.fail(ctx, fmt.Errorf("verify: %w", err))
	}
	if a.record.Value, err = strictjson.Canonical(verdict); err != nil {
		return nil, ports.Internal.Errorf("verify", "%w", err)
	}
	return a.succeed(ctx, result{ending: EndDiscard})
}

// A gateError says that the build gate could not be run, or that what it did
// keeps its landing from going on. It is the verb's failure, and no reason to
// end the run.
type gateError struct{ err error }

func (e *gateError) Error() string { return e.err.Error() }
func (e *gateError) Unwrap() error { return e.err }

// build runs the build command on the tree that is in the attempt's checkout,
// unless it has passed on that tree before. Where there is none everything
// passes.
func (a *attempt) build(ctx context.Context, tree string) (ports.Verdict, error) {
	x := a.x
	gate := x.engine.set.Verifier.Gate()
	if gate.Command == "" {
		return ports.Verdict{Passed: true, Tree: tree, Note: "the project has no build command"}, nil
	}
	terms, err := makeTerms([]Input{{"tree", tree}, {"command", gate.Command}, {"timeout", gate.Timeout.String()}})
	if err != nil {
		return ports.Verdict{}, err
	}
	key := fingerprint.Key(ports.KindGreen, terms)
	var verdict ports.Verdict
	if e := x.book.Support(ports.KindGreen, "", key, 0); e != nil {
		err := x.supportValue(ctx, e, &verdict)
		if err == nil {
			x.publish(a.space.name, ports.Gated{Verdict: verdict, Again: true})
		}
		return verdict, err
	}
	started := x.engine.now()
	verdict, err = x.engine.set.Verifier.Verify(ctx, ports.VerifyTask{Dir: a.ws.Dir(), Tree: a.ws.Tree(), Env: a.env()})
	if err != nil {
		return verdict, &gateError{err}
	}
	verdict.Tree, verdict.Command = tree, gate.Command
	verdict = verdict.AsText()
	x.publish(a.space.name, ports.Gated{Verdict: verdict})
	ctx = context.WithoutCancel(ctx)
	if err := a.reap(ctx); err != nil {
		return verdict, err
	}
	if err := guarded(ctx, a.ws, ledger.Note{Name: a.verb.op(), Guard: a.guard}); err != nil {
		return verdict, err
	}
	if !verdict.Passed {
		return verdict, nil
	}
	doc, err := strictjson.Canonical(verdict)
	if err != nil {
		return verdict, ports.Internal.Errorf("gate", "%w", err)
	}
	_, err = x.book.Append(ctx, &ports.Record{
		Kind: ports.KindGreen, Namespace: a.space.name, Name: "gate", Key: key, Terms: terms, Value: doc,
		Called: x.book.Last(), Started: started, Ended: x.engine.now(),
	})
	return verdict, err
}
