package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A Note is what a namespace is in the middle of. It is written when a verb is
// about to run something, and again, with the Record, when that has ended: from
// then on the verb is bought, and a resume finishes it without running it
// again. It survives a kill, not a power cut. A note is never cleaned up in
// the ordinary course; it is stale once a record has its Key and Started.
type Note struct {
	Format  int             `json:"format"`
	Key     string          `json:"key"`
	Started time.Time       `json:"started"`
	Name    string          `json:"name"`
	Guard   json.RawMessage `json:"guard"`            // the checkout's, before it started; null if it has none
	Ending  *Ending         `json:"ending,omitempty"` // what is left to do; nil while it runs
	Record  *ports.Record   `json:"record,omitempty"` // what will be recorded, but for Seq and Head
}

// An Ending is how a verb that has run is to be concluded.
type Ending struct {
	Commit     bool   `json:"commit"` // else the checkout is put back
	AllowEmpty bool   `json:"allow_empty"`
	Message    string `json:"message"`
	Identity   string `json:"identity"`
}

func noteOf(namespace string) string { return "notes/" + namespace + ".json" }

// WriteNote writes a namespace's note.
func (b *Book) WriteNote(ctx context.Context, namespace string, n Note) error {
	n.Format = Format
	doc, err := strictjson.Canonical(n)
	if err != nil {
		return ports.Internal.Errorf("note "+n.Name, "%w", err)
	}
	return b.store.Write(ctx, b.Run.Label, noteOf(namespace), doc, ports.Volatile)
}

// ReadNote returns a namespace's note, or nil if it has none or if it is
// stale. One that cannot be read is a *ports.CorruptError.
func (b *Book) ReadNote(ctx context.Context, namespace string) (*Note, error) {
	doc, err := b.store.Read(ctx, b.Run.Label, noteOf(namespace))
	if errors.Is(err, ports.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var n Note
	err = strictjson.DecodeExact(doc, &n)
	if err == nil && n.Format != Format || err != nil && otherFormat(doc) {
		err = errFormat(doc)
	}
	if err != nil {
		return nil, &ports.CorruptError{File: b.store.Path(b.Run.Label, noteOf(namespace)), Err: err}
	}
	for _, e := range b.Entries() {
		if e.Namespace == namespace && e.Key == n.Key && e.Started.Equal(n.Started) {
			return nil, nil
		}
	}
	return &n, nil
}

// DropNote removes a namespace's note.
func (b *Book) DropNote(ctx context.Context, namespace string) error {
	return b.store.Delete(ctx, b.Run.Label, noteOf(namespace))
}

// Notes returns the namespaces that have a note.
func (b *Book) Notes(ctx context.Context) ([]string, error) {
	names, err := b.store.Names(ctx, b.Run.Label, "notes")
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".json")
	}
	return names, nil
}
