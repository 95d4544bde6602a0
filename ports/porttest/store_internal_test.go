package porttest

import (
	"bytes"
	"context"
	"errors"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A brokenStore is a good one but for the methods that are set.
type brokenStore struct {
	*mem.Store
	runs   func(context.Context) ([]string, error)
	names  func(ctx context.Context, label, folder string) ([]string, error)
	read   func(ctx context.Context, label, name string) ([]byte, error)
	write  func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error
	delete func(ctx context.Context, label, name string) error
	remove func(ctx context.Context, label, last string) error
	epoch  func() string
	path   func(label, name string) string
	lock   func(ctx context.Context, label string) (ports.Lock, error)
	holder func(ctx context.Context, label string) (string, error)
}

func (s *brokenStore) Runs(ctx context.Context) ([]string, error) {
	if s.runs != nil {
		return s.runs(ctx)
	}
	return s.Store.Runs(ctx)
}

func (s *brokenStore) Names(ctx context.Context, label, folder string) ([]string, error) {
	if s.names != nil {
		return s.names(ctx, label, folder)
	}
	return s.Store.Names(ctx, label, folder)
}

func (s *brokenStore) Read(ctx context.Context, label, name string) ([]byte, error) {
	if s.read != nil {
		return s.read(ctx, label, name)
	}
	return s.Store.Read(ctx, label, name)
}

func (s *brokenStore) Write(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
	if s.write != nil {
		return s.write(ctx, label, name, doc, d)
	}
	return s.Store.Write(ctx, label, name, doc, d)
}

func (s *brokenStore) Delete(ctx context.Context, label, name string) error {
	if s.delete != nil {
		return s.delete(ctx, label, name)
	}
	return s.Store.Delete(ctx, label, name)
}

func (s *brokenStore) Remove(ctx context.Context, label, last string) error {
	if s.remove != nil {
		return s.remove(ctx, label, last)
	}
	return s.Store.Remove(ctx, label, last)
}

func (s *brokenStore) Epoch() string {
	if s.epoch != nil {
		return s.epoch()
	}
	return s.Store.Epoch()
}

func (s *brokenStore) Path(label, name string) string {
	if s.path != nil {
		return s.path(label, name)
	}
	return s.Store.Path(label, name)
}

func (s *brokenStore) Lock(ctx context.Context, label string) (ports.Lock, error) {
	if s.lock != nil {
		return s.lock(ctx, label)
	}
	return s.Store.Lock(ctx, label)
}

func (s *brokenStore) Holder(ctx context.Context, label string) (string, error) {
	if s.holder != nil {
		return s.holder(ctx, label)
	}
	return s.Store.Holder(ctx, label)
}

// breakStore returns a maker of stores that are broken as change says.
func breakStore(change func(s *brokenStore)) func(testing.TB) *store {
	opts := StoreOptions{
		New: func(testing.TB) ports.Store {
			s := &brokenStore{Store: new(mem.Store)}
			change(s)
			return s
		},
		Reopen: func(_ testing.TB, s ports.Store) ports.Store {
			second := &brokenStore{Store: s.(*brokenStore).Store}
			change(second)
			return second
		},
		PowerCut: func(_ testing.TB, s ports.Store) ports.Store {
			s.(*brokenStore).PowerCut()
			return s
		},
		WriteWithoutRoom: func(t testing.TB, s ports.Store, label, name string, doc []byte, d ports.Durability) error {
			s.(*brokenStore).Fill(true)
			defer s.(*brokenStore).Fill(false)
			return s.Write(t.Context(), label, name, doc, d)
		},
		Forbid: func(_ testing.TB, _ ports.Store, _ string, do func()) { do() },
	}
	return opts.subject
}

// keptLock is a lock whose Release is another's.
type keptLock struct {
	ports.Lock
	release func() error
}

func (l keptLock) Release() error { return l.release() }

func TestTheStoreSuiteFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	find(t, storeRules(), []broken[*store]{
		{fault: "nothing is not found", rule: "a new store is empty", says: "want \"not found\"", fresh: breakStore(func(s *brokenStore) {
			s.read = func(ctx context.Context, label, name string) ([]byte, error) {
				doc, err := s.Store.Read(ctx, label, name)
				if ports.KindOf(err) == ports.NotFound {
					return nil, nil
				}
				return doc, err
			}
		})},
		{fault: "an error without its kind", rule: "a missing document is NotFound", fresh: breakStore(func(s *brokenStore) {
			s.read = func(ctx context.Context, label, name string) ([]byte, error) {
				doc, err := s.Store.Read(ctx, label, name)
				if err != nil {
					err = errors.New(err.Error())
				}
				return doc, err
			}
		})},
		{fault: "documents taken for text", rule: "documents are read as they were written", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				return s.Store.Write(ctx, label, name, bytes.ToValidUTF8(doc, []byte("?")), d)
			}
		})},
		{fault: "cuts what is large", rule: "documents are read as they were written", says: "5242", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				return s.Store.Write(ctx, label, name, doc[:min(len(doc), 4<<20)], d)
			}
		})},
		{fault: "an empty write is dropped", rule: "an empty document is there", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				if len(doc) == 0 {
					return nil
				}
				return s.Store.Write(ctx, label, name, doc, d)
			}
		})},
		{fault: "the tail of the old document stays", rule: "a write replaces the document", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				old, _ := s.Store.Read(ctx, label, name)
				if len(old) > len(doc) {
					doc = slices.Concat(doc, old[len(doc):])
				}
				return s.Store.Write(ctx, label, name, doc, d)
			}
		})},
		{fault: "keeps the caller's bytes", rule: "written bytes are the caller's", fresh: breakStore(aliasing)},
		{fault: "returns its own bytes", rule: "read bytes are the caller's", fresh: breakStore(aliasing)},
		{fault: "a name without its folder", rule: "names are apart", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				return s.Store.Write(ctx, label, path.Base(name), doc, d)
			}
			s.read = func(ctx context.Context, label, name string) ([]byte, error) {
				return s.Store.Read(ctx, label, path.Base(name))
			}
		})},
		{fault: "cleans what is no name", rule: "what is no name leads nowhere", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				run, rest, _ := strings.Cut(path.Join(label, name), "/")
				return s.Store.Write(ctx, run, rest, doc, d)
			}
		})},
		{fault: "one path for all", rule: "a person can find a document", fresh: breakStore(func(s *brokenStore) {
			s.path = func(label, _ string) string { return label }
		})},
		{fault: "writes in place", rule: "readers see whole documents", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				if err := s.Store.Write(ctx, label, name, doc[:len(doc)/2], d); err != nil {
					return err
				}
				runtime.Gosched()
				return s.Store.Write(ctx, label, name, doc, d)
			}
		})},
		{fault: "shows what is being written", rule: "readers see whole documents", says: "there are the names", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				err := s.Store.Write(ctx, label, name+".tmp", doc, d)
				runtime.Gosched()
				return errors.Join(err, s.Store.Write(ctx, label, name, doc, d), s.Store.Delete(ctx, label, name+".tmp"))
			}
		})},
		{fault: "writers lose each other's documents", rule: "writers do not disturb each other", fresh: breakStore(func(s *brokenStore) {
			var mu sync.Mutex
			n := 0
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				mu.Lock()
				defer mu.Unlock()
				if n++; n%7 == 0 {
					return nil
				}
				return s.Store.Write(ctx, label, name, doc, d)
			}
		})},
		{fault: "an epoch a call", rule: "an epoch lasts", fresh: breakStore(func(s *brokenStore) {
			s.epoch = func() string { return time.Now().String() }
		})},
		{fault: "keeps what was written to itself", rule: "stores share their state", fresh: func() func(testing.TB) *store {
			opts := StoreOptions{New: func(testing.TB) ports.Store { return new(mem.Store) }}
			opts.Reopen = func(t testing.TB, _ ports.Store) ports.Store { return opts.New(t) }
			return func(t testing.TB) *store { return &store{opts.New(t), opts} }
		}()},
		{fault: "lists what is deeper", rule: "a folder lists what is in it", fresh: breakStore(func(s *brokenStore) {
			s.names = func(_ context.Context, label, folder string) ([]string, error) {
				var names []string
				for _, name := range s.Documents(label, strings.TrimPrefix(folder+"/", "/")) {
					names = append(names, path.Base(name))
				}
				return names, nil
			}
		})},
		{fault: "names in no order", rule: "a folder lists what is in it", fresh: breakStore(func(s *brokenStore) {
			s.names = func(ctx context.Context, label, folder string) ([]string, error) {
				names, err := s.Store.Names(ctx, label, folder)
				slices.Reverse(names)
				return names, err
			}
		})},
		{fault: "lists a thousand names", rule: "a folder lists all that is in it", says: "1000 names are listed of 1200", fresh: breakStore(func(s *brokenStore) {
			s.names = func(ctx context.Context, label, folder string) ([]string, error) {
				names, err := s.Store.Names(ctx, label, folder)
				return names[:min(len(names), 1000)], err
			}
		})},
		{fault: "runs that are gone", rule: "runs are those with a document", fresh: breakStore(func(s *brokenStore) {
			s.runs = func(ctx context.Context) ([]string, error) {
				runs, err := s.Store.Runs(ctx)
				return append(runs, "gone"), err
			}
		})},
		{fault: "deleting nothing is an error", rule: "a deleted document is gone", fresh: breakStore(func(s *brokenStore) {
			s.delete = func(ctx context.Context, label, name string) error {
				if _, err := s.Store.Read(ctx, label, name); err != nil {
					return err
				}
				return s.Store.Delete(ctx, label, name)
			}
		})},
		{fault: "removes too much", rule: "a removed run is gone", fresh: breakStore(func(s *brokenStore) {
			s.remove = func(ctx context.Context, label, _ string) error {
				runs, err := s.Store.Runs(ctx)
				for _, run := range runs {
					if strings.HasPrefix(run, label) {
						err = errors.Join(err, s.Store.Remove(ctx, run, ""))
					}
				}
				return err
			}
		})},
		{fault: "removes in any order", rule: "the last document goes last", fresh: breakStore(func(s *brokenStore) {
			s.remove = func(ctx context.Context, label, last string) error {
				for _, name := range s.Documents(label, "") {
					if err := s.Store.Delete(ctx, label, name); err != nil {
						return err
					}
				}
				return s.Store.Remove(ctx, label, last)
			}
		})},
		{fault: "works for nobody", rule: "a cancelled call changes nothing", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				return s.Store.Write(context.WithoutCancel(ctx), label, name, doc, d)
			}
		})},
		{fault: "gives a lock twice", rule: "a lock has one holder", fresh: breakStore(func(s *brokenStore) {
			s.lock = func(context.Context, string) (ports.Lock, error) {
				return keptLock{release: func() error { return nil }}, nil
			}
		})},
		{fault: "does not say who has the lock", rule: "a lock has one holder", says: "who has it", fresh: breakStore(func(s *brokenStore) {
			s.lock = func(ctx context.Context, label string) (ports.Lock, error) {
				lock, err := s.Store.Lock(ctx, label)
				if err != nil {
					err = &ports.InUseError{Label: label}
				}
				return lock, err
			}
		})},
		{fault: "waits for the lock", rule: "a lock has one holder", says: "locking run, which is held: it has not returned", limit: 300 * time.Millisecond, fresh: breakStore(func(s *brokenStore) {
			s.lock = func(ctx context.Context, label string) (ports.Lock, error) {
				lock, err := s.Store.Lock(ctx, label)
				if err != nil {
					<-ctx.Done()
				}
				return lock, err
			}
		})},
		{fault: "looks, then takes the lock", rule: "a lock has one holder of several that try", says: "two have the lock", fresh: breakStore(func(s *brokenStore) {
			s.lock = func(ctx context.Context, label string) (ports.Lock, error) {
				lock, err := s.Store.Lock(ctx, label)
				if err == nil { // the next one can get in while this one has it
					err = lock.Release()
				}
				return keptLock{lock, func() error { return nil }}, err
			}
		})},
		{fault: "releases another's lock", rule: "a released lock is free", fresh: breakStore(func(s *brokenStore) {
			var current ports.Lock
			s.lock = func(ctx context.Context, label string) (ports.Lock, error) {
				lock, err := s.Store.Lock(ctx, label)
				if err != nil {
					return nil, err
				}
				current = lock
				return keptLock{lock, func() error { return current.Release() }}, nil
			}
		})},
		{fault: "loses the lock with the documents", rule: "a lock is apart from documents", fresh: breakStore(func(s *brokenStore) {
			var current ports.Lock
			s.lock = func(ctx context.Context, label string) (lock ports.Lock, err error) {
				lock, err = s.Store.Lock(ctx, label)
				current = lock
				return lock, err
			}
			s.remove = func(ctx context.Context, label, last string) error {
				return errors.Join(current.Release(), s.Store.Remove(ctx, label, last))
			}
		})},
		{fault: "takes the lock to see who has it", rule: "a holder is named", fresh: breakStore(func(s *brokenStore) {
			s.holder = func(ctx context.Context, label string) (string, error) {
				if _, err := s.Store.Lock(ctx, label); err != nil {
					return "somebody", nil
				}
				return "", nil
			}
		})},
		{fault: "locks of its own", rule: "stores share their locks", fresh: func() func(testing.TB) *store {
			opts := StoreOptions{New: func(testing.TB) ports.Store { return new(mem.Store) }}
			opts.Reopen = func(t testing.TB, _ ports.Store) ports.Store { return opts.New(t) }
			return func(t testing.TB) *store { return &store{opts.New(t), opts} }
		}()},
		{fault: "does not sync", rule: "durable documents survive a power cut", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, _ ports.Durability) error {
				return s.Store.Write(ctx, label, name, doc, ports.Volatile)
			}
		})},
		{fault: "an epoch for ever", rule: "durable documents survive a power cut", says: "the epoch is still", fresh: breakStore(func(s *brokenStore) {
			s.epoch = func() string { return "1" }
		})},
		{fault: "a full disk takes the old document", rule: "a write without room leaves the old document", fresh: breakStore(func(s *brokenStore) {
			s.write = func(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
				err := s.Store.Write(ctx, label, name, doc, d)
				if ports.KindOf(err) == ports.Unavailable {
					return errors.Join(err, s.Store.Delete(ctx, label, name))
				}
				return err
			}
		})},
		{fault: "asks for no right", rule: "a write without the right is Denied", fresh: breakStore(func(*brokenStore) {})},
	})
}

// aliasing makes a store keep and return one slice.
func aliasing(s *brokenStore) {
	docs := map[string][]byte{}
	s.write = func(_ context.Context, label, name string, doc []byte, _ ports.Durability) error {
		docs[label+"/"+name] = doc
		return nil
	}
	s.read = func(_ context.Context, label, name string) ([]byte, error) { return docs[label+"/"+name], nil }
}
