// Package tapetest is what the tests of the vendors' adapters have in common
// that play recordings of the vendors' programs: where those lie, how they are
// made anew, and how the contract of agents is kept with them.
//
// An adapter's test calls cassette.Main in TestMain, makes its agents with the
// program of [Tape], and gives [Contract]'s function to porttest.Agent as Play.
package tapetest

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"example.com/agl/adapters/cassette"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

// Record is the flag with which recordings are made anew, from the programs
// that testdata/vendors pins.
var Record = flag.Bool("record", false, "record testdata/cassettes again, from the program that testdata/vendors pins")

// Fast is a variable for the environment of what plays: built with -race, it would
// otherwise wait for a second at the end of each take.
const Fast = "GORACE=atexit_sleep_ms=0"

// folder holds an adapter's recordings.
var folder = filepath.Join("testdata", "cassettes")

// Most is how many bytes an adapter's recordings may have.
const Most = 1 << 20

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Tape records program if that was asked for, and else plays what was recorded:
// the file that is named after the subtest, in a folder named by the caller.
func Tape(t testing.TB, in, program string, opts cassette.Options) *cassette.Tape {
	t.Helper()
	_, name, _ := strings.Cut(t.Name(), "/")
	path := filepath.Join(folder, in, strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")+".jsonl")
	if *Record {
		return cassette.Record(t, path, program, opts)
	}
	return cassette.Play(t, path, opts)
}

// Pinned fails the test if a recording is of another version, or does not say of
// itself what it was recorded from, or if there are none, or more than Most
// bytes of them. said is what precedes the version, in quotes, where the program
// itself tells it.
func Pinned(t testing.TB, version, said string) {
	t.Helper()
	size, told := 0, 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		doc, err := os.ReadFile(path)
		size += len(doc)
		header, _, _ := strings.Cut(string(doc), "\n")
		if !strings.Contains(header, `"version":"`+version+`"`) {
			t.Errorf("%s is not of version %s; record it again, see CONTRIBUTING.md", path, version)
		}
		says := strings.Count(string(doc), said+`"`)
		if told += says; says != strings.Count(string(doc), said+`"`+version+`"`) {
			t.Errorf("%s: the program itself says that it is of another version than %s", path, version)
		}
		if err := cassette.Check(path); err != nil {
			t.Error(err)
		}
		return err
	})
	if err != nil || told == 0 || size > Most {
		t.Errorf("in %s: %v; the program tells its version %d times, and there are %d bytes, of %d", folder, err, told, size, Most)
	}
}

// Contract returns the Play of porttest.Agent: agents that start makes, which
// are recorded or played, and its tape. What the suite hears of the service,
// while that is there, is written down with the recording; when it is played, the suite
// hears it after each turn: what the program was sent is the same.
func Contract(start func(t testing.TB, turn porttest.Turn) (ports.Agent, *cassette.Tape)) func(testing.TB, porttest.Turn) ports.Agent {
	return func(t testing.TB, turn porttest.Turn) ports.Agent {
		t.Helper()
		l := &listener{t: t, turn: turn}
		if turn.Prompt != nil {
			turn.Prompt = func(text string) { l.hear(heard{Prompt: &text}) }
		}
		if turn.Result != nil {
			turn.Result = func(r ports.ToolResult) { l.hear(heard{Result: &r}) }
		}
		l.Agent, l.tape = start(t, turn)
		if turn.Prompt == nil && turn.Result == nil {
			return l.Agent
		}
		return l
	}
}

// A listener is an agent with a service that is listened to.
type listener struct {
	ports.Agent
	t    testing.TB
	turn porttest.Turn
	tape *cassette.Tape

	mu  sync.Mutex
	all []heard
}

// A heard is what a service has heard.
type heard struct {
	Prompt *string           `json:"prompt,omitempty"`
	Result *ports.ToolResult `json:"result,omitempty"`
}

func (l *listener) hear(h heard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, h)
}

// Run runs a turn, and then tells what was heard.
func (l *listener) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	o, err := l.Agent.Run(ctx, task, emit)
	l.mu.Lock()
	defer l.mu.Unlock()
	note := l.tape.NextNote
	if *Record {
		note = l.tape.Note
	}
	if err := note(&l.all); err != nil {
		l.t.Error(err)
	}
	for _, h := range l.all {
		if h.Prompt != nil {
			l.turn.Prompt(*h.Prompt)
		} else {
			l.turn.Result(*h.Result)
		}
	}
	l.all = nil
	return o, err
}
