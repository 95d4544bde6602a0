package mem_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A twinLanding is the last merge of a place.
type twinLanding struct {
	spec, real ports.MergeSpec
	were       []ports.ConflictPath
	tree       string // in memory
}

// FuzzLandingInMemoryIsLikeGit does the same to landings in a repository in
// memory and in a real one, puts back in the middle, and compares whatever can
// be seen of them.
func FuzzLandingInMemoryIsLikeGit(f *testing.F) {
	for n := range uint64(6) {
		f.Add(randomScript(100 + n))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		newTwin(boundTB{t, ctx}, script).land()
	})
}

// land does what the script says about landings, up to a number of things.
func (w *twin) land() {
	for _, p := range w.places {
		w.open(p)
	}
	last := map[*twinPlace]*twinLanding{}
	for range 40 {
		if len(w.script) == 0 {
			break
		}
		p := pick(w, w.places)
		if p.mem == nil {
			w.open(p)
			continue
		}
		if l := last[p]; l != nil && w.next(2) == 0 {
			w.inLanding(p, l)
		} else {
			w.aroundLanding(p, last)
		}
		for _, p := range w.places {
			w.at(p)
			if p.mem != nil {
				w.same("the files of "+p.Namespace, w.read(p.mem.Tree()), w.read(p.git.Tree()))
			}
			if l := last[p]; l != nil && p.mem != nil {
				w.held(p, l)
			}
		}
	}
	w.salvaged()
}

// aroundLanding does what leads to a merge, or is done beside one.
func (w *twin) aroundLanding(p *twinPlace, last map[*twinPlace]*twinLanding) {
	switch w.next(14) {
	case 0, 1:
		w.write(p)
	case 12, 13, 2:
		w.step(p)
	case 3:
		w.remove(p)
	case 4, 5:
		w.commitAll(p)
	case 6:
		w.putBack(p)
	case 7:
		w.inspect(p)
	case 8:
		switch w.next(4) {
		case 0:
			w.clear()
		case 1:
			w.reimport()
		case 2:
			w.move(p)
		case 3:
			w.open(p)
		}
	default:
		w.mergeInto(p, last)
	}
}

// inLanding goes on with a landing, in whatever order.
func (w *twin) inLanding(p *twinPlace, l *twinLanding) {
	switch w.next(9) {
	case 0, 1:
		w.resolve(p, l)
	case 2, 3:
		w.commitMerge(p, l)
	case 4:
		w.settle(p, l)
	case 5:
		w.snapshot(p)
	case 6:
		w.restore(p)
	case 7:
		w.conclude(p)
	case 8:
		w.putBack(p)
	}
}

// step commits changes of a place on what its branch is at, if that can be.
func (w *twin) step(p *twinPlace) {
	for range 1 + w.next(3) {
		if w.next(4) == 0 {
			w.remove(p)
		} else {
			w.write(p)
		}
	}
	head := w.at(p)
	w.do("a step of %s on %.7s", p.Namespace, head)
	spec := ports.CommitSpec{Head: head, Message: "step", Identity: "Rob Robot <rob@example.com>", Date: time.Unix(1e9, 0)}
	made, err := p.mem.Commit(w.Context(), spec)
	spec.Head = w.real[head]
	real, realErr := p.git.Commit(w.Context(), spec)
	if w.sameError(err, realErr) {
		w.commit(made.ID, real.ID)
		w.learn(made.Tree, real.Tree)
		w.sameError(w.memTrees.Move(w.Context(), p.Branch, head, made.ID), w.gitTrees.Move(w.Context(), p.Branch, w.real[head], real.ID))
	}
}

func (w *twin) mergeInto(p *twinPlace, last map[*twinPlace]*twinLanding) {
	other := w.places[0]
	if p == other {
		other = w.places[1]
	}
	spec := ports.MergeSpec{Head: w.at(p), Theirs: w.at(other), Branch: other.Branch, Into: p.Branch}
	if w.next(8) == 0 {
		spec.Head, spec.Theirs = w.some(p), w.some(other)
	}
	real := spec
	real.Head, real.Theirs = w.real[spec.Head], w.real[spec.Theirs]
	w.do("merge %.7s into %s at %.7s", spec.Theirs, p.Namespace, spec.Head)
	m, err := w.mem.Integrator().Merge(w.Context(), p.mem, spec)
	if errors.Is(err, mem.ErrUnsupported) {
		return
	}
	got, realErr := w.git.Integrator().Merge(w.Context(), p.git, real)
	if err != nil && realErr != nil {
		return // of several reasons each tells one
	}
	if got.Blocked && ports.KindOf(err) == ports.Conflicted {
		return // by an untracked file
	}
	if !w.sameError(err, realErr) {
		return
	}
	w.same("the message", m.Message, got.Message)
	for _, c := range got.Conflicts {
		if !slices.ContainsFunc(m.Conflicts, func(own ports.ConflictPath) bool { return own.Path == c.Path && own.Kind == c.Kind }) {
			w.fail("git has a conflict %+v, and in memory there are %+v", c, m.Conflicts)
		}
	}
	l := &twinLanding{spec: spec, real: real, were: m.Conflicts, tree: m.Tree}
	if len(m.Conflicts) > len(got.Conflicts) { // git could merge it by its lines
		w.do("give it up")
		done, err := p.mem.PutBack(w.Context(), spec.Head, "given up")
		real, realErr := p.git.PutBack(w.Context(), real.Head, "given up")
		w.put(done, real, err, realErr)
		delete(last, p)
		return
	}
	last[p] = l
	if len(m.Conflicts) == 0 {
		w.learn(m.Tree, got.Tree)
		return
	}
	w.held(p, l)
	// Between the markers there is more in memory.
	ours, theirs := w.read(p.mem.Tree()), w.read(p.git.Tree())
	for _, c := range m.Conflicts {
		if ours[c.Path] == theirs[c.Path] {
			continue
		}
		text := []byte(pick(w, twinTexts))
		w.do("write %q in %s: %.20q", c.Path, p.Namespace, text)
		if err := errors.Join(p.mem.WriteFile(w.Context(), c.Path, text), os.WriteFile(filepath.Join(p.git.Dir(), c.Path), text, 0o644)); err != nil {
			w.fail("%v", err)
		}
	}
}

// held compares what a place holds.
func (w *twin) held(p *twinPlace, l *twinLanding) {
	w.Helper()
	held, err := w.mem.Integrator().Held(w.Context(), p.mem, l.spec)
	real, realErr := w.git.Integrator().Held(w.Context(), p.git, l.real)
	if w.sameError(err, realErr) {
		w.same("what "+p.Namespace+" holds", held, real)
	}
}

func (w *twin) resolve(p *twinPlace, l *twinLanding) {
	if w.at(p) != l.spec.Head {
		return // git may take it for a merge that somebody has committed
	}
	were := l.were[:w.next(len(l.were)+1)]
	if w.next(2) == 0 {
		were = l.were
	}
	w.do("take the resolution in %s of %v", p.Namespace, were)
	m, err := w.mem.Integrator().Resolve(w.Context(), p.mem, l.spec, were)
	real, realErr := w.git.Integrator().Resolve(w.Context(), p.git, l.real, were)
	if !w.sameError(err, realErr) {
		return
	}
	for _, conflicts := range [][]ports.ConflictPath{m.Conflicts, real.Conflicts} {
		for i, c := range conflicts {
			if conflicts[i].Note = ""; c.Kind != ports.ConflictMarkers {
				conflicts[i].Kind = ""
			}
		}
	}
	w.same("the conflicts", m.Conflicts, real.Conflicts)
	w.same("the message", m.Message, real.Message)
	w.learn(m.Tree, real.Tree)
	if m.Tree != "" {
		l.tree = m.Tree
	}
}

func (w *twin) commitMerge(p *twinPlace, l *twinLanding) {
	if l.tree == "" {
		return
	}
	w.do("commit the merge in %s", p.Namespace)
	spec := ports.CommitSpec{Head: l.spec.Head, Message: "merge", Identity: "Rob Robot <rob@example.com>", Date: time.Unix(1e9, 0)}
	made, err := w.mem.Integrator().Commit(w.Context(), l.spec, l.tree, spec)
	spec.Head = l.real.Head
	real, realErr := w.git.Integrator().Commit(w.Context(), l.real, w.real[l.tree], spec)
	if !w.sameError(err, realErr) {
		return
	}
	w.commit(made.ID, real.ID)
	w.same("whether the merge is empty", made.Empty, real.Empty)
	if w.next(4) == 0 {
		return
	}
	w.do("move %s there", p.Namespace)
	err = w.memTrees.Move(w.Context(), p.Branch, l.spec.Head, made.ID)
	if w.sameError(err, w.gitTrees.Move(w.Context(), p.Branch, l.real.Head, real.ID)) && w.next(4) > 0 {
		w.conclude(p)
	}
}

func (w *twin) conclude(p *twinPlace) {
	commit := w.some(p)
	w.do("conclude in %s at %.7s", p.Namespace, commit)
	done, err := w.mem.Integrator().Conclude(w.Context(), p.mem, commit, "concluded")
	real, realErr := w.git.Integrator().Conclude(w.Context(), p.git, w.real[commit], "concluded")
	w.put(done, real, err, realErr)
}

func (w *twin) settle(p *twinPlace, l *twinLanding) {
	if l.tree == "" {
		return
	}
	w.do("settle %s", p.Namespace)
	done, err := w.mem.Integrator().Settle(w.Context(), p.mem, l.tree, "settled")
	real, realErr := w.git.Integrator().Settle(w.Context(), p.git, w.real[l.tree], "settled")
	w.put(done, real, err, realErr)
}

func (w *twin) snapshot(p *twinPlace) {
	w.do("take a snapshot of %s", p.Namespace)
	spec := ports.CommitSpec{Head: w.some(p), Message: "kept", Identity: "Rob Robot <rob@example.com>", Date: time.Unix(1e9, 0)}
	id, err := w.mem.Integrator().Snapshot(w.Context(), p.mem, spec)
	spec.Head = w.real[spec.Head]
	real, realErr := w.git.Integrator().Snapshot(w.Context(), p.git, spec)
	if w.sameError(err, realErr) {
		w.commit(id, real)
	}
}

func (w *twin) restore(p *twinPlace) {
	commit := w.some(p)
	w.do("restore %.7s in %s", commit, p.Namespace)
	done, err := w.mem.Integrator().Restore(w.Context(), p.mem, commit, "restored")
	real, realErr := w.git.Integrator().Restore(w.Context(), p.git, w.real[commit], "restored")
	w.put(done, real, err, realErr)
}

// put compares what was put back.
func (w *twin) put(done, real ports.PutBack, err, realErr error) {
	w.Helper()
	if w.sameError(err, realErr) {
		if (done.Salvage != nil) != (real.Salvage != nil) {
			w.fail("only one has something to salvage:\nmemory: %+v\n   git: %+v", done.Salvage, real.Salvage)
		}
		if done.Salvage != nil {
			w.salvage(*done.Salvage, *real.Salvage)
		}
	}
}
