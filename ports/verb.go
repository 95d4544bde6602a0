package ports

import (
	"context"
	"fmt"
)

// A Verb names one call of a Run's method: the Ordinal-th of its kind and name
// in its namespace.
type Verb struct {
	Namespace string
	Kind      RecordKind
	Name      string // the role, the call
	Ordinal   int    // from 1, replayed ones counted
	Within    string // of what an agent does in a conflict: the landing, "landing #1", in which it is counted; else ""
}

func (v Verb) String() string {
	if v.Kind == "" {
		return v.Namespace
	}
	if v.Kind == KindOpened { // once in a run
		return fmt.Sprintf("%s %s", v.Namespace, v.Kind)
	}
	name := fmt.Sprintf("%s %s %s #%d", v.Namespace, v.Kind, v.Name, v.Ordinal)
	if v.Within != "" {
		return name + " in " + v.Within
	}
	return name
}

type verbKey struct{}

// WithVerb returns a context for what is done on behalf of a verb. The engine
// gives it to every port that it calls in a verb, for messages and for tests.
func WithVerb(ctx context.Context, v Verb) context.Context {
	return context.WithValue(ctx, verbKey{}, v)
}

// VerbOf returns the verb on whose behalf a port is called, and whether it is
// one: a run's start and its recovery are not.
func VerbOf(ctx context.Context) (Verb, bool) {
	v, ok := ctx.Value(verbKey{}).(Verb)
	return v, ok
}
