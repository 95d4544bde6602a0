package copilot

import "example.com/agl/ports"

// A tally sums what the requests of a turn used, those of nested agents among
// them: each is told once.
type tally struct {
	sum     ports.Usage
	told    bool // there was one
	missing bool // of one it was not told
	untold  int  // work that is told of when it is done, and goes on
}

func (u *tally) add(used usage) {
	u.told = true
	if used.Input == nil || used.Output == nil {
		u.missing = true
	}
	one := ports.Usage{Cached: max(0, used.CacheRead), Reasoning: max(0, used.Reasoning)}
	if used.Input != nil {
		one.Input = max(0, *used.Input-one.Cached)
	}
	if used.Output != nil {
		one.Output = max(0, *used.Output)
	}
	u.sum = u.sum.Add(one)
}

// usage returns what was used so far; with whole, that is all of it.
func (u *tally) usage(whole bool) ports.Usage {
	sum := u.sum
	sum.Complete = whole && u.told && !u.missing && u.untold <= 0
	return sum
}
