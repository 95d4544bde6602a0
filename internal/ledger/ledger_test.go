package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/ledger"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

func newBook(t testing.TB) (*ledger.Book, *mem.Store) {
	store := &mem.Store{}
	b, err := ledger.Create(t.Context(), store, ledger.Run{
		Label: "job", Workflow: "w", Version: 1, Branch: "agl/job", Base: "b0", Params: json.RawMessage(`{}`), Created: at,
	})
	require.NoError(t, err)
	return b, store
}

func step(name, before, head string) *ports.Record {
	return &ports.Record{
		Kind: ports.KindStep, Namespace: ports.Base, Name: name, Key: "key-" + name, Before: before, Head: head,
		Terms: []ports.Term{{Name: "prompt", Digest: "d1", Text: `"the prompt"`}, {Name: "name", Digest: "d-" + name, Text: name}},
		Value: json.RawMessage(`{"n":1}`), Started: at, Ended: at,
	}
}

func TestABookReadAgainIsTheSame(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	large := step("large", "b1", "b1")
	large.Value = json.RawMessage(`"` + strings.Repeat("x\\n", 10_000) + `"`)
	failed := step("failed", "b1", "b1")
	failed.Value, failed.Failure = nil, ports.FailureOf(&ports.LimitError{Reset: at, Message: "m"})
	for i, r := range []*ports.Record{step("one", "b0", "b1"), large, failed} {
		e, err := b.Append(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, i+1, e.Seq)
	}
	again, err := ledger.Open(t.Context(), store, "job")
	require.NoError(t, err)
	require.Equal(t, b.Run, again.Run)
	require.Equal(t, b.Entries(), again.Entries())
	value, err := again.Value(t.Context(), again.Entries()[1])
	require.NoError(t, err)
	require.Equal(t, large.Value, value)
	require.Equal(t, failed.Failure.Err().Error(), again.Entries()[2].Failure.Err().Error())
	for _, r := range []*ports.Record{large, failed} {
		full, err := again.Full(t.Context(), r.Seq)
		require.NoError(t, err)
		require.Equal(t, r, full, "with the texts of all its terms")
	}
}

func TestATextIsStoredOnce(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	for _, name := range []string{"one", "two", "three"} {
		_, err := b.Append(t.Context(), step(name, "b0", "b0"))
		require.NoError(t, err)
	}
	n := 0
	for _, name := range store.Documents("job", "records/") {
		doc, err := store.Read(t.Context(), "job", name)
		require.NoError(t, err)
		n += bytes.Count(doc, []byte("the prompt"))
	}
	require.Equal(t, 1, n)
}

func TestAPositionHoldsOneLiveRecord(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	for _, r := range []*ports.Record{step("one", "b0", "b1"), step("two", "b1", "b2")} {
		_, err := b.Append(t.Context(), r)
		require.NoError(t, err)
	}
	retry := step("two", "b1", "b3")
	retry.Retry = 2
	_, err := b.Append(t.Context(), retry)
	require.NoError(t, err)
	require.Equal(t, []int{1, 3}, live(b))
	_, err = b.Append(t.Context(), &ports.Record{
		Kind: ports.KindSuperseded, Namespace: ports.Base, Name: ledger.WhyRebuy, Terms: []ports.Term{}, Started: at, Ended: at,
		Superseded: &ports.Superseded{Why: ledger.WhyRebuy, Records: []int{1, 3}, Moves: []ports.Move{}},
	})
	require.NoError(t, err)
	require.Empty(t, live(b))
	require.True(t, b.Rebuying())
	again, err := ledger.Open(t.Context(), store, "job")
	require.NoError(t, err)
	require.Empty(t, live(again))
	_, err = again.Append(t.Context(), &ports.Record{Kind: ports.KindEnd, Namespace: ports.Base, Terms: []ports.Term{}, Started: at, Ended: at})
	require.NoError(t, err)
	require.False(t, again.Rebuying(), "until the run ends")
	require.NotNil(t, again.End())
}

func live(b *ledger.Book) []int {
	var seqs []int
	for _, e := range b.Live(ports.Base) {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

func TestANoteIsStaleOnceItsVerbIsRecorded(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	r := step("one", "b0", "b1")
	note := ledger.Note{Key: r.Key, Started: r.Started, Name: "step one", Guard: json.RawMessage("null"), Ending: &ledger.Ending{Commit: true, Message: "m"}, Record: r}
	require.NoError(t, b.WriteNote(t.Context(), ports.Base, note))
	got, err := b.ReadNote(t.Context(), ports.Base)
	require.NoError(t, err)
	require.Equal(t, r, got.Record)
	_, err = b.Append(t.Context(), r)
	require.NoError(t, err)
	got, err = b.ReadNote(t.Context(), ports.Base)
	require.NoError(t, err)
	require.Nil(t, got)

	store.Corrupt("job", "notes/_base.ended.json", func(doc []byte) []byte { return doc[:9] })
	_, err = b.ReadNote(t.Context(), ports.Base)
	var corrupt *ports.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Contains(t, corrupt.File, "notes/_base.ended.json")
}

func TestANoteOfBeforeAPowerCutTellsOnlyWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	r := step("one", "b0", "b1")
	note := ledger.Note{Key: r.Key, Started: r.Started, Name: "step one", Guard: json.RawMessage("[]"), Ending: &ledger.Ending{Commit: true}, Record: r}
	require.NoError(t, b.WriteNote(t.Context(), ports.Base, note))
	kept, err := store.Read(t.Context(), "job", "notes/_base.ended.json")
	require.NoError(t, err)
	store.PowerCut()
	require.NoError(t, store.Write(t.Context(), "job", "notes/_base.ended.json", kept, ports.Volatile)) // it happened to be on the disk
	got, err := b.ReadNote(t.Context(), ports.Base)
	require.NoError(t, err)
	require.Nil(t, got.Ending)
	require.Nil(t, got.Record)
	require.JSONEq(t, "[]", string(got.Guard))
}

func TestANoteKeepsALargeValueBehindIt(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	r := step("one", "b0", "b1")
	r.Value = json.RawMessage(`"` + strings.Repeat("x", 10_000) + `"`)
	note := ledger.Note{Key: r.Key, Started: r.Started, Guard: json.RawMessage("null"), Ending: &ledger.Ending{}, Record: r}
	require.NoError(t, b.WriteNote(t.Context(), ports.Base, note))
	got, err := b.ReadNote(t.Context(), ports.Base)
	require.NoError(t, err)
	require.Equal(t, r, got.Record)
	for _, tear := range []func([]byte) []byte{
		func(doc []byte) []byte { return doc[:len(doc)-1] },
		func(doc []byte) []byte { return append(doc[:len(doc)-9], make([]byte, 9)...) },
		func(doc []byte) []byte { return bytes.SplitAfter(doc, []byte("\n"))[0] },
	} {
		require.NoError(t, b.WriteNote(t.Context(), ports.Base, note))
		store.Corrupt("job", "notes/_base.ended.json", tear)
		_, err = b.ReadNote(t.Context(), ports.Base)
		var corrupt *ports.CorruptError
		require.ErrorAs(t, err, &corrupt)
	}
}

func TestAMissingLastRecordIsNamedIfSomethingWasBegunAfterIt(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	_, err := b.Append(t.Context(), step("one", "b0", "b1"))
	require.NoError(t, err)
	require.NoError(t, b.WriteNote(t.Context(), ports.Base, ledger.Note{Key: "k", Started: at, Name: "step two", Guard: json.RawMessage("null")}))
	require.NoError(t, b.Whole(t.Context(), ports.Base))
	require.NoError(t, store.Delete(t.Context(), "job", "records/00000001.json"))
	again, err := ledger.Open(t.Context(), store, "job")
	require.NoError(t, err)
	var corrupt *ports.CorruptError
	require.ErrorAs(t, again.Whole(t.Context(), ports.Base), &corrupt)
	require.Contains(t, corrupt.File, "records/00000001.json")
}

func TestAMissingRecordIsNamed(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	for range 3 {
		_, err := b.Append(t.Context(), step("one", "b0", "b1"))
		require.NoError(t, err)
	}
	require.NoError(t, store.Delete(t.Context(), "job", "records/00000002.json"))
	_, err := ledger.Open(t.Context(), store, "job")
	var corrupt *ports.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Contains(t, corrupt.File, "records/00000002.json")
}

func TestWhatIsNoRecordIsIgnoredAmongThem(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	_, err := b.Append(t.Context(), step("one", "b0", "b1"))
	require.NoError(t, err)
	for _, name := range []string{".DS_Store", "Thumbs.db", "00000001.json-", "00000002.json.orig", "0000002.json", "000000002.json", "0000000x.json", "-0000001.json", "a.json"} {
		require.NoError(t, store.Write(t.Context(), "job", "records/"+name, []byte("{"), ports.Durable))
	}
	again, err := ledger.Open(t.Context(), store, "job")
	require.NoError(t, err)
	require.Equal(t, b.Entries(), again.Entries())
	e, err := again.Append(t.Context(), step("two", "b1", "b2"))
	require.NoError(t, err)
	require.Equal(t, 2, e.Seq)
	again, err = ledger.Open(t.Context(), store, "job")
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, live(again))
}

// counting counts how often each document is read.
type counting struct {
	ports.Store
	reads map[string]int
}

func (c counting) Read(ctx context.Context, label, name string) ([]byte, error) {
	c.reads[name]++
	return c.Store.Read(ctx, label, name)
}

func TestWholeRecordsAreReadOnceEach(t *testing.T) {
	t.Parallel()
	b, store := newBook(t)
	for i := range 20 {
		r := step(fmt.Sprint(i), "b0", "b0")
		if i == 3 {
			r.Value = json.RawMessage(`"` + strings.Repeat("x", 10_000) + `"`)
		}
		if i == 1 {
			r.Retry = 1 // so that the record with the text they share is not asked for
		}
		_, err := b.Append(t.Context(), r)
		require.NoError(t, err)
	}
	c := counting{store, map[string]int{}}
	again, err := ledger.Open(t.Context(), c, "job")
	require.NoError(t, err)
	want := map[string]int{"run.json": 1}
	for _, name := range store.Documents("job", "records/") {
		want[name] = 1
	}
	if diff := cmp.Diff(want, c.reads); diff != "" {
		t.Errorf("reads to open it (-want +got):\n%s", diff)
	}
	clear(c.reads)
	delete(want, "run.json")
	records, err := again.FullOf(t.Context(), again.Live(""))
	require.NoError(t, err)
	require.Len(t, records, 19)
	for _, r := range records {
		require.Equal(t, `"the prompt"`, r.Terms[0].Text)
	}
	if diff := cmp.Diff(want, c.reads); diff != "" {
		t.Errorf("reads of whole records (-want +got):\n%s", diff)
	}
}

// Whatever is in a record's file, reading it names the file or gives a record
// that is written back as the same bytes.
func FuzzARecordIsReadOrNamed(f *testing.F) {
	b, store := newBook(f)
	small, large := step("one", "b0", "b1"), step("two", "b1", "b2")
	large.Value = json.RawMessage(`"` + strings.Repeat("x", 5000) + `"`)
	for _, r := range []*ports.Record{small, large} {
		_, err := b.Append(f.Context(), r)
		require.NoError(f, err)
	}
	for _, name := range store.Documents("job", "records/") {
		doc, err := store.Read(f.Context(), "job", name)
		require.NoError(f, err)
		f.Add(doc)
		f.Add(doc[:len(doc)/2])
		f.Add(bytes.Replace(doc, []byte("1"), []byte("2"), 1))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		b, store := newBook(t)
		require.NoError(t, store.Write(t.Context(), "job", "records/00000001.json", doc, ports.Durable))
		again, err := ledger.Open(t.Context(), store, "job")
		if err != nil {
			var corrupt *ports.CorruptError
			require.ErrorAs(t, err, &corrupt)
			require.Contains(t, corrupt.File, "records/00000001.json")
			return
		}
		r, err := again.Full(t.Context(), 1)
		require.NoError(t, err)
		_, err = b.Append(t.Context(), r)
		require.NoError(t, err)
	})
}

func FuzzAQuestionAndItsAnswerAreReadOrNamed(f *testing.F) {
	store := &mem.Store{}
	q := ports.Question{ID: "0123456789", Run: "job", Namespace: "_base", Text: "Which?", Options: []string{"a", "b"}}
	require.NoError(f, ledger.WriteQuestion(f.Context(), store, q, time.Unix(1, 0).UTC()))
	require.NoError(f, ledger.WriteAnswer(f.Context(), store, "job", q.ID, "a", time.Unix(2, 0).UTC()))
	for _, name := range []string{"questions/0123456789.json", "answers/0123456789.json"} {
		doc, err := store.Read(f.Context(), "job", name)
		require.NoError(f, err)
		f.Add(doc)
		f.Add(doc[:len(doc)/2])
		f.Add(bytes.Replace(doc, []byte("0123456789"), []byte("0123456788"), 1))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		store := &mem.Store{}
		for _, folder := range []string{"questions", "answers"} {
			require.NoError(t, store.Write(t.Context(), "job", folder+"/0123456789.json", doc, ports.Durable))
		}
		named := func(err error, folder string) {
			var corrupt *ports.CorruptError
			require.ErrorAs(t, err, &corrupt)
			require.Contains(t, corrupt.File, folder+"/0123456789.json")
		}
		read, _, err := ledger.ReadQuestion(t.Context(), store, "job", "0123456789")
		if err != nil {
			named(err, "questions")
		} else {
			require.Equal(t, "0123456789", read.ID)
			require.NoError(t, ports.CheckQuestion(read))
		}
		given, err := ledger.ReadAnswer(t.Context(), store, "job", "0123456789")
		if err != nil {
			named(err, "answers")
		} else {
			require.Equal(t, "0123456789", given.ID)
		}
	})
}
