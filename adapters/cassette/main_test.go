package cassette_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/cassette"
)

// parrot is a variable with which this binary is a program that does what it
// is told: "lines" or "content-length".
const parrot = "CASSETTE_TEST_PARROT"

func TestMain(m *testing.M) {
	cassette.Main()
	if framing := os.Getenv(parrot); framing != "" {
		speak(framing)
	}
	os.Exit(m.Run())
}

// An order is what the parrot is told.
type order struct {
	Say    any               `json:"say,omitempty"`    // it says that
	Env    string            `json:"env,omitempty"`    // the value of a variable
	Self   bool              `json:"self,omitempty"`   // where it is
	Raw    string            `json:"raw,omitempty"`    // and that, which is no message
	Err    string            `json:"err,omitempty"`    // on standard error
	Write  map[string]string `json:"write,omitempty"`  // files
	Remove string            `json:"remove,omitempty"` // a file
	Calls  int               `json:"calls,omitempty"`  // it calls so often at once, and says "done" when all was answered
	Answer string            `json:"answer,omitempty"` // to such a call
	Die    bool              `json:"die,omitempty"`
	Exit   *int              `json:"exit,omitempty"`
	ID     string            `json:"id,omitempty"` // is echoed
}

// speak is the parrot. It ends at the end of its input, with status 5.
func speak(framing string) {
	say := func(v any) {
		doc, _ := json.Marshal(v)
		if framing == "lines" {
			fmt.Printf("%s\n", doc)
		} else {
			fmt.Printf("Content-Length: %d\r\n\r\n%s", len(doc), doc)
		}
	}
	in, waiting := bufio.NewReader(os.Stdin), 0
	for {
		doc, err := receive(framing, in)
		if err != nil {
			os.Exit(5)
		}
		var o order
		if err := json.Unmarshal([]byte(doc), &o); err != nil {
			say(map[string]any{"odd": doc})
			continue
		}
		switch {
		case o.Env != "":
			say(map[string]any{"value": os.Getenv(o.Env), "id": o.ID})
		case o.Self:
			path, _ := os.Executable()
			say(path)
		case o.Raw != "":
			fmt.Print(o.Raw)
		case o.Err != "":
			fmt.Fprint(os.Stderr, o.Err)
		case o.Write != nil:
			for name, text := range o.Write {
				_ = os.WriteFile(name, []byte(text), 0o700)
			}
			say("written")
		case o.Remove != "":
			_ = os.Remove(o.Remove)
			say("removed")
		case o.Calls > 0:
			waiting = o.Calls
			for n := range o.Calls {
				say(map[string]any{"call": n})
			}
		case o.Answer != "":
			if waiting--; waiting == 0 {
				say("done")
			}
		case o.Die:
			die()
		case o.Exit != nil:
			os.Exit(*o.Exit)
		default:
			say(map[string]any{"said": o.Say, "id": o.ID})
		}
	}
}

func receive(framing string, in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if framing == "lines" || err != nil {
		return strings.TrimSuffix(line, "\n"), err
	}
	length := 0
	for strings.TrimSpace(line) != "" {
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
		if line, err = in.ReadString('\n'); err != nil {
			return "", err
		}
	}
	body := make([]byte, length)
	_, err = io.ReadFull(in, body)
	return string(body), err
}

// A client is what an adapter is to a program.
type client struct {
	t       testing.TB
	cmd     *exec.Cmd
	framing string
	in      io.WriteCloser
	out     *bufio.Reader
	errs    strings.Builder
}

// connect starts a program, in a folder and with a home of its own.
func connect(t testing.TB, program, framing string, args []string, env ...string) *client {
	t.Helper()
	return connectIn(t, t.TempDir(), program, framing, args, env...)
}

func connectIn(t testing.TB, dir, program, framing string, args []string, env ...string) *client {
	t.Helper()
	c := &client{t: t, cmd: exec.Command(program, args...), framing: framing}
	c.cmd.Dir = dir
	c.cmd.Env = append([]string{parrot + "=" + framing, "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "SystemRoot=" + os.Getenv("SystemRoot")}, env...)
	in, err := c.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	c.in, c.out = in, bufio.NewReader(out)
	c.cmd.Stderr = &c.errs
	isolate(c.cmd)
	require.NoError(t, c.cmd.Start())
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

// send sends an order, or any other text.
func (c *client) send(v any) {
	c.t.Helper()
	doc, ok := v.(string)
	if !ok {
		line, err := json.Marshal(v)
		require.NoError(c.t, err)
		doc = string(line)
	}
	if c.framing == "lines" {
		doc += "\n"
	} else {
		doc = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(doc), doc)
	}
	_, _ = io.WriteString(c.in, doc) // it may have ended
}

// hear returns what the program says next, "" at the end.
func (c *client) hear() string {
	c.t.Helper()
	text, _ := receive(c.framing, c.out)
	return text
}

// end returns the status with which the program ends, and what it wrote to
// standard error. Its input is closed.
func (c *client) end() (int, string) {
	c.t.Helper()
	c.in.Close()
	return c.wait()
}

func (c *client) wait() (int, string) {
	c.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, c.out)
		ended <- c.cmd.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		c.t.Fatal("the program does not end")
	}
	return c.cmd.ProcessState.ExitCode(), c.errs.String()
}

// self is the program that is recorded.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// A spy is a test of which it is seen how it ends.
type spy struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	skipped  bool
	cleanups []func()
}

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, fmt.Sprintf(format, args...))
}

func (s *spy) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	panic(s)
}

func (s *spy) FailNow() { panic(s) }

func (s *spy) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.failures) > 0
}

func (s *spy) Skip(...any) {
	s.skipped = true
	panic(s)
}

func (s *spy) Skipped() bool { return s.skipped }

func (s *spy) Cleanup(fn func()) { s.cleanups = append(s.cleanups, fn) }

// spied runs a test and returns how it failed, "" if it did not.
func spied(t testing.TB, test func(t testing.TB)) string {
	s := &spy{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(s) {
				panic(p)
			}
		}()
		test(s)
	}()
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
	return strings.Join(s.failures, "\n")
}

// A drive is what an adapter does with a program.
type drive func(t testing.TB, program string)

// recording records a drive and returns the file, which has to come of it.
func recording(t testing.TB, opts cassette.Options, drive drive) string {
	t.Helper()
	path := t.TempDir() + "/tape.jsonl"
	failure := spied(t, func(t testing.TB) { drive(t, cassette.Record(t, path, self(t), opts).Program) })
	require.Empty(t, failure)
	return path
}

// playing plays a file for a drive, and returns how that fails.
func playing(t testing.TB, path string, opts cassette.Options, drive drive) string {
	t.Helper()
	return spied(t, func(t testing.TB) { drive(t, cassette.Play(t, path, opts).Program) })
}

func content(t testing.TB, path string) string {
	t.Helper()
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(doc)
}
