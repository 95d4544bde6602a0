package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// outcome returns what is known of a turn that ended with err.
func (t *turn) outcome(err error) ports.Outcome {
	o := ports.Outcome{Text: t.text, Session: vendorprog.Word(t.threadID), Usage: t.used.sum()}
	t.mu.Lock()
	o.Denied = slices.Clone(t.denied)
	t.mu.Unlock()
	switch {
	case t.ended == nil || err != nil:
	case t.limited():
		o.Stop = ports.StopLimit
	default:
		o.Stop = ports.StopCompleted
		o.Usage.Complete = len(t.used) > 0
	}
	return o
}

// because returns what the program says of a failure.
func (t *turn) because() turnError {
	if t.ended.Error == nil {
		return turnError{}
	}
	return *t.ended.Error
}

// limited reports whether a limit on output or on the conversation's length
// ended the turn.
func (t *turn) limited() bool {
	why := t.because()
	return t.ended.Status == "failed" &&
		(strings.Contains(why.Message, "max_output_tokens") || why.Info.class == "contextWindowExceeded" && t.spoken)
}

// judge returns why the turn failed, or nil. byItself says that the program ended
// without being made to.
func (t *turn) judge(byItself bool) error {
	switch {
	case t.limited():
		return nil
	case t.ended.Status != "completed" || t.ended.Error != nil:
		return t.failure()
	case !t.spoken && len(t.used) == 0:
		return ports.Unexpected.Errorf(op, "it ended its turn without an answer of the model, last %s", t.lastSeen())
	case !byItself:
		return nil
	}
	if exit, _ := t.prog.Exit(); !exit.OK() {
		return ports.Unexpected.Errorf(op, "it told of a success and then ended with %v: %s", exit, vendorprog.Quote(t.prog.Stderr.String()))
	}
	return nil
}

// failure returns the error of a turn that the program says has failed. It goes
// by the class that the program names, and where it names none by the status.
func (t *turn) failure() error {
	why := t.because()
	said, class, status := vendorprog.Quote(cmp.Or(why.Message, why.Details)), why.Info.class, why.Info.status
	switch class {
	case "rateLimitExceeded":
		return t.limit(said)
	case "usageLimitExceeded":
		if strings.HasPrefix(why.Message, "Quota exceeded") {
			return ports.Unavailable.Errorf(op, "the account cannot pay: %s", said)
		}
		return t.limit(said)
	case "sessionBudgetExceeded":
		return ports.Denied.Errorf(op, "the budget is spent: %s", said)
	case "cyberPolicy", "bioPolicy", "misalignmentPolicyViolation", "inferenceHookDenied", "tooManyDenials":
		return ports.Denied.Errorf(op, "the service refuses the request: %s", said)
	case "contextWindowExceeded":
		return ports.Invalid.Errorf(op, "the request is too long for the model: %s; have the agent read what is long from a file", said)
	case "modelNotFound":
		return ports.Invalid.Errorf(op, "there is no model %q for this account: %s", t.task.Model.Name(), said)
	case "unauthorized":
		status = 401
	case "internalServerError", "serverOverloaded", "flexUnavailable", "policyCapacityUnavailable":
		status = max(status, 500)
	case "httpConnectionFailed", "responseStreamConnectionFailed":
		if status == 0 { // it was not even reached
			status = 500
		}
	case "sandboxError":
		return ports.Unavailable.Errorf(op, "its sandbox does not work here: %s", said)
	}
	switch {
	case strings.Contains(why.Message, "content_filter"):
		return ports.Denied.Errorf(op, "the service refuses the request: %s", said)
	case strings.HasPrefix(why.Message, "Missing environment variable"):
		return ports.Unavailable.Errorf(op, "there is no key for the service: %s Set it", said)
	case status == 401, status == 403:
		return ports.Unavailable.Errorf(op, "the service does not accept who asks: %s; %s", said, t.agent.howToLogIn())
	case status == 402:
		return ports.Unavailable.Errorf(op, "the account cannot pay: %s", said)
	case status == 413:
		return ports.Invalid.Errorf(op, "the request is too long for the service: %s; have the agent read what is long from a file", said)
	case status == 429:
		return t.limit(said)
	case status == 408, status >= 500:
		return ports.Unavailable.Errorf(op, "the service does not answer: %s", said)
	default:
		return ports.Unexpected.Errorf(op, "the turn failed (%s): %s", vendorprog.Word(cmp.Or(class, t.ended.Status)), said)
	}
}

func (t *turn) limit(said string) error {
	return fmt.Errorf("%s: %w", op, &ports.LimitError{Reset: t.reset, Message: said})
}

// broken returns the error of a program that ended without its turn having.
func (t *turn) broken(ctx context.Context) error {
	t.prog.End() // it reads or writes no more
	for over := false; !over; {
		select {
		case n := <-t.notes:
			t.last = n.method
		case <-t.conn.Done():
			over = true
		}
	}
	exit, err := t.prog.Exit()
	if err != nil && !errors.Is(err, context.Canceled) {
		return t.agent.prog.Unstarted(ctx, err)
	}
	skipped := ""
	if s := t.conn.Skipped(); s.Said != "" {
		skipped = fmt.Sprintf("; %d lines could not be read, the last one began %q", s.Malformed+s.Oversized+s.Noise, ports.Clip(ports.Printable(s.Said), 100))
	}
	return ports.Unexpected.Errorf(op, "it ended (%v) before its turn had, last %s: %s%s", exit, t.lastSeen(), vendorprog.Quote(t.prog.Stderr.String()), skipped)
}

// lastSeen says what was told last, for messages.
func (t *turn) lastSeen() string { return cmp.Or(vendorprog.Word(t.last), "nothing") }
