package agltest

import (
	"context"
	"time"

	"example.com/agl/ports"
)

// VerifierFails makes the next verifications of the build gate fail, so many
// times, with this output; then they pass again. A verification that a crash
// interrupted finds the same when it runs again.
func (h *Harness) VerifierFails(output string, times int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate.red, h.gate.output = times, output
}

// A gate is the build gate: it finds what it was told to.
type gate struct {
	command string

	// The rest is guarded by the harness.
	red    int // so many verifications are still to fail
	output string
	found  map[ports.Verb]*finding
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
		was = &finding{verdict: ports.Verdict{Passed: g.red == 0}}
		if g.red > 0 {
			g.red--
			was.verdict.Output = g.output
		}
		g.found[verb] = was
	}
	was.life = v.life
	return was.verdict, nil
}
