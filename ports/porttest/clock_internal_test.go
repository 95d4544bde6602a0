package porttest

import (
	"sync"
	"testing"
	"time"

	"example.com/agl/ports"
)

// A brokenClock tells what it is made of.
type brokenClock func() time.Time

func (c brokenClock) Now() time.Time { return c() }

func breakClock(now brokenClock) func(testing.TB) clock {
	return ClockOptions{New: func(testing.TB) ports.Clock { return now }, System: true}.subject
}

func TestTheClockSuiteFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	names(t, clockRules)
	var mu sync.Mutex
	n := 0
	count := func() int { mu.Lock(); defer mu.Unlock(); n++; return n }
	find(t, clockRules, []broken[clock]{
		{fault: "jumps back now and then", rule: "time does not go back", fresh: breakClock(func() time.Time {
			return time.Now().Add(-time.Hour * time.Duration(count()%7))
		})},
		{fault: "jumps back between goroutines", rule: "time does not go back between goroutines", fresh: breakClock(func() time.Time {
			return time.Now().Add(-time.Hour * time.Duration(count()%7))
		})},
		{fault: "stands still", rule: "time goes on", says: "it stands still", limit: 100 * time.Millisecond, fresh: breakClock(func() time.Time {
			return time.Unix(1e9, 0)
		})},
		{fault: "cannot be moved", rule: "time goes on", says: "moved by an hour, and 0s", fresh: ClockOptions{
			New:     func(testing.TB) ports.Clock { return brokenClock(func() time.Time { return time.Unix(1e9, 0) }) },
			Advance: func(testing.TB, ports.Clock, time.Duration) {},
		}.subject},
		{fault: "is unset", rule: "a time is one that can be recorded", says: "stands for none", fresh: breakClock(func() time.Time {
			return time.Time{}
		})},
		{fault: "is beyond the calendar", rule: "a time is one that can be recorded", fresh: breakClock(func() time.Time {
			return time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
		})},
		{fault: "is slow", rule: "the time is the machine's", fresh: breakClock(func() time.Time {
			return time.Now().Add(-time.Minute)
		})},
		{fault: "never answers", rule: "time does not go back", says: "it hangs", limit: 50 * time.Millisecond, fresh: breakClock(func() time.Time {
			select {}
		})},
	})
}
