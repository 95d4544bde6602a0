// Package mem holds every port in memory: what tests run workflows over.
//
// The repository is a model of git that knows snapshots of files, commits,
// branches, putting back, salvage and merges by path. What it cannot tell apart
// from real git (renames, attributes, ignored files) it refuses, with
// ErrUnsupported. A fuzz test holds the rest to real git.
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
	locked map[string]*lock
	cuts   int  // of the power
	full   bool // there is no room
}

type document struct {
	data    []byte
	durable bool
}

var _ ports.Store = (*Store)(nil)

// check refuses what is no name, as a store on a disk does, and a context that
// has ended. A name may be empty: the run's own folder.
func check(ctx context.Context, label, name string) error {
	for _, element := range append(elements(name), label) {
		if !isName(element) {
			return ports.Invalid.Errorf("", "%q cannot be kept: %q is no name", label+"/"+name, element)
		}
	}
	return ctx.Err()
}

func elements(name string) []string {
	if name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

func isName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r) && (r < '0' || '9' < r) && r != '.' && r != '_' && r != '-'
	})
}

// checkDocument is check of a name that must not be empty.
func checkDocument(ctx context.Context, label, name string) error {
	if name == "" {
		return ports.Invalid.Errorf("", "a document of %q has no name", label)
	}
	return check(ctx, label, name)
}

// Runs returns the labels that have documents.
func (s *Store) Runs(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.runs)), nil
}

// Names returns the documents of a folder.
func (s *Store) Names(ctx context.Context, label, folder string) ([]string, error) {
	if err := check(ctx, label, folder); err != nil {
		return nil, err
	}
	if folder != "" {
		folder += "/"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.runs[label] {
		if base, ok := strings.CutPrefix(name, folder); ok && !strings.Contains(base, "/") {
			names = append(names, base)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Read returns a copy of a document.
func (s *Store) Read(ctx context.Context, label, name string) ([]byte, error) {
	if err := checkDocument(ctx, label, name); err != nil {
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
	if err := checkDocument(ctx, label, name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		if durability == ports.Volatile {
			s.keep(label, name, document{data: bytes.Clone(doc[:len(doc)/2])})
		}
		return ports.Unavailable.Errorf("write "+s.Path(label, name), "no space left; make room, then resume")
	}
	s.keep(label, name, document{bytes.Clone(doc), bool(durability)})
	return nil
}

func (s *Store) keep(label, name string, d document) {
	if s.runs == nil {
		s.runs = map[string]map[string]document{}
	}
	if s.runs[label] == nil {
		s.runs[label] = map[string]document{}
	}
	s.runs[label][name] = d
}

// drop forgets the documents of a run for which gone is true, and a run that
// has none left.
func (s *Store) drop(label string, gone func(name string, d document) bool) {
	maps.DeleteFunc(s.runs[label], gone)
	if len(s.runs[label]) == 0 {
		delete(s.runs, label)
	}
}

// Delete removes a document.
func (s *Store) Delete(ctx context.Context, label, name string) error {
	if err := checkDocument(ctx, label, name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(label, func(other string, _ document) bool { return other == name })
	return nil
}

// Remove removes a run's documents, all at once.
func (s *Store) Remove(ctx context.Context, label, last string) error {
	if err := check(ctx, label, last); err != nil {
		return err
	}
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
func (s *Store) Lock(ctx context.Context, label string) (ports.Lock, error) {
	if err := check(ctx, label, ""); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locked[label] != nil {
		return nil, &ports.InUseError{Label: label, Holder: "another run in this process"}
	}
	if s.locked == nil {
		s.locked = map[string]*lock{}
	}
	s.locked[label] = &lock{store: s, label: label}
	return s.locked[label], nil
}

// Holder says whether the run's lock is held.
func (s *Store) Holder(ctx context.Context, label string) (string, error) {
	if err := check(ctx, label, ""); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locked[label] != nil {
		return "this process", nil
	}
	return "", nil
}

// Reboot drops every lock, and begins another epoch. What was not written
// durably happens to be there.
func (s *Store) Reboot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = nil
	s.cuts++
}

// PowerCut is a Reboot that loses what was not written durably.
func (s *Store) PowerCut() {
	s.Reboot()
	s.mu.Lock()
	defer s.mu.Unlock()
	for label := range s.runs {
		s.drop(label, func(_ string, d document) bool { return !d.durable })
	}
}

// Fill takes away or gives back the room for documents. Without it a durable
// write changes nothing, and a volatile one leaves half of its document.
func (s *Store) Fill(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
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
}

func (l *lock) Files() []*os.File { return nil }

// Release lets go of the lock, if it has not been lost in a power cut.
func (l *lock) Release() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.store.locked[l.label] == l {
		delete(l.store.locked, l.label)
	}
	return nil
}
