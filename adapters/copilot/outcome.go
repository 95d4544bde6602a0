package copilot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/agl/internal/jsonrpc"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// outcome returns what is known of a turn that ended with err.
func (t *turn) outcome(err error) ports.Outcome {
	o := ports.Outcome{Text: t.text, Session: vendorprog.Word(t.session), Denied: t.denied}
	// A request that failed may have used something, of which nothing is told.
	o.Usage = t.used.usage(err == nil && t.failure == nil && !t.gaveUp)
	switch {
	case err != nil:
	case t.limited():
		o.Stop = ports.StopLimit
	default:
		o.Stop = ports.StopCompleted
	}
	return o
}

// limited reports whether a limit on tokens or output ended the turn.
func (t *turn) limited() bool {
	if t.failure != nil || t.gaveUp {
		return t.spoken && t.overlong()
	}
	return t.finish == "length"
}

// judge returns why the turn failed, or nil. byItself says that the program ended
// without being made to.
func (t *turn) judge(byItself bool) error {
	switch {
	case t.failure != nil:
		return t.failing()
	case t.aborted:
		return ports.Unexpected.Errorf(op, "the turn was aborted, last %s", t.lastSeen())
	case t.refused:
		return ports.Denied.Errorf(op, "the model refuses the request: %s", vendorprog.Quote(t.text))
	case !t.spoken:
		return ports.Unexpected.Errorf(op, "it ended the turn without an answer of the model, last %s", t.lastSeen())
	}
	if !byItself {
		return nil
	}
	if exit, _ := t.run.Exit(); !exit.OK() {
		return ports.Unexpected.Errorf(op, "it told of a success and then ended with %v: %s", exit, vendorprog.Quote(t.run.Stderr.String()))
	}
	return nil
}

// transient reports whether the program makes such a request again.
func (d *data) transient() bool {
	switch d.Status {
	case 0, 401, 408, 409, 429:
		return true
	}
	return d.Status >= 500
}

// reason returns what a service says of a request that failed.
func (d *data) reason() string {
	var told struct {
		Message string `json:"message"`
	}
	var text string
	switch said := []byte(d.ErrorMessage); {
	case json.Unmarshal(said, &told) == nil && told.Message != "":
		return told.Message
	case json.Unmarshal(said, &text) == nil:
		return text
	}
	return cmp.Or(d.Message, d.ErrorMessage, d.ErrorType)
}

// because returns what is said of a turn's failure, and the status of the
// request that it failed by, if any.
func (t *turn) because() (said string, status int) {
	if t.failed != nil {
		said, status = t.failed.reason(), t.failed.Status
	}
	if t.failure != nil {
		said, status = cmp.Or(t.failure.Message, said), cmp.Or(t.failure.Status, status)
	}
	return said, status
}

// overlong reports whether a request was refused for its length.
func (t *turn) overlong() bool {
	for _, d := range []*data{t.failure, t.failed} {
		if d == nil {
			continue
		}
		all := d.ErrorType + " " + d.ErrorCode + " " + d.Message + " " + d.ErrorMessage
		for _, sign := range []string{"context_limit", "context_length_exceeded", "prompt as too long", "prompt budget", "maximum context length", "prompt is too long"} {
			if strings.Contains(all, sign) {
				return true
			}
		}
	}
	return false
}

// failing returns the error of a turn that has failed, or nil if it was cut off by
// a limit. It goes by the class that the program names, and by the status of the
// request.
func (t *turn) failing() error {
	text, status := t.because()
	said, class := vendorprog.Quote(text), ""
	if t.failure != nil {
		class = t.failure.ErrorType
	}
	switch {
	case t.overlong() && t.spoken:
		return nil
	case t.overlong():
		return ports.Invalid.Errorf(op, "the request is too long for the model: %s; have the agent read what is long from a file", said)
	case class == "rate_limit", class == "quota", status == 429:
		return fmt.Errorf("%s: %w", op, &ports.LimitError{Reset: t.reset(class, text), Message: said})
	case class == "authentication", class == "authorization", status == 401, status == 403, strings.Contains(text, "No GitHub OAuth token"), strings.Contains(text, "No authentication information"):
		return ports.Unavailable.Errorf(op, "the service does not accept who asks: %s; %s", said, t.login())
	case status == 402:
		return ports.Unavailable.Errorf(op, "the account cannot pay: %s", said)
	case status == 404:
		return ports.Invalid.Errorf(op, "there is no model %q for this account: %s", t.task.Model.Name(), said)
	case class == "policy":
		return ports.Denied.Errorf(op, "a policy denies it: %s", said)
	case status == 408, status >= 500, status == 0 && t.failed != nil && t.failed.FailureKind == "transport":
		return ports.Unavailable.Errorf(op, "the service does not answer: %s", said)
	default:
		return ports.Unexpected.Errorf(op, "the turn failed (%s): %s", cmp.Or(vendorprog.Word(class), "no class"), said)
	}
}

// renewal returns when the first quota of which nothing is left is renewed, or
// zero.
func renewal(doc json.RawMessage) time.Time {
	var quota struct {
		Snapshots map[string]struct {
			Remaining float64 `json:"remainingPercentage"`
			Reset     string  `json:"resetDate"`
		} `json:"quotaSnapshots"`
	}
	_ = json.Unmarshal(doc, &quota)
	var first time.Time
	for _, s := range quota.Snapshots {
		at, err := time.Parse(time.RFC3339, s.Reset)
		if err == nil && s.Remaining <= 0 && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// login says what makes the service accept who asks.
func (t *turn) login() string {
	if t.byok {
		return "set COPILOT_PROVIDER_API_KEY"
	}
	return t.agent.login()
}

// until finds how long a limit lasts in what is said of it.
var until = regexp.MustCompile(`(?i)\b(?:again|resets?|retry)\s+(?:in|after)\s+(?:about\s+)?(\d+)\s*(second|minute|hour|day)`)

// maxLimit is the longest limit that is believed.
const maxLimit = 10 * 366 * 24 * time.Hour

// reset returns when a limit ends, or zero if that is not told.
func (t *turn) reset(class, said string) time.Time {
	if class == "quota" && !t.renewed.IsZero() {
		return t.renewed
	}
	if m := until.FindStringSubmatch(said); m != nil {
		n, err := strconv.Atoi(m[1])
		unit := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[strings.ToLower(m[2])]
		if err == nil && n <= int(maxLimit/unit) {
			return time.Now().Add(time.Duration(n) * unit).Round(time.Second)
		}
	}
	return time.Time{}
}

// declined is the error of a call of ours that the program did not take.
func (t *turn) declined(ctx context.Context, a answer) error {
	if errors.Is(a.err, jsonrpc.ErrEnded) {
		return t.broken(ctx)
	}
	said := vendorprog.Quote(a.err.Error())
	switch {
	case strings.Contains(strings.ToLower(a.err.Error()), "authenticat"), strings.Contains(a.err.Error(), "No GitHub OAuth token"):
		return ports.Unavailable.Errorf(op, "nobody is logged in: %s; %s", said, t.login())
	case a.method == create && strings.Contains(strings.ToLower(a.err.Error()), "model"):
		return ports.Invalid.Errorf(op, "it does not take the model %q: %s", t.task.Model.Name(), said)
	default:
		return ports.Unavailable.Errorf(op, "it does not take AGL's %s: %s; AGL works with version %s and later", a.method, said, versions.Oldest)
	}
}

// broken returns the error of a program that ended before its turn did.
func (t *turn) broken(ctx context.Context) error {
	t.run.End()
	for over := false; !over; { // what is still read is of no use, and what was skipped is not known before
		select {
		case <-t.events:
		case <-t.answers:
		case <-t.conn.Done():
			over = true
		}
	}
	exit, err := t.run.Exit()
	if err != nil && !errors.Is(err, context.Canceled) && t.session == "" {
		return t.agent.program.Unstarted(ctx, err)
	}
	if t.session == "" {
		return t.agent.mute(t.run)
	}
	skipped := ""
	if s := t.conn.Skipped(); s.Said != "" {
		skipped = fmt.Sprintf("; %d messages could not be read, the last one began %q", s.Malformed+s.Oversized+s.Noise, ports.Clip(ports.Printable(s.Said), 100))
	}
	return ports.Unexpected.Errorf(op, "it ended (%v) before its turn did, last %s: %s%s", exit, t.lastSeen(), vendorprog.Quote(t.run.Stderr.String()), skipped)
}

// lastSeen says which event was the last, for messages.
func (t *turn) lastSeen() string { return cmp.Or(vendorprog.Word(t.last), "nothing") }
