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
}

func (v Verb) String() string {
	if v.Kind == "" {
		return v.Namespace
	}
	return fmt.Sprintf("%s %s %s #%d", v.Namespace, v.Kind, v.Name, v.Ordinal)
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
