package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A Note is what a namespace is in the middle of. It is written when a verb is
// about to run something, and again, with the Record, when that has ended: from
// then on the verb is bought, and a resume finishes it without running it
// again. It survives a kill, not a power cut: after one the note may be there
// and the files it speaks of may not, so it only tells what was under way. It
// is stale once a record has its Key and Started.
//
// The two are documents of their own, so that one that is torn leaves the
// other; each begins with a checksum of the rest.
type Note struct {
	Format  int             `json:"format"`
	Key     string          `json:"key"`
	Started time.Time       `json:"started"`
	Epoch   string          `json:"epoch"` // of the store, when it was written
	After   int             `json:"after"` // the last record there was then
	Name    string          `json:"name"`
	Guard   json.RawMessage `json:"guard"`             // the checkout's, before it started; null if it has none
	Session string          `json:"session,omitempty"` // the vendor's id of the agent's conversation, once it is known
	Ending  *Ending         `json:"ending,omitempty"`  // what is left to do; nil while it runs
	Record  *ports.Record   `json:"record,omitempty"`  // what will be recorded, but for Seq and Head
	Behind  *behind         `json:"behind,omitempty"`  // the record's value, if it is behind the note

	Landing *ports.Landing `json:"landing,omitempty"` // of a landing, which works in its parent's checkout
	Phase   Phase          `json:"phase,omitempty"`   // and what it is in the middle of
	Try     int            `json:"try,omitempty"`     // and which conflict it is about
	Tree    string         `json:"tree,omitempty"`    // what that was resolved to, while the gate runs on it
}

// A Phase is what a landing is in the middle of.
type Phase string

// The phases.
const (
	Merging   Phase = ""          // it merges, or the gate runs: what is in the checkout is AGL's and the gate's, and what was resolved
	Resolving Phase = "resolving" // the resolver decides: what is in the checkout may be a person's
	Fixing    Phase = "fixing"    // an agent works in the conflict
)

// An Ending is how a verb that has run is to be concluded.
type Ending struct {
	Commit     bool   `json:"commit"` // else the checkout is put back
	AllowEmpty bool   `json:"allow_empty"`
	Message    string `json:"message"`
	Identity   string `json:"identity"`
}

// The suffixes of notes' documents.
const (
	begun = ".begun.json"
	ended = ".ended.json"
)

func noteOf(namespace, suffix string) string { return "notes/" + namespace + suffix }

// WriteNote writes a namespace's note.
func (b *Book) WriteNote(ctx context.Context, namespace string, n Note) error {
	n.Format, n.Epoch, n.After = Format, b.store.Epoch(), b.Last()
	var value json.RawMessage
	if n.Record != nil {
		r := *n.Record
		value = r.Value
		r.Value, n.Behind = shorten(value)
		n.Record = &r
	}
	doc, err := strictjson.Canonical(n)
	if err != nil {
		return ports.Internal.Errorf("note "+n.Name, "%w", err)
	}
	if n.Behind != nil {
		doc = lengthen(doc, value)
	}
	suffix := begun
	if n.Ending != nil || n.Record != nil {
		suffix = ended
	}
	return b.store.Write(ctx, b.Run.Label, noteOf(namespace, suffix), sealed(doc), ports.Volatile)
}

// ReadNote returns a namespace's note, or nil if it has none that is not
// stale. If there is one that cannot be read, the error is a
// *ports.CorruptError, and the note before it is returned with it.
func (b *Book) ReadNote(ctx context.Context, namespace string) (*Note, error) {
	var torn error
	for _, suffix := range []string{ended, begun} {
		n, err := b.readNote(ctx, namespace, suffix)
		var corrupt *ports.CorruptError
		switch {
		case errors.As(err, &corrupt):
			torn = err
		case err != nil:
			return nil, err
		case n != nil:
			return n, torn
		}
	}
	return nil, torn
}

// readNote reads one of a namespace's notes; it is nil if it is stale.
func (b *Book) readNote(ctx context.Context, namespace, suffix string) (*Note, error) {
	doc, err := b.store.Read(ctx, b.Run.Label, noteOf(namespace, suffix))
	if errors.Is(err, ports.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n, err := decodeNote(doc)
	if err != nil {
		return nil, &ports.CorruptError{File: b.store.Path(b.Run.Label, noteOf(namespace, suffix)), Err: err}
	}
	for _, e := range b.Entries() {
		if e.Namespace == namespace && (n.isOf(e) || n.Phase == Fixing && n.Record != nil && e.Key == n.Record.Key && e.Started.Equal(n.Record.Started)) {
			return nil, nil
		}
	}
	if n.Epoch != b.store.Epoch() {
		n.Ending, n.Record = nil, nil
		if n.Tree != "" { // it may be gone, and what is there may be the gate's
			n.Tree, n.Try = "", 0
		}
	}
	return n, nil
}

// isOf reports whether the note is of the verb that e records.
func (n *Note) isOf(e *Entry) bool { return e.Key == n.Key && e.Started.Equal(n.Started) }

// Whole reports, as a *ports.CorruptError, whether records are missing that
// were there when a namespace's notes were written: the last ones, which no
// gap in the numbers tells of. The run's lock is held.
func (b *Book) Whole(ctx context.Context, namespace string) error {
	for _, suffix := range []string{begun, ended} {
		doc, err := b.store.Read(ctx, b.Run.Label, noteOf(namespace, suffix))
		if errors.Is(err, ports.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		n, err := decodeNote(doc)
		if err == nil && n.After > b.Last() {
			return &ports.CorruptError{
				File: b.store.Path(b.Run.Label, fileOf(b.Last()+1)),
				Err:  fmt.Errorf("it is missing, and %s was begun after it", n.Name),
			}
		}
	}
	return nil
}

// sealed puts a checksum before a document.
func sealed(doc []byte) []byte {
	file := fmt.Appendf(make([]byte, 0, len(doc)+9), "%08x\n", checksum(doc))
	return append(file, doc...)
}

// unsealed returns the document behind its checksum.
func unsealed(file []byte) ([]byte, error) {
	sum, doc, ok := bytes.Cut(file, newline)
	if !ok || string(sum) != fmt.Sprintf("%08x", checksum(doc)) {
		return nil, errors.New("it is torn")
	}
	return doc, nil
}

func decodeNote(file []byte) (*Note, error) {
	doc, err := unsealed(file)
	if err != nil {
		return nil, err
	}
	header, value, _ := bytes.Cut(doc, newline)
	var n Note
	if err := decodeHeader(header, &n, &n.Format); err != nil {
		return nil, err
	}
	if n.Behind != nil && n.Record != nil {
		n.Record.Value = value
	}
	err = n.Behind.check(value)
	n.Behind = nil
	return &n, err
}

// DropNote removes a namespace's notes.
func (b *Book) DropNote(ctx context.Context, namespace string) error {
	return errors.Join(
		b.store.Delete(ctx, b.Run.Label, noteOf(namespace, ended)),
		b.store.Delete(ctx, b.Run.Label, noteOf(namespace, begun)))
}

// Notes returns the namespaces that have a note.
func (b *Book) Notes(ctx context.Context) ([]string, error) {
	names, err := b.store.Names(ctx, b.Run.Label, "notes")
	if err != nil {
		return nil, err
	}
	var namespaces []string
	for _, name := range names {
		for _, suffix := range []string{begun, ended} {
			if namespace, ok := strings.CutSuffix(name, suffix); ok && !slices.Contains(namespaces, namespace) {
				namespaces = append(namespaces, namespace)
			}
		}
	}
	return namespaces, nil
}
