package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A reply is the answer to what is asked under a verb, not by it: by an agent in
// its turn, or about a conflict. It is recorded beside the verb, and given again
// when the verb is run again and asks the same.
type reply struct {
	key       string
	terms     []ports.Term
	since     int     // the record after which it counts
	otherwise *string // where nobody is there
	landing   *ports.Landing
}

// reply returns the answer to a question, as JSON.
func (a *attempt) reply(ctx context.Context, q ports.Question, r reply) (json.RawMessage, error) {
	x := a.x
	if e := x.book.Support(ports.KindReply, a.space.name, r.key, r.since); e != nil {
		value, err := x.book.Value(ctx, e)
		if err != nil {
			return nil, a.walk.stop(err)
		}
		var answer string
		if err := strictjson.Decode(value, &answer); err != nil {
			return nil, a.walk.stop(ports.Internal.Errorf("", "record %d is no answer: %w", e.Seq, err))
		}
		x.publish(a.space.name, ports.Answered{Question: q, Answer: answer, By: ports.AnsweredBefore})
		return value, nil
	}
	started := x.engine.now()
	answer, err := a.await(ctx, q, r.otherwise)
	if err != nil {
		return nil, err
	}
	value, err := strictjson.Canonical(answer)
	if err != nil {
		return nil, ports.Internal.Errorf("", "%w", err)
	}
	_, err = x.book.Append(context.WithoutCancel(ctx), &ports.Record{
		Kind: ports.KindReply, Namespace: a.space.name, Name: a.verb.name, Key: r.key, Terms: r.terms, Value: value,
		Landing: r.landing, Called: a.record.Called, Started: started, Ended: x.engine.now(),
	})
	if err != nil {
		return nil, a.walk.stop(fmt.Errorf("record the answer to %s: %w", a.verb.name, err))
	}
	x.settle(ctx, q, answer)
	return value, nil
}
