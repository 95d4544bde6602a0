// Package bench measures AGL against limits of the machine that are measured
// in the same run:
//
//	go test -bench . ./internal/bench
//
// Each benchmark prints a ratio beside its time: of what AGL takes to what the
// bare operations it cannot do without take. Nothing fails on a slow machine.
package bench
