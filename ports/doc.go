// Package ports holds the interfaces between AGL's engine and the world, and
// the plain values that cross them. It imports only the standard library.
//
// A driven adapter implements one of the interfaces ([Store], [Workspaces],
// [History], [Verifier], [Agent], [Clock], [Reaper]); a composition root puts
// the implementations into a [Set] and hands it to agl.New. The plain values
// ([Record], [RunInfo], [Plan], [Event] and the error types) are aliased by
// package agl, so that authors of workflows never need this package.
//
// Every method that can fail returns an error with a [Kind]: that is how a
// failure at the edge of the program becomes an exit code.
package ports
