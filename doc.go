// Package agl is for writing agent workflows as plain Go functions.
//
// A workflow declares roles — an [Editor] changes the repository, a [Reader]
// does not — and calls [Run.Step] inside ordinary Go control flow. Each step
// runs a coding agent in a git worktree of the run's own, and its result is
// recorded. A run that was killed is resumed by calling the function again:
// what is recorded is returned, what is not is done.
//
// # Rules for a workflow's function
//
// The verbs of [Run] are the durable points. Between them the function must be
// a function of its parameters and of what the verbs returned: no clock, no
// randomness, no files, no environment ([Func] records what those give). A
// resume calls the function at least twice, first with nothing run, to see
// whether it still asks for what is recorded; so nothing outside the verbs may
// have effects. Return a verb's error when you get it, or decide by it
// (errors.As with [LimitError], errors.Is with a [Kind]): it is recorded like
// a result. An error while the run is being checked or stopped is not yours to
// handle: the verbs that follow return it again, so a loop that goes on after
// an error must end at some count.
//
// One verb at a time runs on one Run.
//
// # What a failure is
//
// A step that fails is recorded too, with what it used, and its checkout is
// salvaged and put back. If the workflow ended in that failure, a resume tries
// the step again; if it went on after it, the failure stands and a resume goes
// the same way, until [ResumeOptions].Retry. A cancelled step is not recorded.
//
// # What is on disk
//
// Everything a run has is in its store (its records) and in the repository:
// the branch agl/<label>, and refs/agl/, where salvage is kept. The operator's
// own checkout is never touched.
package agl
