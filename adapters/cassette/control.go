package cassette

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// A control says what an executable that Record or Play has made is to do. It
// lies beside it.
type control struct {
	Record string `json:"record,omitempty"` // the program to record
	Play   string `json:"play,omitempty"`   // the file to play
	State  string `json:"state"`            // a folder for what is found out

	Header   header        `json:"header"`
	Env      []string      `json:"env,omitempty"`
	Secrets  []string      `json:"secrets,omitempty"`
	Speed    float64       `json:"speed,omitempty"`
	Patience time.Duration `json:"patience"`
}

// beside is added to the path of an executable.
const beside = ".cassette"

// ready is whether Main was called in this process.
var ready bool

// Main makes of this process what it was started for, if it was started as an
// executable that Record or Play has made, and does not return then. It has to
// be called in TestMain, before anything else.
func Main() {
	ready = true
	program, doc := os.Args[0], []byte(nil)
	doc, err := os.ReadFile(program + beside)
	if errors.Is(err, fs.ErrNotExist) && runtime.GOOS == "windows" {
		program, _ = os.Executable()
		doc, err = os.ReadFile(program + beside)
	}
	if err != nil {
		return
	}
	var c control
	if err := json.Unmarshal(doc, &c); err != nil {
		return
	}
	if c.Record != "" {
		c.record()
	} else {
		c.play(program)
	}
	os.Exit(failed) // not reached
}

// failed is the exit status of an executable that could not do what it was made for.
const failed = 97

// install makes an executable in a folder, which does what c says: this one,
// under another name.
func (c *control) install(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, c.Header.Program)
	if runtime.GOOS != "windows" {
		err = os.Symlink(self, path)
	} else if path += ".exe"; os.Link(self, path) != nil { // another volume
		err = duplicate(path, self)
	}
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path+beside, encode(c), 0o600)
}

func duplicate(path, of string) error {
	from, err := os.Open(of)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// claim takes a number that no other process has, the first of those that ok
// takes, and returns it; 0 if there is none.
func (c *control) claim(most int, ok func(n int) bool) (int, *os.File, error) {
	for n := 1; n <= most; n++ {
		if !ok(n) {
			continue
		}
		f, err := os.OpenFile(c.path("take", n), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if err == nil {
			return n, f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return 0, nil, err
		}
	}
	return 0, nil, nil
}

// path is where something about a take is kept.
func (c *control) path(what string, n int) string {
	return filepath.Join(c.State, fmt.Sprintf("%s-%d", what, n))
}

// problem keeps what went wrong for the test to tell, and tells it on standard
// error as well.
func (c *control) problem(n int, text string) {
	fmt.Fprintf(os.Stderr, "cassette: %s\n", text)
	_ = os.WriteFile(c.path(fmt.Sprintf("problem-%d", os.Getpid()), n), []byte(text), 0o600)
}
