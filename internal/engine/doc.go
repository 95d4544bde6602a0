// Package engine runs workflows over the ports: it calls a workflow's
// function, answers its verbs from the record or runs them, and records what
// came of it. It is untyped: values are JSON, and package agl puts the types
// on.
//
// The path of a verb: run.go takes it (one at a time in a namespace), walk.go
// compares it with the next record, attempt.go prepares the checkout, step.go,
// call.go and gate.go run it, ending.go concludes it and records it. A resume
// adds recover.go (finish what a dead process left), plan.go (call the
// function with nothing run) and supersede.go (give records up).
package engine
