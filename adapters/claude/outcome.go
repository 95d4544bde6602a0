package claude

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// outcome returns what is known of a turn that ended with err.
func (t *turn) outcome(err error) ports.Outcome {
	o := ports.Outcome{Text: t.text, Session: t.told, Usage: t.used.sum()}
	if o.Usage.Tokens() == 0 && (t.result == nil || !t.result.Failed.isFalse()) {
		o.Usage.Complete = false
	}
	if t.result == nil {
		return o
	}
	switch {
	case err != nil:
	case t.limited():
		o.Stop = ports.StopLimit
	default:
		o.Stop = ports.StopCompleted
	}
	for _, d := range t.result.Denials {
		if name := cmp.Or(vendorprog.Word(d.Tool), "a permission"); !slices.Contains(o.Denied, name) {
			o.Denied = append(o.Denied, name)
		}
	}
	return o
}

// limited reports whether a limit on turns, tokens or output ended the turn.
func (t *turn) limited() bool {
	return t.result.TerminalReason == "max_turns" || t.result.Subtype == "error_max_turns" ||
		!t.result.Failed.isFalse() && t.failed == "max_output_tokens" || t.overlong() && t.spoken
}

// overlong reports whether the service refused a request for its length.
func (t *turn) overlong() bool {
	said := t.because()
	return !t.result.Failed.isFalse() && (strings.HasPrefix(said, "Prompt is too long") || strings.HasPrefix(said, "Request too large"))
}

// because returns what the program said about a failure.
func (t *turn) because() string {
	return cmp.Or(t.said, t.result.Result, strings.Join(t.result.Errors, "; "), t.result.TerminalReason, t.result.Subtype)
}

// judge returns why the turn failed, or nil. byItself says that the program
// ended without being made to.
func (t *turn) judge(byItself bool) error {
	if t.succeeded() {
		if !t.begun {
			return ports.Unexpected.Errorf(op, "it told of a success without an answer of the model: %s", vendorprog.Quote(t.because()))
		}
		if !byItself {
			return nil
		}
		if exit, _ := t.ch.Exit(); !exit.OK() {
			return ports.Unexpected.Errorf(op, "it told of a success and then ended with %v: %s", exit, vendorprog.Quote(t.ch.Stderr.String()))
		}
		return nil
	}
	if t.limited() {
		return nil
	}
	return t.failure()
}

// succeeded reports whether the program tells of a success, and of nothing that
// contradicts it.
func (t *turn) succeeded() bool {
	r := t.result
	return r.Failed.isFalse() && r.Subtype == "success" && (r.TerminalReason == "" || r.TerminalReason == "completed") &&
		r.APIStatus < 400 && !t.refused()
}

// failure returns the error of a turn that the program says has failed. It goes
// by the class that the program names, and where it names none by the status.
func (t *turn) failure() error {
	said := vendorprog.Quote(t.because())
	class, status := t.failed, t.result.APIStatus
	switch {
	case t.result.TerminalReason == "budget_exhausted":
		return ports.Denied.Errorf(op, "the budget is spent: %s", said)
	case t.refused():
		return ports.Denied.Errorf(op, "the model refuses the request: %s", said)
	case t.overlong():
		return ports.Invalid.Errorf(op, "the request is too long for the model: %s; have the agent read what is long from a file", said)
	case class == "rate_limit", status == 429:
		return fmt.Errorf("%s: %w", op, &ports.LimitError{Reset: t.reset, Message: said})
	case class == "model_not_found":
		return ports.Invalid.Errorf(op, "there is no model %q for this account: %s", t.task.Model.Name(), said)
	case class == "authentication_failed", status == 401, status == 403:
		return ports.Unavailable.Errorf(op, "the service does not accept who asks: %s; run %q, or set ANTHROPIC_API_KEY", said, t.agent.prog.Name+" auth login")
	case class == "billing_error":
		return ports.Unavailable.Errorf(op, "the account cannot pay: %s", said)
	case class == "overloaded", class == "server_error", class == "connection_failed", status >= 500:
		return ports.Unavailable.Errorf(op, "the service does not answer: %s", said)
	default:
		return ports.Unexpected.Errorf(op, "the turn failed (%s): %s", vendorprog.Word(cmp.Or(string(class), t.result.TerminalReason, t.result.Subtype)), said)
	}
}

func (t *turn) refused() bool { return t.result.StopReason == "refusal" }

// broken returns the error of a program that ended without a last line.
func (t *turn) broken(ctx context.Context) error {
	exit, err := t.ch.Exit()
	if err != nil {
		return t.agent.prog.Unstarted(ctx, err)
	}
	skipped := ""
	if s := t.ch.skipped; s.Said != "" {
		skipped = fmt.Sprintf("; %d lines could not be read, the last one began %q", s.Malformed+s.Oversized+s.Noise, ports.Clip(ports.Printable(s.Said), 100))
	}
	return ports.Unexpected.Errorf(op, "it ended (%v) without a result, last %s: %s%s", exit, t.lastSeen(), vendorprog.Quote(t.ch.Stderr.String()), skipped)
}

// lastSeen says which line was the last, for messages.
func (t *turn) lastSeen() string { return cmp.Or(vendorprog.Word(t.last), "nothing") }
