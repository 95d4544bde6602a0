// Package schedule lets a test change the order in which the goroutines of a
// workflow come to its durable points.
package schedule

import "context"

type key struct{}

// With returns a context under which every Point calls yield: it may let other
// goroutines run first.
func With(ctx context.Context, yield func(point string)) context.Context {
	return context.WithValue(ctx, key{}, yield)
}

// Point is where a test may let other goroutines run first; its name is the
// same each time that the workflow comes here. Without a test it does nothing.
func Point(ctx context.Context, name string) {
	if yield, ok := ctx.Value(key{}).(func(string)); ok {
		yield(name)
	}
}
