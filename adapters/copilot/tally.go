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
	one := ports.Usage{Cached: count(used.CacheRead), Reasoning: count(used.Reasoning)}
	if used.Input != nil {
		one.Input = max(0, count(*used.Input)-one.Cached)
	}
	if used.Output != nil {
		one.Output = count(*used.Output)
	}
	u.sum = u.sum.Add(one)
}

// count returns a number of tokens, 0 if that is none: sums of it have to fit.
func count(n int64) int64 {
	if n < 0 || n > 1<<53 {
		return 0
	}
	return n
}

// usage returns what was used so far; with whole, that is all of it.
func (u *tally) usage(whole bool) ports.Usage {
	sum := u.sum
	sum.Complete = whole && u.told && !u.missing && u.untold <= 0
	return sum
}
