package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

// orphans is how long the children of a holder that died are waited for, and
// poll how often they are looked at.
const (
	orphans = 30 * time.Second
	poll    = 50 * time.Millisecond
)

// A holder is what a lock file says of who took the lock.
type holder struct {
	proc.ID
	Since time.Time `json:"since"`
}

// String names the holder for a person.
func (h *holder) String() string {
	who := h.ID.String()
	if h.ID == proc.Self() {
		who = "this " + who
	}
	return who + ", since " + h.Since.Format(time.RFC3339)
}

// readHolder returns what f says, or nil if it says nothing: the holder is
// just writing it, or nobody holds the lock.
func readHolder(f *os.File) *holder {
	buf := make([]byte, 4096)
	n, _ := f.ReadAt(buf, 0)
	h := new(holder)
	if json.Unmarshal(buf[:n], h) != nil || h.PID <= 0 {
		return nil
	}
	return h
}

// Lock takes the run's lock.
func (s *Store) Lock(ctx context.Context, label string) (ports.Lock, error) {
	if err := s.check(ctx, label, ""); err != nil {
		return nil, err
	}
	path := s.lockPath(label)
	// It may be the first folder there is, so those above it are flushed too:
	// what is written later is only as safe as they are.
	if err := s.settle(filepath.Dir(path)); err != nil {
		return nil, failure("lock", path, err)
	}
	for began := time.Now(); ; {
		f, by, err := s.take(path)
		switch {
		case err != nil:
			return nil, failure("lock", path, err)
		case f != nil:
			sweep(s.Path(label, ""))
			return s.hold(label, f), nil
		case by != nil && by.Life() != proc.Ended:
			return nil, &ports.InUseError{Label: label, Holder: by.String()}
		case time.Since(began) >= orphans:
			return nil, &ports.InUseError{Label: label, Holder: orphan(by, path)}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(poll):
		}
	}
}

// orphan says who holds the lock at path if by, who took it, has ended.
func orphan(by *holder, path string) string {
	who := "a process that does not say who it is"
	if by != nil {
		who = fmt.Sprintf("a child of process %d, which has itself ended", by.PID)
	}
	return fmt.Sprintf("%s; wait for it or end it (it has %s open), then try again", who, path)
}

// take opens the lock file and takes the lock. It returns no file if somebody
// else has it; then who that is, if the file says it.
func (s *Store) take(path string) (*os.File, *holder, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, nil, err
		}
		got, err := claim(f, path)
		if err == nil && got == taken {
			if err = sign(f); err == nil {
				return f, nil, nil
			}
		}
		var by *holder
		if got == busy {
			by = readHolder(f)
		}
		f.Close()
		if err != nil || got == busy {
			return nil, by, err
		}
	}
}

// A claimed says what came of claiming a lock.
type claimed int

const (
	busy claimed = iota // somebody else has it
	taken
	stale // it is no longer the file that others lock
)

// claim takes the lock of f, which was opened at path. The holder may have
// removed the file since: then it is locked, but nobody's lock.
func claim(f *os.File, path string) (claimed, error) {
	ok, err := tryLock(f, true)
	switch {
	case err != nil:
		return busy, fmt.Errorf("this filesystem cannot lock files, choose an AGL_HOME on a local disk: %w", err)
	case !ok:
		return busy, nil
	case !isAt(f, path):
		return stale, nil
	}
	return taken, nil
}

// sign writes into f that this process has the lock.
func sign(f *os.File) error {
	doc, err := json.Marshal(holder{ID: proc.Self(), Since: time.Now().Round(0)})
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(doc, 0)
	return err
}

// isAt reports whether path still names f.
func isAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}

// Holder says which living process holds the run's lock, or "".
func (s *Store) Holder(ctx context.Context, label string) (string, error) {
	if err := s.check(ctx, label, ""); err != nil {
		return "", err
	}
	path := s.lockPath(label)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", failure("read", path, err)
	}
	defer f.Close()
	by := readHolder(f)
	if by == nil || by.Life() == proc.Ended {
		return "", nil
	}
	// Nobody who wants the lock is disturbed: while the holder has it, this
	// does not get it either.
	free, err := tryLock(f, false)
	if err != nil {
		return "", failure("read", path, err)
	}
	if free {
		return "", unlock(f)
	}
	return by.String(), nil
}

// lock is a lock that is held.
type lock struct {
	store *Store
	label string
	path  string
	once  sync.Once
	err   error

	mu    sync.Mutex
	files []*os.File // the last is the one at path; the others' were removed
}

// hold returns the lock of a run, whose file is locked.
func (s *Store) hold(label string, f *os.File) *lock {
	l := &lock{store: s, label: label, path: s.lockPath(label), files: []*os.File{f}}
	s.mu.Lock()
	s.held[label] = l
	s.mu.Unlock()
	return l
}

// stillHeld sees to it that a run whose lock this store holds is its own:
// whoever removes a lock file, taking it for a dead one's, lets another process
// in. If none came, the lock is taken again.
func (s *Store) stillHeld(label string) error {
	s.mu.Lock()
	l := s.held[label]
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if isAt(l.files[len(l.files)-1], l.path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return failure("lock", l.path, err)
	}
	f, by, err := s.take(l.path)
	switch {
	case err != nil:
		return failure("lock", l.path, err)
	case f == nil && by == nil:
		return &ports.InUseError{Label: label, Holder: orphan(by, l.path)}
	case f == nil:
		return &ports.InUseError{Label: label, Holder: by.String() + ", which took its lock when the lock file was removed"}
	}
	l.files = append(l.files, f)
	return nil
}

// Files returns the lock's descriptor, for children to inherit.
func (l *lock) Files() []*os.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.files)
}

// Release lets go of the lock, whoever has inherited it.
func (l *lock) Release() error {
	l.once.Do(func() {
		l.store.mu.Lock()
		delete(l.store.held, l.label)
		l.store.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		last := l.files[len(l.files)-1]
		err := last.Truncate(0)
		if _, statErr := os.Lstat(l.store.Path(l.label, "")); errors.Is(statErr, fs.ErrNotExist) && isAt(last, l.path) {
			// Harmless if it fails: it is an empty file.
			_ = os.Remove(l.path)
		}
		for _, f := range l.files {
			err = errors.Join(err, unlock(f), f.Close())
		}
		l.err = failure("unlock", l.path, err)
	})
	return l.err
}
