package claude

import "example.com/agl/ports"

// A tally sums what a turn used, as far as it was told. Its figures never fall.
type tally struct {
	done    ports.Usage // of the messages before
	current ports.Usage // of the message that is being written
	id      string      // of that
	whole   ports.Usage // what the program says at the end
}

// message takes the usage that is told with a message, or a part of it. It
// reports whether the sum has changed.
func (u *tally) message(id string, told *tokens) bool {
	if id != u.id {
		u.done, u.current, u.id = u.done.Add(u.current), ports.Usage{}, id
	}
	return u.more(told)
}

// more takes what the message that is being written has used by now.
func (u *tally) more(told *tokens) bool {
	if told == nil {
		return false
	}
	before := u.sum()
	u.current = most(u.current, told.usage())
	return u.sum() != before
}

// final takes the program's own sum.
func (u *tally) final(result *message) bool {
	before := u.sum()
	if result.Usage != nil {
		u.whole = result.Usage.usage()
		u.whole.Complete = true
	}
	var all ports.Usage
	for _, m := range result.ModelUsage {
		all.Input += int64(m.Input + m.CacheWrite)
		all.Cached += int64(m.CacheRead)
		all.Output += int64(m.Output)
	}
	complete := u.whole.Complete
	u.whole = most(u.whole, all)
	u.whole.Cost, u.whole.Complete = max(0, result.Cost), complete
	return u.sum() != before
}

// sum returns what was used so far. It is complete once the program has told
// its sum.
func (u *tally) sum() ports.Usage {
	sum := most(u.done.Add(u.current), u.whole)
	sum.Cost, sum.Complete = u.whole.Cost, u.whole.Complete
	return sum
}

// most takes the larger of each number of tokens: both are sums of the same
// things, and one may have missed something.
func most(a, b ports.Usage) ports.Usage {
	return ports.Usage{Input: max(a.Input, b.Input), Output: max(a.Output, b.Output), Cached: max(a.Cached, b.Cached)}
}
