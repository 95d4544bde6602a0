package porttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/agl/ports"
)

// kept is how much of a gate's output a verdict has.
const kept = 64 << 10

// short is a gate's time where it is to run out.
const short = 300 * time.Millisecond

var verifierRules = []rule[VerifierOptions]{
	{
		"the gate is described",
		"Gate says what the gate runs and how long it may take, on one line and the same each time, also after it has run.",
		func(c *check, o VerifierOptions) {
			v := o.New(c, Gate{Output: "x", Timeout: 2 * time.Hour})
			gate := v.Gate()
			if gate.Command == "" {
				c.Errorf("the gate has no command; want one")
			}
			same(c, gate.Timeout, 2*time.Hour, "the gate's time")
			_, err := v.Verify(c.Context(), ports.VerifyTask{Dir: c.TempDir()})
			c.must(err, "running the gate")
			same(c, v.Gate(), gate, "the gate, when asked again")
			if d := o.New(c, Gate{}).Gate().Timeout; d <= 0 {
				c.Errorf("a gate that was given no time has %v; want a limit", d)
			}
		},
	},
	{
		"a build that passes is a passed verdict",
		"A gate that ends as a success, in time, passes, and there is nothing to note about it.",
		func(c *check, o VerifierOptions) {
			for _, gate := range []Gate{{}, {Output: "FAIL error panic\n"}} {
				if verdict, _ := o.verify(c, gate); !verdict.Passed {
					c.Errorf("%+v: got %+v, want Passed", gate, verdict)
				} else if verdict.Note != "" {
					c.Errorf("%+v passed with the note %q; want none", gate, verdict.Note)
				}
			}
		},
	},
	{
		"a build that fails is a failed verdict",
		"A failing build is a verdict, and no error.",
		func(c *check, o VerifierOptions) {
			for _, gate := range []Gate{{Fail: true}, {Fail: true, Output: "ok PASS\n"}} {
				if verdict, _ := o.verify(c, gate); verdict.Passed {
					c.Errorf("%+v: got %+v, want not Passed", gate, verdict)
				}
			}
		},
	},
	{
		"a build that takes too long is a failed verdict",
		"A gate that takes longer than it may is ended then, and is a failed verdict, no error; its note says why and its output what it wrote until then.",
		func(c *check, o VerifierOptions) {
			var verdict ports.Verdict
			for _, timeout := range []time.Duration{short, 5 * short} { // a busy machine may not have begun in a short time
				c.soon("running a gate that hangs", func() { verdict, _ = o.verify(c, Gate{Output: "working\n", Hang: true, Timeout: timeout}) })
				if verdict.Passed || verdict.Note == "" || verdict.Took < timeout {
					c.Fatalf("a gate that was ended after %v: got %+v; want it failed, with a note, no earlier", timeout, verdict)
				}
				if verdict.Output == "working\n" {
					return
				}
			}
			same(c, verdict.Output, "working\n", "the output until then")
		},
	},
	{
		"output is what was written",
		"A verdict has what the gate wrote, control characters and line ends as they are, whether it passed or failed.",
		func(c *check, o VerifierOptions) {
			for _, output := range []string{
				"", "\n", "no newline", "one\ntwo\n", "\ttabs and  spaces \n\n", "äöü €\n", "--help $HOME `x` %s \\n\n",
				"one\r\ntwo\r\n", "10%\r100%\n", "\x1b[31mred\x1b[0m\n", "nul \x00, bell \a, \b and \x7f\n",
			} {
				for _, fails := range []bool{false, true} {
					verdict, _ := o.verify(c, Gate{Output: output, Fail: fails})
					same(c, verdict.Output, output, "the output")
				}
			}
		},
	},
	{
		"of long output the end is kept",
		"A verdict has the last 64 KiB of what the gate wrote, and so all of it if that is not more.",
		func(c *check, o VerifierOptions) {
			for _, n := range []int{kept/2 + 1, kept} {
				whole := strings.Repeat("0123456789abcde\n", n/16+1)[:n]
				if verdict, _ := o.verify(c, Gate{Output: whole}); verdict.Output != whole {
					c.Errorf("of %d bytes %d are kept, %s; want all", n, len(verdict.Output), excerpt(verdict.Output))
				}
			}
			output := strings.Repeat("a line of output\n", 20_000) + "the end\n"
			verdict, _ := o.verify(c, Gate{Output: output, Fail: true})
			if n := len(verdict.Output); n > kept || n < kept-utf8.UTFMax {
				c.Errorf("%d bytes are kept, of %d; want %d", n, len(output), kept)
			}
			if !strings.HasSuffix(output, verdict.Output) || verdict.Output == "" {
				c.Errorf("what is kept begins %s; want the end of the output", excerpt(verdict.Output))
			}
		},
	},
	{
		"output can be recorded",
		"A verdict's output is valid UTF-8 and no longer than 64 KiB, whatever was written.",
		func(c *check, o VerifierOptions) {
			for _, output := range []string{"\xff\xfe broken \xc3\n", strings.Repeat("\xff", 2*kept), strings.Repeat("€", kept)} {
				verdict, _ := o.verify(c, Gate{Output: output})
				if !utf8.ValidString(verdict.Output) || len(verdict.Output) > kept {
					c.Errorf("the output of %s is %s; want valid UTF-8 of at most 64 KiB", excerpt(output), excerpt(verdict.Output))
				}
				if verdict.Output == "" {
					c.Errorf("nothing is left of %s; want some of it", excerpt(output))
				}
			}
		},
	},
	{
		"a verdict says what it is about",
		"A verdict has the gate's command and the time it took, which is more than none where a program ran. Tree is not filled in.",
		func(c *check, o VerifierOptions) {
			for _, gate := range []Gate{{}, {Fail: true}, {Hang: true, Timeout: short}} {
				v := o.New(c, gate)
				began := time.Now()
				verdict, err := v.Verify(c.Context(), ports.VerifyTask{Dir: c.TempDir()})
				all := time.Since(began)
				c.must(err, "running the gate")
				same(c, verdict.Command, v.Gate().Command, "the command")
				same(c, verdict.Tree, "", "the tree")
				if verdict.Took < 0 || verdict.Took > all {
					c.Errorf("it took %v; want between 0 and the %v that the call took", verdict.Took, all)
				}
				if verdict.Took == 0 && (o.Programs || gate.Hang) {
					c.Errorf("it took 0s, says a verdict after %v; want the time that the gate took", all)
				}
			}
		},
	},
	{
		"a cancelled gate is no verdict",
		"When its context is cancelled, a gate is ended: there is no verdict, and the error wraps that of the context and has no kind.",
		func(c *check, o VerifierOptions) {
			for _, how := range []string{"before", "while it runs", "by a deadline"} {
				ctx, cancel := context.WithCancel(c.Context())
				want := context.Canceled
				switch how {
				case "before":
					cancel()
				case "while it runs":
					time.AfterFunc(short, cancel)
				default:
					ctx, cancel = context.WithTimeout(c.Context(), short)
					want = context.DeadlineExceeded
				}
				defer cancel()
				v := o.New(c, Gate{Output: "working\n", Hang: true})
				c.soon("running a gate that is cancelled "+how, func() {
					verdict, err := v.Verify(ctx, ports.VerifyTask{Dir: c.TempDir()})
					if !errors.Is(err, want) || ports.KindOf(err) != "" {
						c.Errorf("cancelled %s: want an error that wraps %v and has no kind, got %q: %v", how, want, ports.KindOf(err), err)
					}
					if verdict.Passed {
						c.Errorf("cancelled %s, it passed; want no verdict", how)
					}
				})
			}
		},
	},
	{
		"a gate that cannot be started is an error",
		"Only what could not be started is an error: Unavailable, and never passed.",
		func(c *check, o VerifierOptions) {
			c.needs(o.CannotStart != nil, "VerifierOptions.CannotStart")
			v, task := o.CannotStart(c)
			verdict, err := v.Verify(c.Context(), task)
			c.kind(err, ports.Unavailable, "running a gate that cannot be started")
			if verdict.Passed {
				c.Errorf("it passed: %+v; want it not to", verdict)
			}
		},
	},
	{
		"where there is no gate nothing passes",
		"An empty Command means that there is no gate; then there is no verdict, but an error with a kind.",
		func(c *check, o VerifierOptions) {
			c.needs(o.None != nil, "VerifierOptions.None")
			v := o.None(c)
			same(c, v.Gate().Command, "", "the command of no gate")
			verdict, err := v.Verify(c.Context(), ports.VerifyTask{Dir: c.TempDir()})
			if err == nil || ports.KindOf(err) == "" || verdict.Passed {
				c.Errorf("no gate was run: got %+v, error %v of kind %q; want an error with a kind", verdict, err, ports.KindOf(err))
			}
		},
	},
	{
		"a gate can run again",
		"A verifier runs its gate each time it is asked, also after it failed.",
		func(c *check, o VerifierOptions) {
			v := o.New(c, Gate{Output: "once\n", Fail: true})
			for n := range 3 {
				verdict, err := v.Verify(c.Context(), ports.VerifyTask{Dir: c.TempDir()})
				c.must(err, fmt.Sprintf("running the gate for the %d. time", n+1))
				same(c, verdict.Output, "once\n", "the output")
			}
		},
	},
	{
		"a gate is not remembered",
		"A verdict is what the gate finds when it is asked, in the same checkout as well: a fixed build passes, a broken one fails.",
		func(c *check, o VerifierOptions) {
			c.needs(o.Changes, "VerifierOptions.Changes")
			for _, fails := range []bool{true, false} {
				v := o.New(c, Gate{Output: "before\n", Fail: fails, Then: &Gate{Output: "after\n", Fail: !fails}})
				task := ports.VerifyTask{Dir: c.TempDir()}
				for n, want := range []ports.Verdict{{Passed: !fails, Output: "before\n"}, {Passed: fails, Output: "after\n"}} {
					verdict, err := v.Verify(c.Context(), task)
					c.must(err, "running the gate")
					if verdict.Passed != want.Passed || verdict.Output != want.Output {
						c.Errorf("run %d: got passed %v, output %q; want %v, %q", n+1, verdict.Passed, verdict.Output, want.Passed, want.Output)
					}
				}
			}
		},
	},
	{
		"gates run at once",
		"A verifier may be used by several goroutines at once: each gets its own verdict.",
		func(c *check, o VerifierOptions) {
			gate, name := Gate{Output: "out\n"}, "AGL_TEST_WHICH"
			if o.Programs {
				gate.PrintEnv = name
			}
			v := o.New(c, gate)
			c.together(6, func(i int) {
				which, want := fmt.Sprint("gate ", i), "out\n"
				if o.Programs {
					want += which
				}
				verdict, err := v.Verify(c.Context(), ports.VerifyTask{Dir: c.TempDir(), Env: []string{name + "=" + which}})
				if err != nil || !verdict.Passed || strings.TrimSpace(verdict.Output) != strings.TrimSpace(want) {
					c.Errorf("gate %d: got %+v, error %v; want Passed with the output %q", i, verdict, err, want)
				}
			})
		},
	},
	{
		"the gate runs in the checkout",
		"A gate's working directory is the task's.",
		func(c *check, o VerifierOptions) {
			c.needs(o.Programs, "VerifierOptions.Programs")
			_, task := o.verify(c, Gate{Touch: "touched"})
			if _, err := os.Stat(filepath.Join(task.Dir, "touched")); err != nil {
				c.Errorf("the file that the gate made is not in the checkout, want it there: %v", err)
			}
		},
	},
	{
		"the gate has the task's environment",
		"Every process of a gate has the task's variables, whose values win.",
		func(c *check, o VerifierOptions) {
			c.needs(o.Programs, "VerifierOptions.Programs")
			for _, name := range []string{ports.EnvRun, ports.EnvStep, "HOME"} {
				verdict, _ := o.verify(c, Gate{PrintEnv: name}, ports.EnvRun+"=a b=c", ports.EnvStep+"=a b=c", "HOME=a b=c")
				same(c, strings.TrimSpace(verdict.Output), "a b=c", "the value of "+name)
			}
		},
	},
	{
		"the gate has nothing to read",
		"A gate that reads its input finds it at its end, and does not wait for a person.",
		func(c *check, o VerifierOptions) {
			c.needs(o.Programs, "VerifierOptions.Programs")
			c.soon("running a gate that reads", func() {
				if verdict, _ := o.verify(c, Gate{ReadAll: true, Output: "done\n"}); !verdict.Passed {
					c.Errorf("got %+v, want Passed", verdict)
				}
			})
		},
	},
}
