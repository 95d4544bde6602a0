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
	Created  time.Time       `json:"created"`
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
	err = strictjson.DecodeExact(doc, &run)
	switch {
	case err == nil && run.Format != Format, err != nil && otherFormat(doc):
		err = errFormat(doc)
	case err == nil && run.Label != label:
		err = fmt.Errorf("it is of run %q", run.Label)
	}
	if err != nil {
		return run, &ports.CorruptError{File: store.Path(label, RunFile), Err: err}
	}
	return run, nil
}

// otherFormat reports whether doc is JSON that says it is of another format:
// then its unknown keys are not what is wrong with it.
func otherFormat(doc []byte) bool { return formatOf(doc) > Format }

func errFormat(doc []byte) error {
	return fmt.Errorf("it is of format %d, this program knows format %d", formatOf(doc), Format)
}

func formatOf(doc []byte) int {
	var head struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(doc, &head) != nil {
		return Format
	}
	return head.Format
}
