// Package schedule lets a test change the order in which the goroutines of a
// workflow reach its durable points.
package schedule

import "context"

type key struct{}

// With returns a context under which every Point calls yield: it may let other
// goroutines run first.
func With(ctx context.Context, yield func()) context.Context {
	return context.WithValue(ctx, key{}, yield)
}

// Point is where a test may let other goroutines run first. Without a test it
// does nothing.
func Point(ctx context.Context) {
	if yield, ok := ctx.Value(key{}).(func()); ok {
		yield()
	}
}
