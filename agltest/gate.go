package agltest

import (
	"context"
	"slices"

	"example.com/agl/internal/mem"
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

// A gate says what the build gate finds. It is guarded by the harness.
type gate struct {
	command string
	red     []string // the outputs of those that are still to fail
	found   map[place]*finding
}

// A finding is what a verification came to, and in which process.
type finding struct {
	verdict ports.Verdict
	life    *life
}

// verifier returns the gate as one process sees it.
func (h *Harness) verifier(l *life) ports.Verifier {
	return &mem.Verifier{Command: h.gate.command, Find: func(ctx context.Context, _ int) (ports.Verdict, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		verb, _ := ports.VerbOf(ctx)
		at := place{h.Label, verb}
		was := h.gate.found[at]
		if was == nil || !was.life.interrupted(l) {
			was = &finding{verdict: ports.Verdict{Passed: len(h.gate.red) == 0}}
			if len(h.gate.red) > 0 {
				was.verdict.Output, h.gate.red = h.gate.red[0], h.gate.red[1:]
			}
			h.gate.found[at] = was
		}
		was.life = l
		return was.verdict, nil
	}}
}
