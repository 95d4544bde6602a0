package agltest

import (
	"context"
	"slices"
	"time"

	"example.com/agl/ports"
)

// VerifierFails makes the next verifications of the build gate fail, so many
// times, with this output; then they pass again. Further calls add failures. A
// verification that a crash interrupted finds the same when it runs again.
func (h *Harness) VerifierFails(output string, times int) {
	h.t.Helper()
	if times < 1 {
		h.t.Fatalf("agltest: VerifierFails %d times", times)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate.red = append(h.gate.red, slices.Repeat([]string{output}, times)...)
}

// A gate is the build gate: it finds what it was told to.
type gate struct {
	command string

	// The rest is guarded by the harness.
	red   []string // the outputs of those that are still to fail
	found map[ports.Verb]*finding
}

// A finding is what a verification came to, and in which process.
type finding struct {
	verdict ports.Verdict
	life    *life
}

// verifier is the gate as one process sees it.
type verifier struct {
	h    *Harness
	life *life
}

func (v verifier) Gate() ports.Gate {
	return ports.Gate{Command: v.h.gate.command, Timeout: time.Minute}
}

func (v verifier) Verify(ctx context.Context, _ ports.VerifyTask) (ports.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return ports.Verdict{}, err
	}
	v.h.mu.Lock()
	defer v.h.mu.Unlock()
	g := &v.h.gate
	verb, _ := ports.VerbOf(ctx)
	was := g.found[verb]
	if was == nil || !was.life.interrupted(v.life) {
		was = &finding{verdict: ports.Verdict{Passed: len(g.red) == 0}}
		if len(g.red) > 0 {
			was.verdict.Output, g.red = g.red[0], g.red[1:]
		}
		g.found[verb] = was
	}
	was.life = v.life
	return was.verdict, nil
}
