//go:build unix

package files_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/files"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func TestTheStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Store(t, porttest.StoreOptions{
		New: func(t testing.TB) ports.Store { return files.New(filepath.Join(t.TempDir(), "home"), "p") },
		Reopen: func(_ testing.TB, s ports.Store) ports.Store {
			return files.New(homeOf(s), "p")
		},
		Process: func(_ testing.TB, s ports.Store) *exec.Cmd {
			return other("store", homeOf(s))
		},
		WriteWithoutRoom: orderWithoutRoom,
		Forbid: func(t testing.TB, s ports.Store, label string, do func()) {
			for _, dir := range []string{"", "records"} {
				require.NoError(t, os.Chmod(s.Path(label, dir), 0o500))
			}
			done := make(chan struct{})
			go func() { // whose thread ends with it
				defer close(done)
				asNobody(t)
				do()
			}()
			<-done
			for _, dir := range []string{"", "records"} {
				require.NoError(t, os.Chmod(s.Path(label, dir), 0o700))
			}
		},
	})
}

// homeOf returns the home folder of a store of project "p".
func homeOf(s ports.Store) string { return filepath.Join(s.Path("x", ""), "../../../..") }

// A tooLarge is a write for which the process that is to do it has no room.
type tooLarge struct {
	Label, Name string
	Doc         []byte
	Durability  ports.Durability
}

// A refusal is the error of a tooLarge write.
type refusal struct {
	Kind    ports.Kind
	Message string
}

func orderWithoutRoom(t testing.TB, s ports.Store, label, name string, doc []byte, durability ports.Durability) error {
	cmd := other("without room", homeOf(s))
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, json.NewEncoder(in).Encode(tooLarge{label, name, doc, durability}))
	var r refusal
	require.NoError(t, json.NewDecoder(out).Decode(&r))
	require.NoError(t, cmd.Wait())
	if r.Kind == "" {
		return errors.New(r.Message)
	}
	return r.Kind.Errorf("", "%s", r.Message)
}

// writeWithoutRoom is the process that has none.
func writeWithoutRoom(home string) error {
	var w tooLarge
	if err := json.NewDecoder(os.Stdin).Decode(&w); err != nil {
		return err
	}
	if err := limitFiles(); err != nil {
		return err
	}
	s := files.New(home, "p")
	err := s.Write(quiet, w.Label, w.Name, w.Doc, w.Durability)
	if err == nil {
		return errors.New("there was room")
	}
	_, err = io.WriteString(os.Stdout, mustJSON(refusal{ports.KindOf(err), err.Error()}))
	return err
}

func mustJSON(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(doc)
}
