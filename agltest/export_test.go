package agltest

import (
	"context"
	"testing"

	"example.com/agl"
	"example.com/agl/ports"
)

// Break puts something broken before the ports of every process of the run.
func (h *Harness) Break(broken func(ports.Set) ports.Set) { h.broken = broken }

// Points returns the crash points that the run has passed, of all processes.
func (h *Harness) Points() []string {
	var names []string
	for _, l := range h.lives {
		for _, p := range l.passed() {
			names = append(names, p.String())
		}
	}
	return names
}

// CrashOneByOne is CrashEverywhere for a test that is expected to fail.
func CrashOneByOne(t testing.TB, build func(t testing.TB) *Harness, job agl.Job, def agl.Definition) {
	t.Helper()
	proof, err := surveyTwice(build(t), func() *Harness { return build(t) }, job, def)
	if err != nil {
		t.Fatalf("agltest: CrashEverywhere: %v", err)
	}
	for _, pass := range proof.passes() {
		for _, p := range pass.points {
			proof.crash(build(t), p, pass.death)
		}
	}
}

// Terminal returns the person as a process of the run sees it.
func (h *Harness) Terminal() ports.Terminal { return terminal{h, &life{h: h}} }

// Seat has somebody answer who takes their time.
func (h *Harness) Seat(ask func(ctx context.Context, q ports.Question) (string, error)) {
	h.person = ask
}
