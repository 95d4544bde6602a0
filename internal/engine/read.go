package engine

import (
	"context"
	"encoding/json"
	"errors"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// Runs returns every run, sorted by label. One whose documents cannot be read
// is there too: its State is failed and its Error says why.
func (e *Engine) Runs(ctx context.Context) ([]ports.RunInfo, error) {
	labels, err := e.set.Store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	infos := make([]ports.RunInfo, 0, len(labels))
	for _, label := range labels {
		book, err := ledger.Open(ctx, e.set.Store, label)
		if err != nil {
			infos = append(infos, ports.RunInfo{Label: label, State: ports.StateFailed, Error: err.Error()})
			continue
		}
		infos = append(infos, e.info(ctx, book))
	}
	return infos, nil
}

// Journal returns a run and its live ordered records.
func (e *Engine) Journal(ctx context.Context, label string) (ports.Journal, error) {
	book, err := e.open(ctx, label)
	if err != nil {
		return ports.Journal{}, err
	}
	records, err := book.FullOf(ctx, book.Live(""))
	if err != nil {
		return ports.Journal{}, err
	}
	replies, err := repliesOf(ctx, book)
	return ports.Journal{Run: e.info(ctx, book), Records: records, Replies: replies}, err
}

// repliesOf returns what a person answered to agents and about conflicts.
func repliesOf(ctx context.Context, book *ledger.Book) ([]ports.Reply, error) {
	replies := []ports.Reply{}
	for _, e := range book.Entries() {
		if e.Kind != ports.KindReply {
			continue
		}
		full, err := book.Full(ctx, e.Seq)
		if err != nil {
			return nil, err
		}
		r := ports.Reply{Seq: e.Seq, Namespace: e.Namespace, From: e.Name, Time: e.Ended}
		if err := json.Unmarshal(full.Value, &r.Answer); err != nil {
			return nil, ports.Internal.Errorf("", "record %d is no answer: %w", e.Seq, err)
		}
		for _, term := range full.Terms {
			if term.Name == "question" {
				_ = json.Unmarshal([]byte(term.Text), &r.Question) // a term of ours
			}
		}
		replies = append(replies, r)
	}
	return replies, nil
}

func (e *Engine) open(ctx context.Context, label string) (*ledger.Book, error) {
	if err := ports.CheckName("label", label); err != nil {
		return nil, err
	}
	return ledger.Open(ctx, e.set.Store, label)
}

// info says what a book's run is and how it stands.
func (e *Engine) info(ctx context.Context, b *ledger.Book) ports.RunInfo {
	run := b.Run
	info := ports.RunInfo{
		Label: run.Label, Workflow: run.Workflow, Version: run.Version,
		Branch: run.Branch, Base: run.Base, Head: b.Head(ports.Base),
		Params: run.Params, Created: run.Created,
	}
	end := b.End()
	holder, err := e.set.Store.Holder(ctx, run.Label)
	switch {
	case err == nil && holder != "":
		info.State = ports.StateRunning
		return info
	case end == nil:
		info.State = ports.StateInterrupted
		return info
	}
	info.Ended = end.Ended
	var value endValue
	if json.Unmarshal(end.Value, &value) == nil {
		info.Unreached = value.Unreached
	}
	info.State = ports.StateDone
	if f := end.Failure; f != nil {
		info.State, info.Error = ports.StateFailed, f.Message
		if f.Kind == ports.Stopped {
			info.State = ports.StateStopped
		}
	}
	return info
}

// Salvaged lists what was salvaged in a run, in order of number. A run that
// was cleared still has it; a label with neither is NotFound.
func (e *Engine) Salvaged(ctx context.Context, label string) ([]ports.Salvage, error) {
	if err := ports.CheckName("label", label); err != nil {
		return nil, err
	}
	list, err := e.set.Workspaces.Salvaged(ctx, label)
	if err != nil || len(list) > 0 {
		return list, err
	}
	var corrupt *ports.CorruptError
	if _, err := ledger.ReadRun(ctx, e.set.Store, label); err != nil && !errors.As(err, &corrupt) {
		return nil, err
	}
	return list, nil
}

// WriteSalvage writes what salvage n of a run holds into dir, which must be
// absent or empty.
func (e *Engine) WriteSalvage(ctx context.Context, label string, n int, dir string) error {
	if err := ports.CheckName("label", label); err != nil {
		return err
	}
	return e.set.Workspaces.WriteSalvage(ctx, label, n, dir)
}

// DropSalvage gives up salvage n of a run for good.
func (e *Engine) DropSalvage(ctx context.Context, label string, n int) error {
	if err := ports.CheckName("label", label); err != nil {
		return err
	}
	return e.set.Workspaces.DropSalvage(ctx, label, n)
}
