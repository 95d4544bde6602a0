package ports

import (
	"context"
	"os"
)

// A Store keeps, for each run, a set of named documents. A name is one or more
// elements of letters, digits, '.', '_' and '-' joined by slashes; all before
// the last is the document's folder. What is no name is Invalid, or kept apart
// from every other. The store does not look into documents, and sets no limit to
// their size or number. It must be safe for use by several goroutines. A call
// whose context is cancelled does nothing, and its error wraps the context's.
//
// Durable writes are atomic: whoever reads, at any time and after any crash,
// sees the old document whole or the new one whole. A failed write leaves the
// old one. Volatile ones may be torn where a write failed or its process died
// in it: whoever keeps such documents can tell.
type Store interface {
	// Runs returns the labels of all runs that have a document, sorted.
	Runs(ctx context.Context) ([]string, error)
	// Names returns the base names of the documents in a run's folder, sorted;
	// none if there is no such folder. The folder "" is the run's own.
	Names(ctx context.Context, label, folder string) ([]string, error)
	// Read returns a document. If there is none, the error's Kind is NotFound.
	// The caller owns the bytes.
	Read(ctx context.Context, label, name string) ([]byte, error)
	// Write writes a document, replacing what is there. When it returns, the
	// document survives the death of this process, and a power cut if it is
	// Durable. No room is Unavailable, no right Denied. One document is always
	// written with the same durability.
	Write(ctx context.Context, label, name string, doc []byte, durability Durability) error
	// Delete removes a document; it is no error if there is none.
	Delete(ctx context.Context, label, name string) error
	// Remove removes all of a run's documents, last the one called last if it
	// is there; it is no error if there are none.
	Remove(ctx context.Context, label, last string) error
	// Epoch changes when volatile documents, and whatever else was not synced,
	// may have been lost: with each boot of the machine. "" if that cannot be
	// told.
	Epoch() string
	// Path says where a person finds a document, for messages.
	Path(label, name string) string

	// Lock takes the run's lock for the life of this process or until it is
	// released, whichever is first. Another holder that lives is an
	// *InUseError at once; what a dead holder's own git children still hold is
	// waited for, up to 30 seconds.
	Lock(ctx context.Context, label string) (Lock, error)
	// Holder says which process holds the run's lock, without touching it: a
	// few words for a person, or "" if none that lives does.
	Holder(ctx context.Context, label string) (string, error)
}

// Durability says what a written document survives.
type Durability bool

// The durabilities.
const (
	Durable  Durability = true  // a power cut
	Volatile Durability = false // the death of the process; cheap
)

// A Lock is a run's lock, held.
type Lock interface {
	// Files are descriptors that child processes inherit so that the lock is
	// free only when the last of them has ended. May be empty.
	Files() []*os.File
	// Release lets go of the lock. Further calls do nothing.
	Release() error
}
