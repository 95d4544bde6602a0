package proc

import (
	"context"
	"fmt"
	"strings"
	"time"

	"example.com/agl/ports"
)

var _ ports.Reaper = Reaper{}

// A Reaper ends processes by an entry of their environment. What a process
// starts inherits the entry, so it finds what left the process group, the
// session and the parent behind; it does not find what was started with
// another environment on purpose, nor what belongs to another user.
//
// It works on Linux. Elsewhere nothing is found, so what a killed AGL left
// running there goes on until it ends by itself.
type Reaper struct {
	Grace time.Duration // between SIGTERM and SIGKILL; 0 for one second
}

// Reap ends every process whose environment holds entry ("NAME=value"), this
// one excepted, until none is left, and returns a line about each: "pid 123
// (sleep 600)". What cannot be ended is Conflicted, listed.
func (r Reaper) Reap(ctx context.Context, entry string) ([]string, error) {
	name, value, ok := strings.Cut(entry, "=")
	if !ok || name == "" || value == "" || strings.ContainsRune(entry, 0) {
		return nil, ports.Invalid.Errorf("", "%q is not an entry NAME=value to find processes by", entry)
	}
	if r.Grace <= 0 {
		r.Grace = time.Second
	}
	lines, err := r.reap(ctx, entry)
	if err != nil {
		return lines, fmt.Errorf("ending the processes marked %s: %w", name, err)
	}
	return lines, nil
}
