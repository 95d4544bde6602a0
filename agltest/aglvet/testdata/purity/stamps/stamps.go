// want package:"functions"

// Package stamps knows nothing of workflows.
package stamps

import (
	"os"
	"time"
)

// Debug differs from one process to the next.
var Debug = os.Getenv("DEBUG") != ""

// Clock is a function in a variable.
var Clock = time.Now

// Stamp is a time.
type Stamp struct{ time.Time }

// Age reads the clock.
func (s Stamp) Age() time.Duration { return time.Since(s.Time) }

// Today reads the clock, further down.
func Today() string { return Format(now()) }

// Format does not.
func Format(t time.Time) string { return t.Format(time.DateOnly) }

// ByAge is passed on.
func ByAge(a, b time.Time) int { return int(time.Since(a) - time.Since(b)) }

func now() time.Time { return time.Now() }
