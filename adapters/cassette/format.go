package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/agl/internal/strictjson"
)

// Version is the version of the format that is written and read.
const Version = 1

// Limits of a file.
const (
	maxFile  = 64 << 20
	maxTakes = 10_000
)

// A header is the first line of a file.
type header struct {
	Cassette int               `json:"cassette"`
	Program  string            `json:"program"`
	Version  string            `json:"version,omitempty"`
	Framing  Framing           `json:"framing"`
	Noise    []string          `json:"noise,omitempty"`
	Unread   []string          `json:"unread,omitempty"`
	Volatile map[string]string `json:"volatile,omitempty"`
	Files    bool              `json:"files,omitempty"`
}

// A take is one start of the program.
type take struct {
	Take int               `json:"take"`
	Args []string          `json:"args"`
	Env  map[string]string `json:"env,omitempty"`

	events []event
}

// An event is something that happened while the program ran. One of its fields
// is set, beside At, and Exec.
type event struct {
	At int64 `json:"at"` // milliseconds after the start

	In      json.RawMessage `json:"in,omitempty"`      // a message that the program was sent
	InText  *string         `json:"inText,omitempty"`  // what it was sent that is no message
	Closed  bool            `json:"closed,omitempty"`  // its input was closed
	Signal  string          `json:"signal,omitempty"`  // it was sent a signal
	Out     json.RawMessage `json:"out,omitempty"`     // a message of the program's
	OutText *string         `json:"outText,omitempty"` // what it wrote that is no message, its line's end included
	Err     *string         `json:"err,omitempty"`     // what it wrote to its standard error
	File    *file           `json:"file,omitempty"`    // it wrote a file in its working directory
	Gone    string          `json:"gone,omitempty"`    // it removed one
	Exit    *int            `json:"exit,omitempty"`    // it ended
	Killed  string          `json:"killed,omitempty"`  // a signal ended it
}

// A file is what the program left in a file.
type file struct {
	Name string `json:"name"` // in its working directory, with slashes
	Exec bool   `json:"exec,omitempty"`
	Text string `json:"text"`
}

// A note is what the test has written down beside the channel.
type note struct {
	Note json.RawMessage `json:"note"`
}

// a recording is a whole file.
type recording struct {
	header header
	takes  []take
	notes  []json.RawMessage
}

// read reads a file.
func read(path string) (*recording, error) {
	doc, err := readLimited(path)
	if err != nil {
		return nil, err
	}
	r, err := parse(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func readLimited(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: it is %d bytes long, and a cassette has at most %d", path, info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

// parse reads the text of a file.
func parse(doc []byte) (*recording, error) {
	if len(doc) > maxFile {
		return nil, fmt.Errorf("it is %d bytes long, and a cassette has at most %d", len(doc), maxFile)
	}
	if !utf8.Valid(doc) {
		return nil, errors.New("it is no UTF-8 text")
	}
	lines := bytes.Split(doc, []byte("\n"))
	if len(lines[len(lines)-1]) != 0 {
		return nil, errors.New("its last line has no end: it was cut off")
	}
	lines = lines[:len(lines)-1]
	r := new(recording)
	for i, line := range lines {
		var err error
		if i == 0 {
			err = r.readHeader(line)
		} else {
			err = r.readLine(line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(lines) == 0 {
		return nil, errors.New("it is empty")
	}
	if err := r.whole(); err != nil {
		return nil, fmt.Errorf("line %d: %w", len(lines), err)
	}
	return r, nil
}

func (r *recording) readHeader(line []byte) error {
	var version struct {
		Cassette *int `json:"cassette"`
	}
	if err := json.Unmarshal(line, &version); err != nil || version.Cassette == nil {
		return errors.New(`it is no cassette: the first line has no "cassette"`)
	}
	if *version.Cassette != Version {
		return fmt.Errorf("it is a cassette of version %d, and this is read: %d; record it again", *version.Cassette, Version)
	}
	if err := strictjson.Decode(line, &r.header); err != nil {
		return err
	}
	h := r.header
	switch {
	case h.Program == "" || filepath.Base(h.Program) != h.Program || !filepath.IsLocal(h.Program):
		return fmt.Errorf("the program %q is no name of a file", h.Program)
	case h.Framing != Lines && h.Framing != ContentLength:
		return fmt.Errorf("there is no framing %q", h.Framing)
	}
	for _, u := range h.Unread {
		if pointer, pattern, ok := strings.Cut(u, "="); !ok || !strings.HasPrefix(pointer, "/") {
			return fmt.Errorf("unread %q is no JSON pointer with a pattern", u)
		} else if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("unread %q: %w", u, err)
		}
	}
	for name, pattern := range h.Volatile {
		if !regexp.MustCompile(`^[a-z]+$`).MatchString(name) || kinds[name] != nil || places[name] {
			return fmt.Errorf("%q is no name for a variable", name)
		}
		if _, err := regexp.Compile(pattern); err != nil {
			return fmt.Errorf("volatile %s: %w", name, err)
		}
	}
	return nil
}

// readLine reads a line that is not the first.
func (r *recording) readLine(line []byte) error {
	switch {
	case bytes.HasPrefix(line, []byte(`{"note":`)):
		var n note
		if err := strictjson.Decode(line, &n); err != nil {
			return err
		}
		r.notes = append(r.notes, n.Note)
		return r.validMessage(n.Note)
	case bytes.HasPrefix(line, []byte(`{"take":`)):
		if err := r.whole(); err != nil {
			return err
		}
		var t take
		if err := strictjson.Decode(line, &t); err != nil {
			return err
		}
		if t.Take != len(r.takes)+1 || t.Take > maxTakes {
			return fmt.Errorf("it is take %d, after %d others", t.Take, len(r.takes))
		}
		r.takes = append(r.takes, t)
		return r.valid(slices.Concat(t.Args, values(t.Env)))
	}
	if len(r.takes) == 0 {
		return errors.New("something happens before the first take")
	}
	var e event
	if err := strictjson.Decode(line, &e); err != nil {
		return err
	}
	t := &r.takes[len(r.takes)-1]
	if t.ended() {
		return errors.New("something happens after the program's end")
	}
	if err := r.validEvent(e); err != nil {
		return err
	}
	t.events = append(t.events, e)
	return nil
}

// whole says what the last take lacks.
func (r *recording) whole() error {
	if len(r.takes) > 0 && !r.takes[len(r.takes)-1].ended() {
		return fmt.Errorf("take %d has no end", len(r.takes))
	}
	return nil
}

func (t *take) ended() bool {
	if len(t.events) == 0 {
		return false
	}
	last := t.events[len(t.events)-1]
	return last.Exit != nil || last.Killed != ""
}

func (r *recording) validEvent(e event) error {
	set := 0
	for _, is := range []bool{
		e.In != nil, e.InText != nil, e.Closed, e.Signal != "", e.Out != nil, e.OutText != nil,
		e.Err != nil, e.File != nil, e.Gone != "", e.Exit != nil, e.Killed != "",
	} {
		if is {
			set++
		}
	}
	if set != 1 || e.At < 0 {
		return fmt.Errorf("%d things happen at %d ms; it has to be one, after the start", set, e.At)
	}
	texts := []string{}
	for _, text := range []*string{e.InText, e.OutText, e.Err} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	name := e.Gone
	if e.File != nil {
		name = e.File.Name
		texts = append(texts, e.File.Text)
	}
	if name != "" && !filepath.IsLocal(filepath.FromSlash(name)) || e.File != nil && name == "" {
		return fmt.Errorf("the file %q is not in the working directory", name)
	}
	for _, doc := range []json.RawMessage{e.In, e.Out} {
		if err := r.validMessage(doc); err != nil {
			return err
		}
	}
	if e.Exit != nil && (*e.Exit < 0 || *e.Exit > 255) {
		return fmt.Errorf("there is no exit status %d", *e.Exit)
	}
	return r.valid(texts)
}

func (r *recording) validMessage(doc []byte) error {
	_, err := rewrite(doc, func(_, s string) (string, error) { return s, r.valid([]string{s}) })
	return err
}

// valid says what is wrong with templates.
func (r *recording) valid(texts []string) error {
	for _, text := range texts {
		t, err := parseTemplate(text)
		if err != nil {
			return err
		}
		for _, p := range t {
			if k := kind(p.name); p.name != "" && kinds[k] == nil && !places[k] && r.header.Volatile[k] == "" {
				return fmt.Errorf("there is no variable %q", p.name)
			}
		}
	}
	return nil
}

// text writes a recording as parse reads it.
func (r *recording) text() []byte {
	doc := encode(r.header)
	for _, t := range r.takes {
		doc = append(doc, encode(t)...)
		for _, e := range t.events {
			doc = append(doc, encode(e)...)
		}
	}
	for _, n := range r.notes {
		doc = append(doc, encode(note{n})...)
	}
	return doc
}

func values(m map[string]string) []string {
	var list []string
	for _, v := range m {
		list = append(list, v)
	}
	return list
}
