package porttest

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"example.com/agl/ports"
)

// ClockOptions say how to get at the clocks to be graded. New is required; a
// rule that needs something that is not given is skipped, saying so.
type ClockOptions struct {
	// New returns a clock that shares nothing with any other but the time.
	New func(t testing.TB) ports.Clock

	// Advance moves a clock on. Nil: it moves by itself.
	Advance func(t testing.TB, c ports.Clock, d time.Duration)

	// System says that the clock tells this machine's time.
	System bool
}

// Clock grades an implementation of ports.Clock. Each rule of its contract is
// a parallel subtest.
func Clock(t *testing.T, opts ClockOptions) {
	t.Helper()
	grade(t, clockRules, opts.subject)
}

// clock is what the rules are checked against.
type clock struct {
	ports.Clock
	opts ClockOptions
}

func (o ClockOptions) subject(t testing.TB) clock { return clock{o.New(t), o} }

var clockRules = []rule[clock]{
	{
		"time does not go back",
		"Of two readings, one after the other, the second is not before the first.",
		func(c *check, clk clock) {
			for last, n := clk.Now(), 0; n < 2000; n++ {
				now := clk.Now()
				if now.Before(last) {
					c.Fatalf("%v was read after %v; want it not before", now, last)
				}
				last = now
			}
		},
	},
	{
		"time does not go back between goroutines",
		"A clock may be read by several goroutines at once; what one reads after another has is not before it.",
		func(c *check, clk clock) {
			readings := make(chan time.Time, 1)
			readings <- clk.Now()
			c.together(8, func(int) {
				for range 200 {
					last := <-readings
					now := clk.Now()
					if now.Before(last) {
						c.Errorf("%v was read after %v; want it not before", now, last)
					}
					readings <- now
					_ = clk.Now() // as others do
				}
			})
		},
	},
	{
		"time goes on",
		"A clock moves: by itself, or by as much as it is told to.",
		func(c *check, clk clock) {
			first := clk.Now()
			if clk.opts.Advance == nil {
				for !clk.Now().After(first) {
					if c.Context().Err() != nil {
						c.told("it stands still at %v; want a later time", first)
						c.FailNow()
					}
					runtime.Gosched()
				}
				return
			}
			clk.opts.Advance(c, clk.Clock, time.Hour)
			if passed := clk.Now().Sub(first); passed < time.Hour || passed > time.Hour+time.Minute {
				c.Errorf("it was moved by an hour, and %v have passed; want an hour", passed)
			}
		},
	},
	{
		"a time is one that can be recorded",
		"A reading is a real instant, which is the same when it was written as JSON and read again.",
		func(c *check, clk clock) {
			now := clk.Now()
			if now.IsZero() {
				c.Errorf("the time is zero, which stands for none; want an instant")
			}
			doc, err := json.Marshal(now)
			c.must(err, "writing it")
			var read time.Time
			c.must(json.Unmarshal(doc, &read), "reading it")
			if !read.Equal(now) {
				c.Errorf("it was written, and read as %v; want %v", read, now)
			}
		},
	},
	{
		"the time is the machine's",
		"A clock of the system tells this machine's time.",
		func(c *check, clk clock) {
			c.needs(clk.opts.System, "ClockOptions.System")
			before := time.Now()
			now := clk.Now()
			if after := time.Now(); now.Before(before) || now.After(after) {
				c.Errorf("it is %v; want it between %v and %v", now, before, after)
			}
		},
	},
}
