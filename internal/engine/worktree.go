package engine

import (
	"context"
	"fmt"

	"example.com/agl/internal/ledger"
	"example.com/agl/internal/schedule"
	"example.com/agl/ports"
)

// Worktree returns a child run with a checkout of its own, based on this run's
// head, or on the base that is recorded. The checkout is made when something
// first works in it.
func (r *Run) Worktree(ctx context.Context, name string) (*Run, error) {
	w, parent := r.walk, r.space
	op := "worktree " + name
	schedule.Point(ctx, op)
	if err := ports.CheckName("worktree", name); err != nil {
		return nil, fmt.Errorf("%w; nothing was opened: mend the workflow, or what names it, then resume", err)
	}
	if err := w.begin(); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	defer w.verbs.Done()
	if parent.missed.Load() != nil {
		return nil, errDry
	}
	s, err := w.claim(name, parent)
	if err != nil {
		return nil, err
	}
	opened := w.x.book.Opened(name)
	if opened != nil && (w.gone(opened.Seq) || opened.Parent != parent.name) {
		opened = nil // it is given up, or it was another's
	}
	switch {
	case opened != nil:
		w.saw(opened)
		if !w.dry {
			w.x.tellUngated()
			w.x.publish(name, ports.Hit{Record: planRecord(opened)})
		}
	case w.dry:
		s.missed.Store(w.unopened(s))
	default:
		w.x.tellUngated()
		if err := w.open(ctx, s); err != nil {
			w.disclaim(s) // its name is free still
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	return &Run{walk: w, space: s}, nil
}

// tellUngated tells, once, that nothing is built before it lands: whoever opens
// a worktree is about to land it.
func (x *execution) tellUngated() {
	if x.gate() != "" {
		return
	}
	x.ungated.Do(func() {
		x.note("", "the project has no build command: whatever merges cleanly lands unbuilt; set one (AGL_BUILD, or build in project.toml: agl init --build)")
	})
}

// claim enters the namespace of a worktree, once in a walk.
func (w *walk) claim(name string, parent *namespace) (*namespace, error) {
	// The book is asked first: another may hold it while it writes.
	s, namespaces := w.enter(name, parent), w.x.book.Namespaces()
	w.mu.Lock()
	defer w.mu.Unlock()
	for other := range w.spaces {
		if ports.FoldName(other) == ports.FoldName(name) {
			hint := ""
			if parent.name != ports.Base {
				hint = fmt.Sprintf(", say %s-%s", parent.name, name)
			}
			return nil, ports.Invalid.Errorf("worktree "+name,
				"there is a worktree %s already; keep the *Run, or give each a name of its own in the whole run, whatever it is opened from%s (the case of letters makes no difference)", other, hint)
		}
	}
	for _, other := range namespaces {
		if other != name && ports.FoldName(other) == ports.FoldName(name) {
			return nil, ports.Conflicted.Errorf("worktree "+name, "the run has a worktree %s, which differs by case alone", other)
		}
	}
	w.spaces[name] = s
	return s, nil
}

// disclaim gives up a claim.
func (w *walk) disclaim(s *namespace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.spaces, s.name)
}

// unopened explains a worktree that is not recorded.
func (w *walk) unopened(s *namespace) *ports.Miss {
	m := &ports.Miss{Kind: ports.KindOpened, Name: s.name}
	if other := w.x.book.Opened(s.name); other != nil && other.Parent != s.parent.name {
		instead := planRecord(other)
		m.Instead = &instead
		m.Changes = []ports.TermChange{{Term: "parent", Was: other.Parent, Now: s.parent.name}}
	}
	return m
}

// open records a worktree that is not recorded, at its parent's head.
func (w *walk) open(ctx context.Context, s *namespace) error {
	x := w.x
	x.structure.Lock()
	defer x.structure.Unlock()
	switch err := w.halted(); {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ended(ctx, "")
	}
	if err := x.check(ctx); err != nil {
		return w.stop(err)
	}
	ctx = ports.WithVerb(ctx, ports.Verb{Namespace: s.name, Kind: ports.KindOpened, Name: s.name, Ordinal: 1})
	if err := w.reopen(ctx, s); err != nil {
		return err
	}
	was, err := x.engine.set.Workspaces.Branch(ctx, s.branch)
	if err != nil {
		return w.stop(err)
	}
	if _, known := track(x.book, s.name); was != "" && was != known {
		if known == "" {
			return w.stop(&ports.InUseError{Label: x.label, Branch: s.branch})
		}
		return w.stop(strayBranch(s.branch, was, known))
	}
	base := x.book.Head(s.parent.name)
	now := x.engine.now()
	e, err := x.book.Append(context.WithoutCancel(ctx), &ports.Record{
		Kind: ports.KindOpened, Namespace: s.name, Name: s.name, Parent: s.parent.name, Before: base, Head: base,
		Terms: []ports.Term{}, Called: w.called(s.parent.name), Started: now, Ended: now,
	})
	if err != nil {
		return w.stop(fmt.Errorf("record it: %w", err))
	}
	w.saw(e)
	x.publish(s.name, ports.Opened{Parent: s.parent.name, Base: base})
	if was != "" && was != base {
		if err := x.move(ctx, []ports.Move{{Namespace: s.name, Branch: s.branch, Old: was, New: base}}); err != nil {
			return w.stop(err)
		}
	}
	return nil
}

// reopen gives up what is recorded of a worktree that was opened from another
// namespace.
func (w *walk) reopen(ctx context.Context, s *namespace) error {
	opened := w.x.book.Opened(s.name)
	if opened == nil {
		return nil
	}
	p := w.planOf(s, w.unopened(s))
	p.Unreached, p.Cost = w.x.cost(w.x.standingOn([]*ledger.Entry{opened}).entries) // those of its own worktrees as well
	if p.Diverged() {
		return w.diverge(p, opened)
	}
	s.live, s.retry = nil, 0
	if err := w.x.supersedeLocked(ctx, ledger.WhyRebuy, []*ledger.Entry{opened}); err != nil {
		return w.stop(err)
	}
	return nil
}

// track follows a namespace's branch through the records: at is where it was
// before its last move, head where it is after it. Both are "" if it never was
// anywhere.
func track(b *ledger.Book, namespace string) (at, head string) {
	if namespace == ports.Base {
		head = b.Run.Base
	}
	move := func(from, to string) {
		if from != to {
			at = from
		}
		head = to
	}
	for _, e := range b.Entries() {
		switch {
		case e.Superseded != nil:
			for _, m := range e.Superseded.Moves {
				if m.Namespace == namespace {
					move(m.Old, m.New)
				}
			}
		case e.Kind == ports.KindOpened && e.Namespace == namespace:
			if head == "" {
				head = e.Head
			}
			move(head, e.Head)
		default:
			if moved, from, to := e.Moves(); moved == namespace {
				move(from, to)
			}
		}
	}
	return at, head
}
