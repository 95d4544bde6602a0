package cassette

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options say how a channel is recorded and played. Those of a recording that
// are needed to play it are in its file.
type Options struct {
	// Version is the program's, as the recording is to say. In Play it is the
	// version that is wanted: a recording of another one fails the test. Empty:
	// any.
	Version string

	Framing Framing // of the channel; "" for Lines

	// Env are the names of variables of the program's environment, or patterns
	// of them as of path.Match, whose values are recorded, and compared when
	// the recording is played: what the adapter itself sets.
	Env []string

	// Files says that the text files which the program writes, changes and
	// removes in its working directory are recorded; when the recording is
	// played they are written before what the program said next. Keep the
	// folder small: it is looked at before each message of the program's.
	Files bool

	// Volatile are further kinds of values that are others each time: a name, in
	// lower-case letters, and a regular expression whose last group is the value.
	// What the adapter says first may then be any that the expression matches;
	// what it or the program says later is the same one.
	Volatile map[string]string

	// Secrets are further values that must not be in the file. Those of variables
	// of the environment whose names speak of keys, tokens and the like are known,
	// as are members of objects that are called apiKey, authorization and so on.
	Secrets []string

	// Noise are JSON pointers ("/response/models") into messages of the
	// program's to lists, objects and texts which the adapter does not read. They are
	// recorded empty, to keep files small; of an object whose pointer ends in "/", what
	// is null in it is left out. The file lists them.
	Noise []string

	// Unread are the messages of the program's which the adapter passes over, by a
	// text in them: a JSON pointer and a pattern as of path.Match, "/method=log.*".
	// They are left out. The file lists them.
	Unread []string

	// Speed is how fast a recording is played: 1 as it was recorded, 2 twice as
	// fast. 0: at once.
	Speed float64

	// Patience is how long is waited for what the adapter sends in the
	// recording, beyond twice the time it took then; 0 for DefaultPatience.
	Patience time.Duration
}

// DefaultPatience is how long a program that is played waits for its adapter.
const DefaultPatience = 20 * time.Second

// A Tape is a file that is recorded or played by a test.
type Tape struct {
	// Program is the path of an executable to be started in the program's place,
	// as often as in the recording.
	Program string

	t       testing.TB
	path    string
	control control
	played  *recording

	mu    sync.Mutex
	notes []json.RawMessage
}

// Record returns a tape whose Program runs program and writes down what passes
// between it and whoever has started it. When the test is over, and has not
// failed, that becomes the file at path, which is made or replaced. In a test
// that has called Record or Play with this path before, it is that tape.
func Record(t testing.TB, path, program string, opts Options) *Tape {
	t.Helper()
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	return tapeOf(t, path, func(tape *Tape) error {
		tape.control.Record = program
		tape.control.Header = header{
			Cassette: Version, Program: strings.TrimSuffix(filepath.Base(program), ".exe"), Version: opts.Version, Framing: cmp.Or(opts.Framing, Lines),
			Noise: opts.Noise, Unread: opts.Unread, Volatile: opts.Volatile, Files: opts.Files,
		}
		// What cannot be read again is not recorded.
		if _, err := parse(encode(tape.control.Header)); err != nil {
			return err
		}
		t.Cleanup(tape.save)
		return nil
	}, opts)
}

// Play returns a tape whose Program does what the file at path says. The test
// fails, and is shown the difference, if the program is started or spoken to in
// another way than in the recording, and also if it is not started as often or
// is ended before. In a test that has called Play with this path before, it is
// that tape: its takes go on.
func Play(t testing.TB, path string, opts Options) *Tape {
	t.Helper()
	return tapeOf(t, path, func(tape *Tape) (err error) {
		if tape.played, err = read(tape.path); err != nil {
			return err
		}
		tape.control.Play, tape.control.Header = tape.path, tape.played.header
		if got := tape.played.header.Version; opts.Version != "" && got != opts.Version {
			return fmt.Errorf("%s: it was recorded from version %q of %s, and version %q is wanted; record it again", tape.path, got, tape.played.header.Program, opts.Version)
		}
		tape.notes = tape.played.notes
		t.Cleanup(tape.judge)
		return nil
	}, opts)
}

// tapes are those of the tests that run, by test and path.
var tapes sync.Map

func tapeOf(t testing.TB, path string, begin func(*Tape) error, opts Options) *Tape {
	t.Helper()
	if !ready {
		t.Fatal("cassette: Main was not called; call cassette.Main() first in TestMain")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	key := t.Name() + "\n" + path
	if tape, ok := tapes.Load(key); ok {
		return tape.(*Tape)
	}
	dir := t.TempDir()
	tape := &Tape{t: t, path: path, control: control{
		State: filepath.Join(dir, "state"), Env: opts.Env, Secrets: opts.Secrets, Speed: opts.Speed, Patience: cmp.Or(opts.Patience, DefaultPatience),
	}}
	err = begin(tape)
	if err == nil {
		err = os.Mkdir(tape.control.State, 0o700)
	}
	if err == nil {
		tape.Program, err = tape.control.install(dir)
	}
	if err != nil {
		t.Fatalf("cassette: %v", err)
	}
	tapes.Store(key, tape)
	t.Cleanup(func() { tapes.Delete(key) })
	return tape
}

// Note writes down something beside the channel, to be had again when the
// recording is played: what the service heard, for a test that looks at it.
func (tape *Tape) Note(v any) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing a note: %w", err)
	}
	tape.mu.Lock()
	defer tape.mu.Unlock()
	tape.notes = append(tape.notes, doc)
	return nil
}

// NextNote sets *v to the next note of a recording that is played.
func (tape *Tape) NextNote(v any) error {
	tape.mu.Lock()
	defer tape.mu.Unlock()
	if len(tape.notes) == 0 {
		return errors.New("cassette: there is no other note")
	}
	doc := tape.notes[0]
	tape.notes = tape.notes[1:]
	doc, err := newVariables(nil, tape.Program).message(doc)
	if err != nil {
		return err
	}
	return json.Unmarshal(doc, v)
}

// problems returns what the processes of the tape have found.
func (tape *Tape) problems() []string {
	var found []string
	names, _ := filepath.Glob(filepath.Join(tape.control.State, "problem-*"))
	for _, name := range names {
		doc, _ := os.ReadFile(name)
		found = append(found, string(doc))
	}
	return found
}

// judge says what was played in another way than it was recorded.
func (tape *Tape) judge() {
	problems := tape.problems()
	for _, p := range problems {
		tape.t.Errorf("cassette: %s", p)
	}
	if len(problems) > 0 || tape.t.Failed() {
		return // the rest comes of it
	}
	for n := 1; n <= len(tape.played.takes); n++ {
		switch {
		case !there(tape.control.path("take", n)):
			tape.t.Errorf("cassette: %s: the program was not started as in take %d of %d", tape.path, n, len(tape.played.takes))
		case !there(tape.control.path("done", n)):
			tape.t.Errorf("cassette: %s: the program was ended before the end of take %d", tape.path, n)
		}
	}
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// save makes a file of the takes.
func (tape *Tape) save() {
	for _, p := range tape.problems() {
		tape.t.Errorf("cassette: %s: %s", tape.path, p)
	}
	// A test may be skipped when it has come to what it cannot do; then it is when
	// this is played.
	if tape.t.Failed() || tape.t.Skipped() && !there(tape.control.path("take", 1)) {
		tape.t.Logf("cassette: %s: nothing was recorded, as the test has not passed", tape.path)
		return
	}
	if err := tape.write(); err != nil {
		tape.t.Errorf("cassette: recording %s: %v", tape.path, err)
	}
}

func (tape *Tape) write() error {
	doc := encode(tape.control.Header)
	for n := 1; ; n++ {
		lines, err := os.ReadFile(tape.control.path("take", n))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		doc = append(doc, closed(lines)...)
	}
	secrets := newRedactor(tape.control.Record, tape.control.Secrets, nil)
	secrets.kinds = nil // what else is in a note is the test's own
	for _, n := range tape.notes {
		line, err := secrets.message(encode(note{n}))
		if err != nil {
			return err
		}
		doc = append(doc, line...)
	}
	// The one who records has secrets too, which the program need not know.
	if err := secrets.leaked(doc); err != nil {
		return err
	}
	if _, err := parse(doc); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(tape.path), 0o755); err != nil {
		return err
	}
	temp := tape.path + ".new"
	if err := os.WriteFile(temp, doc, 0o644); err != nil {
		return err
	}
	return os.Rename(temp, tape.path)
}

// closed is a take with an end. One that has none was killed, and its recorder
// with it; what it was about to write is not there.
func closed(lines []byte) []byte {
	lines = lines[:bytes.LastIndexByte(lines, '\n')+1]
	last := bytes.TrimSuffix(lines, []byte("\n"))
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	var e event
	if json.Unmarshal(last, &e) == nil && (e.Exit != nil || e.Killed != "") {
		return lines
	}
	lines = append(lines, encode(event{At: e.At, Signal: "SIGKILL"})...)
	return append(lines, encode(event{At: e.At, Killed: "SIGKILL"})...)
}

// Check returns what is wrong with the file at path.
func Check(path string) error {
	_, err := read(path)
	return err
}
