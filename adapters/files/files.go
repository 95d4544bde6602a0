// Package files keeps the documents of runs in folders of a filesystem.
//
// A [Store] serves one project. Below its home folder it has
//
//	projects/<project>/runs/<label>/<name>       the documents
//	projects/<project>/locks/<label>.lock        the lock of a run
//
// Documents are replaced, never changed: the new one is written beside the old
// one, flushed to the disk, and renamed over it; then the folder is flushed,
// and so are the folders above it when they are new to this process. A document
// that is only to survive the death of the process is written in place and not
// flushed. What a process that died in the middle leaves behind has a name that no document
// can have: it is never read, and removed by the next process that locks the
// run. A deletion is not flushed: a power cut may bring the document back.
//
// Only the user who runs AGL can read any of it.
//
// The lock of a run is held by flock(2) (LockFileEx on Windows), so the kernel
// lets go of it when the last process ends that has it open: AGL, or a program
// that AGL handed the descriptor to. The file says who took the lock. It is
// removed with its run, by whoever holds it.
package files

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

var _ ports.Store = (*Store)(nil)

// A Store keeps the documents of a project's runs in a folder. It may be used
// by several goroutines and processes at once.
type Store struct {
	home    string
	runs    string // the folder of the runs' folders
	locks   string // the folder of the locks
	invalid error  // why it cannot be used
	temp    string // how temporary files are called
	epoch   string // the boot of the machine

	mu      sync.Mutex
	settled map[string]bool  // folders known to survive a power cut
	held    map[string]*lock // by label, those this store holds
}

// New returns the store of a project. Home is an absolute path; it is made
// when something is written. Project is one element of a path. If either is
// not so, every call is refused.
func New(home, project string) *Store {
	home = filepath.Clean(home)
	self := proc.Self()
	s := &Store{
		home:    home,
		runs:    filepath.Join(home, "projects", project, "runs"),
		locks:   filepath.Join(home, "projects", project, "locks"),
		invalid: checkElement(project),
		temp:    tempPattern(self),
		epoch:   self.Boot,
		settled: make(map[string]bool),
		held:    make(map[string]*lock),
	}
	if !filepath.IsAbs(home) {
		s.invalid = fmt.Errorf("%q is not an absolute path", home)
	}
	return s
}

// Epoch is the boot of the machine.
func (s *Store) Epoch() string { return s.epoch }

// Path returns where a document is.
func (s *Store) Path(label, name string) string {
	path := s.runs + string(filepath.Separator) + label
	if name != "" {
		path += string(filepath.Separator) + filepath.FromSlash(name)
	}
	return path
}

// lockPath is one for labels that clash, so that of two of them only one can
// be begun at a time.
func (s *Store) lockPath(label string) string {
	return filepath.Join(s.locks, ports.FoldName(label)+".lock")
}

// check refuses what would lead out of the store's folders, and a context that
// has ended. A name may be empty: the run's folder. What is a good label is the
// engine's to say.
func (s *Store) check(ctx context.Context, label, name string) error {
	err := s.invalid
	if err == nil {
		err = checkElement(label)
	}
	for rest, more := name, name != ""; more && err == nil; {
		var element string
		element, rest, more = strings.Cut(rest, "/")
		err = checkElement(element)
	}
	if err != nil {
		return ports.Invalid.Errorf("", "%q cannot be kept in a file: %w", label+"/"+name, err)
	}
	return ctx.Err()
}

// document returns where a document is, if it can be one.
func (s *Store) document(ctx context.Context, label, name string) (string, error) {
	if name == "" {
		return "", ports.Invalid.Errorf("", "a document of %q has no name", label)
	}
	return s.Path(label, name), s.check(ctx, label, name)
}

// maxElement is below the 255 bytes that filesystems allow.
const maxElement = 200

func checkElement(s string) error {
	switch {
	case len(s) > maxElement:
		return fmt.Errorf("%q is longer than %d bytes", ports.Clip(s, 40), maxElement)
	case s == "" || s == "." || s == "..", runtime.GOOS == "windows" && !filepath.IsLocal(s):
		return fmt.Errorf("%q is no name", s)
	case strings.IndexFunc(s, illegal) >= 0:
		return fmt.Errorf("%q has more than ASCII letters, digits, '.', '_' and '-'", s)
	}
	return nil
}

func illegal(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		return false
	}
	return true
}
