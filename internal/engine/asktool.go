package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.com/agl/internal/fingerprint"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// AskTool is the name of the tool by which an agent asks a person.
const AskTool = "ask"

// Limits on what an agent may ask, which a person is to read.
const (
	maxQuestion = 16 << 10 // bytes
	maxOption   = 1 << 10  // bytes
	maxOptions  = 50
)

// An AgentQuestion is what an agent asks by the tool.
type AgentQuestion struct {
	Text    string
	Options []string
	Free    bool
}

// askTool serves the tool by which an agent asks a person, in the name of its
// step. The answer belongs to its turn: a step that runs again, and asks the
// same, is given it again.
func (a *attempt) askTool(tool *Tool) ports.Tool {
	return ports.Tool{
		Name: tool.Name, Doc: tool.Doc, Schema: tool.Schema.JSON(),
		Call: func(ctx context.Context, args json.RawMessage) ports.ToolResult {
			asked, err := tool.Ask(args)
			if err != nil {
				return ports.ToolResult{Text: err.Error(), Rejected: true}
			}
			answer, err := a.answer(ctx, asked)
			if err != nil {
				return ports.ToolResult{Text: err.Error(), Rejected: true}
			}
			return ports.ToolResult{Text: answer}
		},
	}
}

// answer returns the answer to what the attempt's agent asks.
func (a *attempt) answer(ctx context.Context, asked AgentQuestion) (string, error) {
	q := ports.Question{
		Run: a.x.label, Namespace: a.space.name, From: a.verb.name,
		Text: strings.TrimSpace(asked.Text), Options: asked.Options, Free: asked.Free,
	}
	if q.Options == nil {
		q.Options = []string{}
	}
	if err := checkAgentQuestion(q); err != nil {
		return "", err
	}
	key, terms, release, err := a.askedKey(q)
	if err != nil {
		return "", err
	}
	q.ID = questionID(a.space.name, key, 1)
	value, err := a.reply(ctx, q, reply{key: key, terms: terms, since: a.since})
	if err != nil {
		release()
		if halt := a.walk.halted(); halt != nil && ctx.Err() == nil {
			a.interrupt(halt)
		}
		return "", fmt.Errorf("it was not answered: %w", err)
	}
	var answer string
	err = strictjson.Decode(value, &answer)
	return answer, err
}

func checkAgentQuestion(q ports.Question) error {
	switch {
	case len(q.Text) > maxQuestion:
		return ports.Invalid.Errorf("question", "it has %d bytes, a person is asked up to %d", len(q.Text), maxQuestion)
	case len(q.Options) > maxOptions:
		return ports.Invalid.Errorf("question", "it has %d options, a person is given up to %d", len(q.Options), maxOptions)
	}
	for _, option := range q.Options {
		if len(option) > maxOption {
			return ports.Invalid.Errorf("question", "an option has %d bytes, more than %d", len(option), maxOption)
		}
	}
	return ports.CheckQuestion(q)
}

// askedKey is the key of what the attempt's agent asks: it is about its step,
// and the how manieth time it asks just that. What is given up unanswered is
// released and does not count: an agent whose call has timed out asks again, and
// a person may be answering by then.
func (a *attempt) askedKey(q ports.Question) (key string, terms []ports.Term, release func(), err error) {
	terms, err = makeTerms([]Input{
		{"step", a.verb.key},
		{"step ordinal", a.verb.ordinal},
		{"question", q.Text},
		{"options", q.Options},
		{"free", q.Free},
	})
	if err != nil {
		return "", nil, nil, err
	}
	said := fingerprint.Key(ports.KindReply, terms)
	a.mu.Lock()
	if a.asked == nil {
		a.asked = map[string][]bool{}
	}
	i := slices.Index(a.asked[said], false)
	if i < 0 {
		i = len(a.asked[said])
		a.asked[said] = append(a.asked[said], false)
	}
	a.asked[said][i] = true
	a.mu.Unlock()
	release = func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked[said][i] = false
	}
	ordinal, err := fingerprint.Term("ordinal", i+1)
	terms = append(terms, ordinal)
	return fingerprint.Key(ports.KindReply, terms), terms, release, err
}

// interrupt ends the attempt's turn: the walk is halted, and what the turn waits
// for does not come. The turn is not recorded.
func (a *attempt) interrupt(halt error) {
	a.mu.Lock()
	a.halt = halt
	a.mu.Unlock()
	a.endTurn()
}

// endTurn cancels the turn that the attempt's agent is in.
func (a *attempt) endTurn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancelTurn != nil {
		a.cancelTurn()
	}
}

// interrupted returns why the attempt's turn was ended; nil if it was not.
func (a *attempt) interrupted() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.halt
}
