package files_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/files"
	"example.com/agl/ports"
)

const label = "issue-7"

func TestADocumentIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	ctx, home := t.Context(), filepath.Join(t.TempDir(), "not", "yet", "made")
	s := files.New(home, "shop-1a2b3c")
	docs := map[string]string{"run.json": "{}", "records/000001.json": "one", "a/b/c": "\x00\xff", "empty": ""}
	for name, doc := range docs {
		for _, durability := range []ports.Durability{ports.Durable, ports.Volatile} {
			require.NoError(t, s.Write(ctx, label, name, []byte("another"), durability))
			require.NoError(t, s.Write(ctx, label, name, []byte(doc), durability))
			got, err := files.New(home, "shop-1a2b3c").Read(ctx, label, name)
			require.NoError(t, err)
			if string(got) != doc {
				t.Errorf("%s = %q, want %q", name, got, doc)
			}
		}
	}
	want := filepath.Join(home, "projects", "shop-1a2b3c", "runs", label, "records", "000001.json")
	if got := s.Path(label, "records/000001.json"); got != want {
		t.Errorf("Path = %s, want %s", got, want)
	}
	require.FileExists(t, want)

	_, err := s.Read(ctx, label, "records/000002.json")
	require.Equal(t, ports.NotFound, ports.KindOf(err), "%v", err)
	_, err = files.New(home, "other").Read(ctx, label, "run.json")
	require.Equal(t, ports.NotFound, ports.KindOf(err), "another project has its own: %v", err)
}

func TestRunsAndNamesListWhatThereIs(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), files.New(t.TempDir(), "p")
	runs, err := s.Runs(ctx)
	require.NoError(t, err)
	require.Empty(t, runs)
	names, err := s.Names(ctx, label, "records")
	require.NoError(t, err)
	require.Empty(t, names)

	for _, at := range []string{"b run.json", "a deep/er/x", "b records/2", "b records/10", "b records/1", "b records/sub/3"} {
		label, name, _ := strings.Cut(at, " ")
		require.NoError(t, s.Write(ctx, label, name, nil, ports.Volatile))
	}
	// What is no document: an empty run, what a dead writer left, a stray file.
	leave(t, s.Path("none", "records/~tmp.1.1.x"))
	leave(t, s.Path("b", "records/~tmp.1.1.x"))
	leave(t, s.Path("stray", ""))

	runs, err = s.Runs(ctx)
	require.NoError(t, err)
	for folder, want := range map[string][]string{"": {"run.json"}, "records": {"1", "10", "2"}, "records/sub": {"3"}, "none": nil} {
		names, err := s.Names(ctx, "b", folder)
		require.NoError(t, err)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("names in %q (-want +got):\n%s", folder, diff)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestNoNameLeadsOutOfTheStore(t *testing.T) {
	t.Parallel()
	ctx, home := t.Context(), filepath.Join(t.TempDir(), "home")
	s := files.New(home, "p")
	for _, bad := range []string{"", ".", "..", "../x", "/x", "x/", "x//y", "x/../y", "~tmp.1.1.x", "a b", "a\\b", "a:b", "é", "a\x00", strings.Repeat("x", 201)} {
		_, readErr := s.Read(ctx, label, bad)
		_, lockErr := s.Lock(ctx, bad)
		_, holderErr := s.Holder(ctx, bad)
		_, namesErr := s.Names(ctx, bad, "")
		errs := map[string]error{
			"Read": readErr, "Lock": lockErr, "Holder": holderErr, "Names": namesErr,
			"Write": s.Write(ctx, label, bad, nil, ports.Volatile), "Write to label": s.Write(ctx, bad, "x", nil, ports.Volatile),
			"Delete": s.Delete(ctx, label, bad), "Remove": s.Remove(ctx, bad, "run.json"),
			"in a project": files.New(home, bad).Write(ctx, label, "x", nil, ports.Volatile),
		}
		for call, err := range errs {
			if ports.KindOf(err) != ports.Invalid {
				t.Errorf("%s %q: %v, want Invalid", call, bad, err)
			}
		}
	}
	_, err := files.New("relative", "p").Runs(ctx)
	require.Equal(t, ports.Invalid, ports.KindOf(err), "%v", err)
	require.NoDirExists(t, home)
}

func TestDeleteRemovesOneDocumentAndNothingElse(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), files.New(t.TempDir(), "p")
	require.NoError(t, s.Delete(ctx, label, "pending"))
	require.NoError(t, s.Write(ctx, label, "pending", nil, ports.Volatile))
	require.NoError(t, s.Write(ctx, label, "dir/x", nil, ports.Volatile))
	require.NoError(t, s.Delete(ctx, label, "pending"))
	require.NoError(t, s.Delete(ctx, label, "dir/x"))
	require.NoFileExists(t, s.Path(label, "pending"))

	err := s.Delete(ctx, label, "dir")
	require.Equal(t, ports.Unexpected, ports.KindOf(err), "%v", err)
	require.DirExists(t, s.Path(label, "dir"))
}

func TestRemoveLeavesTheLastDocumentUntilTheOthersAreGone(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"run.json", "meta/run.json", "absent", ""} {
		ctx, s := t.Context(), files.New(t.TempDir(), "p")
		require.NoError(t, s.Remove(ctx, label, last))
		require.NoError(t, s.Write(ctx, "other", "run.json", nil, ports.Volatile))
		for _, name := range []string{"run.json", "meta/run.json", "meta/x", "records/1", "zz"} {
			require.NoError(t, s.Write(ctx, label, name, nil, ports.Durable))
		}
		leave(t, s.Path(label, "records/~tmp.1.1.x"))
		require.NoError(t, s.Remove(ctx, label, last))
		require.NoError(t, s.Remove(ctx, label, last))
		require.NoDirExists(t, s.Path(label, ""))
		require.FileExists(t, s.Path("other", "run.json"))

		// A new run of that label finds its folders again.
		require.NoError(t, s.Write(ctx, label, "records/1", nil, ports.Durable))
	}
}

func TestARemoveThatWasInterruptedCanBeRepeated(t *testing.T) {
	t.Parallel()
	for n, done := 0, false; !done; n++ {
		s := files.New(t.TempDir(), "p")
		for _, name := range []string{"a", "records/1", "records/2", "run.json", "z"} {
			require.NoError(t, s.Write(t.Context(), label, name, nil, ports.Volatile))
		}
		err := s.Remove(&expiring{Context: t.Context(), looks: n}, label, "run.json")
		if done = err == nil; !done {
			require.ErrorIs(t, err, context.Canceled)
			runs, err := s.Runs(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{label}, runs)
			require.FileExists(t, s.Path(label, "run.json"))
			require.NoError(t, s.Remove(t.Context(), label, "run.json"))
		}
		require.NoDirExists(t, s.Path(label, ""))
	}
}

// expiring is a context that is cancelled when it was looked at some times.
type expiring struct {
	context.Context
	looks int
}

func (e *expiring) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestReadersSeeWholeDocumentsWhileTheyAreReplaced(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), files.New(t.TempDir(), "p")
	doc := func(i int) []byte { return []byte(strings.Repeat(string(rune('a'+i%26)), 1+i%5000)) }
	require.NoError(t, s.Write(ctx, label, "x", doc(0), ports.Durable))
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range 3 {
		writers.Go(func() {
			for i := range 40 {
				if err := s.Write(ctx, label, "x", doc(w*1000+i), ports.Durable); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Go(func() {
		for {
			got, err := s.Read(ctx, label, "x")
			if err != nil || len(got) == 0 || strings.Trim(string(got), string(got[:1])) != "" {
				t.Errorf("read %.20q…, %v", got, err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	names, err := os.ReadDir(s.Path(label, ""))
	require.NoError(t, err)
	require.Len(t, names, 1, "something was left")
}

// Case D8: what is there and is no document is never "not recorded".
func TestSomethingElseInADocumentsPlaceIsNamed(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), files.New(t.TempDir(), "p")
	require.NoError(t, s.Write(ctx, label, "dir/x", nil, ports.Volatile))
	require.NoError(t, s.Write(ctx, label, "file", nil, ports.Volatile))
	leave(t, s.Path("stray", ""))

	for _, at := range []struct{ label, name string }{{label, "dir"}, {label, "file/x"}, {"stray", "run.json"}} {
		_, err := s.Read(ctx, at.label, at.name)
		var corrupt *ports.CorruptError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, s.Path(at.label, at.name), corrupt.File)

		err = s.Write(ctx, at.label, at.name, nil, ports.Durable)
		require.Equal(t, ports.Unexpected, ports.KindOf(err), "%v", err)
		require.ErrorContains(t, err, s.Path(at.label, at.name))
	}
	_, err := s.Names(ctx, label, "file")
	require.Equal(t, ports.Unexpected, ports.KindOf(err), "%v", err)
}

// Case D8: a torn document is given as it is; what is wrong is for the ledger
// to say.
func TestATornDocumentIsReadAsItIs(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), files.New(t.TempDir(), "p")
	require.NoError(t, s.Write(ctx, label, "run.json", []byte(`{"label":"x"}`), ports.Durable))
	for _, torn := range []string{"", `{"lab`, "\x00\x00\x00"} {
		require.NoError(t, os.WriteFile(s.Path(label, "run.json"), []byte(torn), 0o600))
		got, err := s.Read(ctx, label, "run.json")
		require.NoError(t, err)
		require.Equal(t, torn, string(got))
	}
}

// leave writes a file that is no document, and its folders.
func leave(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
}
