package engine

import (
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
	gate := r.walk.x.engine.set.Verifier.Gate()
	if gate.Command == "" {
		// Not the workflow's to handle, and no end of the run: whoever drives it
		// forgot something.
		return verdict, r.walk.stop(ports.Invalid.Errorf("verify", "the project has no build command; set one (AGL_BUILD, or build in project.toml: agl init --build), then resume"))
	}
	command, err := fingerprint.Term("command", gate.Command)
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
			return a.gate(ctx, gate)
		},
	})
	return verdict, err
}

// gate runs the build command. What it leaves in the checkout is put back, and
// never gets into a commit.
func (a *attempt) gate(ctx context.Context, gate ports.Gate) (*ledger.Entry, error) {
	tree, err := a.x.engine.set.History.Tree(ctx, a.record.Before)
	if err != nil {
		return nil, err
	}
	a.began()
	verdict, err := a.x.engine.set.Verifier.Verify(ctx, ports.VerifyTask{Dir: a.ws.Dir(), Env: a.env()})
	if err != nil {
		return a.fail(ctx, fmt.Errorf("verify: %w", err))
	}
	verdict.Tree, verdict.Command = tree, gate.Command
	a.x.publish(a.space.name, ports.Gated{Verdict: verdict})
	if a.record.Value, err = strictjson.Canonical(verdict); err != nil {
		return nil, ports.Internal.Errorf("verify", "%w", err)
	}
	return a.succeed(ctx, result{ending: EndDiscard})
}
