package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	again      map[int]bool        // of the superseded: landings that are made again in their place
	heads      map[string]position // namespace → the commit that its live records leave its branch at; nil: to be found anew
	spent      ports.Usage
}

// An Entry is a record as the book holds it: without its terms, and without a
// large value.
type Entry struct {
	ports.Record
	large bool
	place int // orders the records of a namespace: its Seq, or the place of the one it retries
}

// Place orders the records of a namespace: it is the record's number, or the
// place of the record that it took over.
func (e *Entry) Place() int { return e.place }

// Moves returns the namespace whose branch an ordered record moved, from where
// and to where: its own, or the one that it was landed in. The namespace is "" if
// it moved none.
func (e *Entry) Moves() (namespace, from, to string) {
	switch {
	case !e.Kind.Ordered():
		return "", "", ""
	case e.Moved():
		return e.Namespace, e.Before, e.Head
	case e.Landing.Moved():
		return e.Landing.Into, e.Landing.Before, e.Landing.After
	}
	return "", "", ""
}

func newBook(store ports.Store, run Run) *Book {
	return &Book{
		Run: run, store: store, texts: map[string]int{}, superseded: map[int]bool{}, again: map[int]bool{},
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
	if run.Cleared {
		return nil, fmt.Errorf("run %s: %w", label, ErrCleared)
	}
	b := newBook(store, run)
	names, err := store.Names(ctx, label, "records")
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !isRecord(name) })
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

// isRecord reports whether a file in the records' folder is one: a file
// manager may leave others there.
func isRecord(name string) bool {
	digits, ok := strings.CutSuffix(name, ".json")
	return ok && len(digits) == 8 && strings.Trim(digits, "0123456789") == ""
}

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
	e := &Entry{Record: *r, large: large, place: r.Seq}
	e.Terms = nil
	if large {
		e.Value = nil
	}
	b.entries = append(b.entries, e)
	if r.Kind == ports.KindStep || r.Kind == ports.KindFix {
		b.spent = b.spent.Add(r.Usage)
	}
	if r.Retry > 0 && r.Retry < r.Seq {
		b.superseded[r.Retry] = true
		delete(b.again, r.Retry)
		e.place = b.entries[r.Retry-1].place
	}
	if r.Superseded != nil {
		for _, seq := range r.Superseded.Records {
			b.superseded[seq] = true
			delete(b.again, seq)
		}
		for _, seq := range r.Superseded.Again {
			b.again[seq] = true
		}
		b.heads = nil
	}
	if b.heads != nil {
		b.moveHeads(e)
	}
}

// A position is where a namespace's branch is by the live records, and the
// number of the one that moved it there; 0 if none did.
type position struct {
	head string
	seq  int
}

// moveHeads applies a live record to the heads.
func (b *Book) moveHeads(e *Entry) {
	if e.Kind == ports.KindOpened {
		b.heads[e.Namespace] = position{e.Head, e.Seq}
	}
	if moved, _, to := e.Moves(); moved != "" {
		b.heads[moved] = position{to, e.Seq}
	}
}

// Head returns the commit that the live records of a namespace, and the live
// landings into it, leave its branch at.
func (b *Book) Head(namespace string) string { return b.position(namespace).head }

// HeadBy returns the number of the record that left the branch there; 0 if none
// has moved it.
func (b *Book) HeadBy(namespace string) int { return b.position(namespace).seq }

func (b *Book) position(namespace string) position {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.heads == nil {
		b.heads = map[string]position{ports.Base: {head: b.Run.Base}}
		for _, e := range b.entries {
			if !b.superseded[e.Seq] {
				b.moveHeads(e)
			}
		}
	}
	return b.heads[namespace]
}

// Opened returns the live record of a worktree's opening, or nil.
func (b *Book) Opened(namespace string) *Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range slices.Backward(b.entries) {
		if e.Kind == ports.KindOpened && e.Namespace == namespace && !b.superseded[e.Seq] {
			return e
		}
	}
	return nil
}

// Namespaces returns every namespace that the run has or had, Base first, in
// the order of their first opening.
func (b *Book) Namespaces() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, seen := []string{ports.Base}, map[string]bool{ports.Base: true}
	for _, e := range b.entries {
		if e.Kind == ports.KindOpened && !seen[e.Namespace] {
			seen[e.Namespace] = true
			all = append(all, e.Namespace)
		}
	}
	return all
}

// Entry returns the record of a number, or nil if there is none.
func (b *Book) Entry(seq int) *Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if seq < 1 || seq > len(b.entries) {
		return nil
	}
	return b.entries[seq-1]
}

// Namespaces returns the namespaces that what can be read of a run's records
// and notes names, Base first: for a run that cannot be opened.
func Namespaces(ctx context.Context, store ports.Store, label string) ([]string, error) {
	b := newBook(store, Run{Label: label})
	all, err := b.Notes(ctx)
	if err != nil {
		return nil, err
	}
	names, err := store.Names(ctx, label, "records")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		seq, err := strconv.Atoi(strings.TrimSuffix(name, ".json"))
		if err != nil {
			continue
		}
		if r, _, err := b.read(ctx, seq); err == nil && r.Kind == ports.KindOpened {
			all = append(all, r.Namespace)
		}
	}
	all = slices.DeleteFunc(all, func(namespace string) bool {
		return namespace == ports.Base || ports.CheckName("worktree", namespace) != nil
	})
	slices.Sort(all)
	return append([]string{ports.Base}, slices.Compact(all)...), nil
}

// Support returns the newest supporting record of a kind and key of a
// namespace (any, if it is "") that was written after record after, or nil.
func (b *Book) Support(kind ports.RecordKind, namespace, key string, after int) *Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range slices.Backward(b.entries) {
		if e.Seq <= after {
			break
		}
		if e.Kind == kind && e.Key == key && (namespace == "" || e.Namespace == namespace) {
			return e
		}
	}
	return nil
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
	return b.ordered(namespace, func(seq int) bool { return !b.superseded[seq] })
}

// Places returns the live ordered records of a namespace, and, at their place
// among them, the landings that are to be made again: of these Again is true.
func (b *Book) Places(namespace string) []*Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ordered(namespace, func(seq int) bool { return !b.superseded[seq] || b.again[seq] })
}

// Again reports whether a record is of a landing that is to be made again.
func (b *Book) Again(seq int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.again[seq]
}

// LiveEntries returns the live records that are ordered or of an opening, in
// the order in which they were written.
func (b *Book) LiveEntries() []*Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	var live []*Entry
	for _, e := range b.entries {
		if (e.Kind.Ordered() || e.Kind == ports.KindOpened) && !b.superseded[e.Seq] {
			live = append(live, e)
		}
	}
	return live
}

func (b *Book) ordered(namespace string, keep func(seq int) bool) []*Entry {
	var list []*Entry
	for _, e := range b.entries {
		if e.Kind.Ordered() && keep(e.Seq) && (namespace == "" || e.Namespace == namespace) {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *Entry) int { return a.place - b.place })
	return list
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
	all, err := b.FullOf(ctx, []*Entry{{Record: ports.Record{Seq: seq}}})
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}

// FullOf returns records whole. It reads each file once.
func (b *Book) FullOf(ctx context.Context, entries []*Entry) ([]ports.Record, error) {
	texts := map[string]string{} // by digest, of the records read so far
	load := func(seq int) (*ports.Record, error) {
		r, _, err := b.read(ctx, seq)
		if err != nil {
			return nil, err
		}
		for _, t := range r.Terms {
			if t.Text != "" {
				texts[t.Digest] = t.Text
			}
		}
		return r, nil
	}
	all := make([]ports.Record, 0, len(entries))
	for _, e := range entries {
		r, err := load(e.Seq)
		if err != nil {
			return nil, err
		}
		for i, t := range r.Terms {
			if texts[t.Digest] == "" {
				b.mu.Lock()
				holder := b.texts[t.Digest]
				b.mu.Unlock()
				if holder == 0 {
					continue
				}
				if _, err := load(holder); err != nil {
					return nil, err
				}
			}
			r.Terms[i].Text = texts[t.Digest]
		}
		all = append(all, *r)
	}
	return all, nil
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
// plan. It has the next number.
func (b *Book) Unwritten(r *ports.Record) *Entry {
	e := &Entry{Record: *r}
	e.Seq = b.Last() + 1
	e.place = e.Seq
	return e
}
