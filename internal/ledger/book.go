package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"example.com/agl/ports"
)

// A Book is the records of one run. It is safe for use by several goroutines.
type Book struct {
	Run   Run
	store ports.Store

	mu         sync.Mutex
	entries    []*Entry       // by Seq-1
	texts      map[string]int // a term's digest → the Seq of the record that holds its text
	superseded map[int]bool
	spent      ports.Usage
}

// An Entry is a record as the book holds it: without its terms, and without a
// large value.
type Entry struct {
	ports.Record
	large bool
}

func newBook(store ports.Store, run Run) *Book {
	return &Book{
		Run: run, store: store, texts: map[string]int{}, superseded: map[int]bool{},
		spent: ports.Usage{Complete: true},
	}
}

// Open reads a run and all its records. The error's Kind is NotFound if there
// is no run of that label.
func Open(ctx context.Context, store ports.Store, label string) (*Book, error) {
	run, err := ReadRun(ctx, store, label)
	if err != nil {
		return nil, err
	}
	b := newBook(store, run)
	names, err := store.Names(ctx, label, "records")
	if err != nil {
		return nil, err
	}
	b.entries = make([]*Entry, 0, len(names))
	for i, name := range names {
		if want := fileOf(i + 1); "records/"+name != want {
			return nil, &ports.CorruptError{File: store.Path(label, want), Err: fmt.Errorf("it is missing, %s is there", name)}
		}
		record, large, err := b.read(ctx, i+1)
		if err != nil {
			return nil, err
		}
		b.hold(record, large)
	}
	return b, nil
}

func fileOf(seq int) string { return fmt.Sprintf("records/%08d.json", seq) }

// read reads one record from the store, and says whether its value is a large
// one.
func (b *Book) read(ctx context.Context, seq int) (*ports.Record, bool, error) {
	doc, err := b.store.Read(ctx, b.Run.Label, fileOf(seq))
	if err != nil {
		return nil, false, err
	}
	r, large, err := decodeRecord(doc)
	if err == nil && r.Seq != seq {
		err = fmt.Errorf("it is record %d", r.Seq)
	}
	if err != nil {
		return nil, false, &ports.CorruptError{File: b.store.Path(b.Run.Label, fileOf(seq)), Err: err}
	}
	return r, large, nil
}

// hold takes a stored record into the book.
func (b *Book) hold(r *ports.Record, large bool) {
	for _, t := range r.Terms {
		if t.Text != "" {
			b.texts[t.Digest] = r.Seq
		}
	}
	e := &Entry{Record: *r, large: large}
	e.Terms = nil
	if large {
		e.Value = nil
	}
	b.entries = append(b.entries, e)
	if r.Kind == ports.KindStep {
		b.spent = b.spent.Add(r.Usage)
	}
	if r.Retry != 0 {
		b.superseded[r.Retry] = true
	}
	if r.Superseded != nil {
		for _, seq := range r.Superseded.Records {
			b.superseded[seq] = true
		}
	}
}

// Append gives the record the run's next number and writes it, durably. When
// it fails nothing was recorded, and the number is free.
func (b *Book) Append(ctx context.Context, r *ports.Record) (*Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.Seq = len(b.entries) + 1
	stored := *r
	stored.Terms = slices.Clone(r.Terms)
	for i, t := range stored.Terms {
		if _, known := b.texts[t.Digest]; known {
			stored.Terms[i].Text = ""
		}
	}
	doc, large, err := encodeRecord(&stored)
	if err != nil {
		return nil, ports.Internal.Errorf(fmt.Sprintf("record %s %s", r.Kind, r.Name), "%w", err)
	}
	if err := b.store.Write(ctx, b.Run.Label, fileOf(r.Seq), doc, ports.Durable); err != nil {
		return nil, err
	}
	b.hold(&stored, large)
	return b.entries[r.Seq-1], nil
}

// Last returns the highest number of a record, 0 if there is none.
func (b *Book) Last() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries)
}

// Live returns the live ordered records of a namespace, in order; all
// namespaces' if it is "".
func (b *Book) Live(namespace string) []*Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	var live []*Entry
	for _, e := range b.entries {
		if e.Kind.Ordered() && !b.superseded[e.Seq] && (namespace == "" || e.Namespace == namespace) {
			live = append(live, e)
		}
	}
	return live
}

// Entries returns all records, superseded and structural ones included.
func (b *Book) Entries() []*Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.entries)
}

// Value returns a record's value, from the store if it is large.
func (b *Book) Value(ctx context.Context, e *Entry) (json.RawMessage, error) {
	if !e.large {
		return e.Value, nil
	}
	r, _, err := b.read(ctx, e.Seq)
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

// Full returns a record whole: its value, and its terms with their texts.
func (b *Book) Full(ctx context.Context, seq int) (*ports.Record, error) {
	r, _, err := b.read(ctx, seq)
	if err != nil {
		return nil, err
	}
	for i, t := range r.Terms {
		if t.Text != "" {
			continue
		}
		b.mu.Lock()
		holder, ok := b.texts[t.Digest]
		b.mu.Unlock()
		if !ok || holder == seq {
			continue
		}
		from, _, err := b.read(ctx, holder)
		if err != nil {
			return nil, err
		}
		for _, u := range from.Terms {
			if u.Digest == t.Digest {
				r.Terms[i].Text = u.Text
			}
		}
	}
	return r, nil
}

// Spent returns what all records were bought for, superseded ones too.
func (b *Book) Spent() ports.Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// End returns the record of how the run ended, or nil if it has not, or if
// something was recorded since.
func (b *Book) End() *Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.entries); n > 0 && b.entries[n-1].Kind == ports.KindEnd {
		return b.entries[n-1]
	}
	return nil
}

// Rebuying reports whether records were superseded since the run last ended.
// While they are, a divergence supersedes more and goes on.
func (b *Book) Rebuying() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range slices.Backward(b.entries) {
		switch e.Kind {
		case ports.KindEnd:
			return false
		case ports.KindSuperseded:
			if e.Superseded.Why == WhyRebuy {
				return true
			}
		}
	}
	return false
}

// Why records are superseded.
const (
	WhyRebuy = "rebuy"
	WhyRetry = "retry"
)

// Unwritten returns a record that is about to be written as an entry, for a
// plan.
func Unwritten(r *ports.Record) *Entry { return &Entry{Record: *r} }
