// Package mem holds every port in memory: what tests run workflows over.
//
// The repository is a model of git that knows snapshots of files, commits,
// branches and putting back. What it cannot tell apart from real git (renames,
// modes, attributes, ignored files) it does not pretend to know.
package mem

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.com/agl/ports"
)

// A Store is a ports.Store in memory. The zero value is ready.
type Store struct {
	mu     sync.Mutex
	runs   map[string]map[string]document // by label, by name
	locked map[string]bool
	cuts   int // of the power
}

type document struct {
	data    []byte
	durable bool
}

var _ ports.Store = (*Store)(nil)

// Runs returns the labels that have documents.
func (s *Store) Runs(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.runs)), nil
}

// Names returns the documents of a folder.
func (s *Store) Names(ctx context.Context, label, folder string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.runs[label] {
		if path.Dir(name) == folder {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Read returns a copy of a document.
func (s *Store) Read(ctx context.Context, label, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.runs[label][name]
	if !ok {
		return nil, ports.NotFound.Errorf("", "there is no %s", s.Path(label, name))
	}
	return bytes.Clone(d.data), nil
}

// Write keeps a copy of a document.
func (s *Store) Write(ctx context.Context, label, name string, doc []byte, durability ports.Durability) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs == nil {
		s.runs = map[string]map[string]document{}
	}
	if s.runs[label] == nil {
		s.runs[label] = map[string]document{}
	}
	s.runs[label][name] = document{bytes.Clone(doc), bool(durability)}
	return nil
}

// Delete removes a document.
func (s *Store) Delete(ctx context.Context, label, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs[label], name)
	return nil
}

// Remove removes a run's documents.
func (s *Store) Remove(_ context.Context, label, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, label)
	return nil
}

// Epoch changes with each power cut.
func (s *Store) Epoch() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.Itoa(s.cuts)
}

// Path names a document as files would.
func (s *Store) Path(label, name string) string { return path.Join("memory", label, name) }

// Lock takes a run's lock.
func (s *Store) Lock(_ context.Context, label string) (ports.Lock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locked[label] {
		return nil, &ports.InUseError{Label: label, Holder: "another run in this process"}
	}
	if s.locked == nil {
		s.locked = map[string]bool{}
	}
	s.locked[label] = true
	return &lock{store: s, label: label}, nil
}

// Holder says whether the run's lock is held.
func (s *Store) Holder(_ context.Context, label string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locked[label] {
		return "this process", nil
	}
	return "", nil
}

// PowerCut drops what was not written durably, as a power cut would, and
// every lock.
func (s *Store) PowerCut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = nil
	s.cuts++
	for _, docs := range s.runs {
		maps.DeleteFunc(docs, func(_ string, d document) bool { return !d.durable })
	}
}

// Corrupt replaces a document by what edit makes of it, for tests of what a
// reader does with it.
func (s *Store) Corrupt(label, name string, edit func(doc []byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.runs[label][name]
	d.data = edit(bytes.Clone(d.data))
	s.runs[label][name] = d
}

// Documents returns the names of a run's documents that begin with prefix.
func (s *Store) Documents(label, prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.runs[label] {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

type lock struct {
	store *Store
	label string
	once  sync.Once
}

func (l *lock) Files() []*os.File { return nil }

func (l *lock) Release() error {
	l.once.Do(func() {
		l.store.mu.Lock()
		defer l.store.mu.Unlock()
		delete(l.store.locked, l.label)
	})
	return nil
}
