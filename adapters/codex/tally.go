package codex

import "example.com/agl/ports"

// A tally sums what a turn used. Each thread, ours or a nested agent's, tells its
// own sum, so that none is counted twice.
type tally map[string]ports.Usage

// thread takes what a thread has used by now, and reports whether the sum has
// changed. No figure falls.
func (u tally) thread(id string, told *tokens) bool {
	if told == nil {
		return false
	}
	was := u[id]
	u[id] = ports.Usage{
		Input:     max(was.Input, int64(told.Input-min(told.Cached, told.Input))),
		Cached:    max(was.Cached, int64(told.Cached)),
		Output:    max(was.Output, int64(told.Output)),
		Reasoning: max(was.Reasoning, int64(told.Reasoning)),
	}
	return u[id] != was
}

// sum returns what was used so far. It is not said to be complete.
func (u tally) sum() (sum ports.Usage) {
	for _, of := range u {
		sum = sum.Add(of)
	}
	return sum
}
