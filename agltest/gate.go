package agltest

import (
	"context"
	"errors"
	"io/fs"
	"runtime/debug"
	"slices"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// VerifierFails makes the next verifications of the build gate fail, so many
// times, with this output; then they pass again, or find what Gate's function
// does. Further calls add failures. A verification that a crash interrupted
// finds the same when it runs again on the same files.
func (h *Harness) VerifierFails(output string, times int) {
	h.t.Helper()
	if times < 1 {
		h.t.Fatalf("agltest: VerifierFails %d times", times)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate.red, h.gate.counts = append(h.gate.red, slices.Repeat([]string{output}, times)...), true
}

// Gate makes the build gate find what find does in the checkout that it is run
// on, of a worktree or of a merge that is to land: nil is a green verdict, an
// error a red one, with its text as the output. So two changes can be green
// alone and red together. An error that has a Kind says that the gate could
// not be run.
//
// A tree that has passed is not built again. find may be called by several
// goroutines at once, and is to find the same in the same files.
func (h *Harness) Gate(find func(tree fs.FS) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate.find = find
}

// A gate says what the build gate finds. It is guarded by the harness.
type gate struct {
	command string

	red    []string // the outputs of those that are still to fail
	counts bool     // some were to fail
	found  map[verification]*finding
	find   func(tree fs.FS) error // nil: it passes
}

// A verification is a run of the gate for a verb on some files.
type verification struct {
	at    place
	files string
}

// A finding is whether a verification was made to fail, and in which process.
type finding struct {
	red    bool
	output string
	life   *life
}

// verifier returns the gate as one process sees it.
func (h *Harness) verifier(l *life) ports.Verifier {
	return &mem.Verifier{Command: h.gate.command, Find: func(ctx context.Context, task ports.VerifyTask, _ int) (ports.Verdict, error) {
		was, err := h.counted(ctx, l, task)
		switch {
		case err != nil:
			return ports.Verdict{}, err
		case was.red:
			return ports.Verdict{Output: was.output}, nil
		}
		h.mu.Lock()
		find := h.gate.find
		h.mu.Unlock()
		if find == nil {
			return ports.Verdict{Passed: true}, nil
		}
		found := h.alone("the gate's function", func() error { return find(task.Tree) })
		switch {
		case found == nil:
			return ports.Verdict{Passed: true}, nil
		case agl.KindOf(found) != "":
			return ports.Verdict{}, found
		default:
			return ports.Verdict{Output: found.Error()}, nil
		}
	}}
}

// alone calls a function of the test's in a goroutine of its own, which a
// require in it can end.
func (h *Harness) alone(what string, do func() error) error {
	failed := errors.New(what + " has ended its goroutine")
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				h.t.Logf("agltest: panic in %s: %v\n%s", what, p, debug.Stack())
				failed = ports.Internal.Errorf("", "panic in %s: %v", what, p)
			}
		}()
		failed = do()
	}()
	<-done
	return failed
}

// counted says whether a verification is one of those that are to fail.
func (h *Harness) counted(ctx context.Context, l *life, task ports.VerifyTask) (finding, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := &h.gate
	if !g.counts {
		return finding{}, nil
	}
	verb, _ := ports.VerbOf(ctx)
	files, err := digest(task.Tree)
	if err != nil {
		return finding{}, err
	}
	at := verification{place{h.Label, verb}, files}
	was := g.found[at]
	if was == nil || !was.life.interrupted(l) {
		was = &finding{red: len(g.red) > 0}
		if was.red {
			was.output, g.red = g.red[0], g.red[1:]
		}
		g.found[at] = was
	}
	was.life = l
	return *was, nil
}
