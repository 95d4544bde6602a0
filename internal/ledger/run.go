package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// Format is the version of the documents this package writes and reads.
const Format = 1

// RunFile is the name of a run's own document: the first to be written, the
// last to be removed.
const RunFile = "run.json"

// A Run is what a run is, fixed when it starts.
type Run struct {
	Format   int             `json:"format"`
	Label    string          `json:"label"`
	Workflow string          `json:"workflow"`
	Version  int             `json:"version"`
	Branch   string          `json:"branch"`
	From     string          `json:"from"` // the revision that was asked for
	Base     string          `json:"base"` // the commit it named
	Params   json.RawMessage `json:"params"`
	Nonce    string          `json:"nonce"`  // what the processes of this run carry
	Tokens   int64           `json:"tokens"` // the budget; 0 for none
	Build    string          `json:"build"`  // the build gate's command; "" for none
	Created  time.Time       `json:"created"`
	Cleared  bool            `json:"cleared,omitempty"` // it is being removed
}

// Create writes the document of a new run, durably.
func Create(ctx context.Context, store ports.Store, run Run) (*Book, error) {
	run.Format = Format
	doc, err := strictjson.Canonical(run)
	if err != nil {
		return nil, ports.Internal.Errorf("record run "+run.Label, "%w", err)
	}
	if err := store.Write(ctx, run.Label, RunFile, doc, ports.Durable); err != nil {
		return nil, err
	}
	return newBook(store, run), nil
}

// ErrCleared says that a run's removal was interrupted. Its Kind is
// Conflicted.
var ErrCleared = ports.Conflicted.Errorf("", "the run was being cleared when that was interrupted; clear it again")

// MarkCleared notes, durably, that the run is being removed: Open refuses it
// from now on.
func (b *Book) MarkCleared(ctx context.Context) error {
	b.Run.Cleared = true
	doc, err := strictjson.Canonical(b.Run)
	if err != nil {
		return ports.Internal.Errorf("clear run "+b.Run.Label, "%w", err)
	}
	return b.store.Write(ctx, b.Run.Label, RunFile, doc, ports.Durable)
}

// ReadRun returns a run's own document. The error's Kind is NotFound if there
// is no run of that label.
func ReadRun(ctx context.Context, store ports.Store, label string) (Run, error) {
	var run Run
	doc, err := store.Read(ctx, label, RunFile)
	if errors.Is(err, ports.NotFound) {
		return run, ports.NotFound.Errorf("", "there is no run %q", label)
	}
	if err != nil {
		return run, err
	}
	err = decodeHeader(doc, &run, &run.Format)
	if err == nil && run.Label != label {
		err = fmt.Errorf("it is of run %q", run.Label)
	}
	if err != nil {
		return run, &ports.CorruptError{File: store.Path(label, RunFile), Err: err}
	}
	return run, nil
}
