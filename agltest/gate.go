package agltest

import (
	"context"
	"errors"
	"io/fs"
	"runtime/debug"
	"time"

	"example.com/agl"
	"example.com/agl/ports"
)

// VerifierFails makes the next verifications of the build gate fail, so many
// times, with this output; then they pass again, or find what Gate's function
// does. A verification that a crash interrupted finds the same when it runs
// again on the same files.
func (h *Harness) VerifierFails(output string, times int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate.red, h.gate.output, h.gate.counts = times, output, true
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

// A gate is the build gate: it finds what it was told to.
type gate struct {
	command string

	// The rest is guarded by the harness.
	red    int // so many verifications are still to fail
	output string
	counts bool // some were to fail
	found  map[verification]*finding
	find   func(tree fs.FS) error // nil: it passes
}

// A verification is a run of the gate for a verb on some files.
type verification struct {
	verb  ports.Verb
	files string
}

// A finding is whether a verification was made to fail, and in which process.
type finding struct {
	red    bool
	output string
	life   *life
}

// verifier is the gate as one process sees it.
type verifier struct {
	h    *Harness
	life *life
}

func (v verifier) Gate() ports.Gate {
	return ports.Gate{Command: v.h.gate.command, Timeout: time.Minute}
}

func (v verifier) Verify(ctx context.Context, task ports.VerifyTask) (ports.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return ports.Verdict{}, err
	}
	was, err := v.counted(ctx, task)
	switch {
	case err != nil:
		return ports.Verdict{}, err
	case was.red:
		return ports.Verdict{Output: was.output}, nil
	}
	v.h.mu.Lock()
	find := v.h.gate.find
	v.h.mu.Unlock()
	if find == nil {
		return ports.Verdict{Passed: true}, nil
	}
	found := errors.New("the gate's function has ended its goroutine")
	done := make(chan struct{})
	go func() { // of its own, which a require in find can end
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				v.h.t.Logf("agltest: panic in the gate's function: %v\n%s", p, debug.Stack())
				found = ports.Internal.Errorf("", "panic in the gate's function: %v", p)
			}
		}()
		found = find(task.Tree)
	}()
	<-done
	switch {
	case found == nil:
		return ports.Verdict{Passed: true}, nil
	case agl.KindOf(found) != "":
		return ports.Verdict{}, found
	default:
		return ports.Verdict{Output: found.Error()}, nil
	}
}

// counted says whether a verification is one of those that are to fail.
func (v verifier) counted(ctx context.Context, task ports.VerifyTask) (finding, error) {
	g := &v.h.gate
	v.h.mu.Lock()
	defer v.h.mu.Unlock()
	if !g.counts {
		return finding{}, nil
	}
	verb, _ := ports.VerbOf(ctx)
	files, err := digest(task.Tree)
	if err != nil {
		return finding{}, err
	}
	at := verification{verb, files}
	was := g.found[at]
	if was == nil || !was.life.interrupted(v.life) {
		was = &finding{red: g.red > 0, output: g.output}
		if was.red {
			g.red--
		}
		g.found[at] = was
	}
	was.life = v.life
	return *was, nil
}
