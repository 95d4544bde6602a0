package vendorprog_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

func TestAToolMayTakeLongerThanAProgramMayBeSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running := 1
		w := vendorprog.NewWatch(time.Minute, func() int { return running })
		defer w.Stop()
		began := time.Now()
		for range 59 { // as long as a person thinks
			<-w.C()
			if w.Silent() {
				t.Fatalf("after %v it is called silent, while a tool runs", time.Since(began))
			}
			w.Seen()
		}
		running = 0
		w.Replied()
		w.Replied()
		<-w.C()
		if w.Silent() {
			t.Error("it is called silent, and a tool has returned that was not taken note of")
		}
		w.Seen()
		<-w.C()
		if !w.Silent() || time.Since(began) != 61*time.Minute {
			t.Errorf("after %v it is not called silent; want it after 61 minutes", time.Since(began))
		}
	})
}

func TestAProgramHasItsOwnEnvironment(t *testing.T) {
	t.Parallel()
	p := vendorprog.Program{Env: []string{"A=1", "OUTER=x", "GIT_DIR=x", "OUTER_NOT=2"}, Outer: []string{"OUTER"}}
	if got, want := p.Environ("B=3"), []string{"A=1", "OUTER_NOT=2", "B=3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := vendorprog.MarkOf([]string{"A=1", ports.EnvStep + "=", ports.EnvStep + "=x"}); got != ports.EnvStep+"=x" {
		t.Errorf("the mark is %q", got)
	}
}

func TestAProgramThatIsNotThereIsUnavailable(t *testing.T) {
	t.Parallel()
	p := vendorprog.Program{Op: "Thing", Name: "thing", Install: "get thing", Env: []string{"PATH=relative:" + t.TempDir()}}
	_, err := p.Find()
	err = p.Unstarted(t.Context(), err)
	if !errors.Is(err, ports.Unavailable) || !strings.Contains(err.Error(), "get thing") {
		t.Errorf("got %v, want Unavailable and how to install it", err)
	}
	run := vendorprog.Start(&proc.Cmd{Args: []string{t.TempDir() + "/thing"}})
	defer run.End()
	<-run.Gone()
	if _, err := run.Exit(); err == nil || errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v, want why it was not started", err)
	}
}

func TestWhatAnAgentDoesIsOneLine(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"path":"/w/t/a.go","n":1}`: "Read a.go",
		`{"n":[1,2]}`:                "Read [1,2]",
		`{}`:                         "Read",
		`7`:                          "Read",
		`{"c":"a\u001b[1m\nb"}`:      "Read a\ufffd[1m b",
		`{"c":"a"}{`:                 "Read a",
	} {
		e := vendorprog.Deed("Read", vendorprog.FirstArgument(json.RawMessage(input)), "/w/t")
		if e.Text != want || e.Kind != ports.AgentActivity {
			t.Errorf("%s: got %+v, want %q", input, e, want)
		}
	}
	if n := len(vendorprog.Activity(strings.Repeat("x", 1000)).Text); n > 310 {
		t.Errorf("an activity has %d bytes", n)
	}
}
