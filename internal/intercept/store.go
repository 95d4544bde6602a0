package intercept

import (
	"context"

	"example.com/agl/ports"
)

type store struct {
	ports.Store
	i interceptor
}

func (s store) Runs(ctx context.Context) ([]string, error) {
	return ask(ctx, s.i, "list runs", func() ([]string, error) { return s.Store.Runs(ctx) })
}

func (s store) Names(ctx context.Context, label, folder string) ([]string, error) {
	return ask(ctx, s.i, "list "+folder, func() ([]string, error) { return s.Store.Names(ctx, label, folder) })
}

func (s store) Read(ctx context.Context, label, name string) ([]byte, error) {
	return ask(ctx, s.i, "read "+name, func() ([]byte, error) { return s.Store.Read(ctx, label, name) })
}

func (s store) Write(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
	return s.i.change(ctx, "write "+name, func() error { return s.Store.Write(ctx, label, name, doc, d) })
}

func (s store) Delete(ctx context.Context, label, name string) error {
	return s.i.change(ctx, "delete "+name, func() error { return s.Store.Delete(ctx, label, name) })
}

// Remove removes a document a call where the store can list them, as a folder
// loses them.
func (s store) Remove(ctx context.Context, label, last string) error {
	if lister, ok := s.Store.(interface {
		Documents(label, prefix string) []string
	}); ok {
		for _, name := range lister.Documents(label, "") {
			if name == last {
				continue
			}
			if err := s.Delete(ctx, label, name); err != nil {
				return err
			}
		}
	}
	return s.i.change(ctx, "remove "+last, func() error { return s.Store.Remove(ctx, label, last) })
}

func (s store) Lock(ctx context.Context, label string) (ports.Lock, error) {
	var got ports.Lock
	err := s.i.change(ctx, Lock, func() (err error) { got, err = s.Store.Lock(ctx, label); return err })
	if err != nil && got != nil {
		_ = got.Release() // a process that dies now loses it
		got = nil
	}
	return got, err
}

func (s store) Holder(ctx context.Context, label string) (string, error) {
	return ask(ctx, s.i, "who holds the lock", func() (string, error) { return s.Store.Holder(ctx, label) })
}
