//go:build unix

package terminal_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/terminal"
	"example.com/agl/ports"
)

// storyVariable names the story that this program tells as a child of its
// tests, at a terminal of its own.
const storyVariable = "AGL_TERMINAL_STORY"

func TestMain(m *testing.M) {
	if story := stories[os.Getenv(storyVariable)]; story != nil {
		report := os.NewFile(3, "report")
		story(func(format string, args ...any) { fmt.Fprintf(report, format+"\n", args...) })
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stories are what a child may do. It reports lines.
var stories = map[string]func(report func(format string, args ...any)){
	"signals": func(report func(string, ...any)) {
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM)
		tellSignals(report, caught)
	},
	"interrupts are ignored": func(report func(string, ...any)) {
		signal.Ignore(syscall.SIGINT)
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGTERM)
		tellSignals(report, caught)
	},
	"hang up": func(report func(string, ...any)) {
		signal.Ignore(syscall.SIGHUP)
		at := terminal.New(terminal.Options{})
		_, err := at.Ask(context.Background(), goOn)
		at.Close()
		os.Exit(ports.ExitCode(err))
	},
	"idle": func(report func(string, ...any)) {
		at := terminal.New(terminal.Options{})
		waiting(64).at(at)
		measured := make(chan struct{})
		go func() {
			defer close(measured)
			<-time.After(time.Second) // it has begun
			used, begun := cpu(), time.Now()
			report("begun")
			duration, _ := time.ParseDuration(os.Getenv("IDLE"))
			<-time.After(duration)
			report("%.3f", 100*float64(cpu()-used)/float64(time.Since(begun)))
		}()
		_, _ = at.Ask(context.Background(), goOn)
		<-measured
		at.Close()
	},
	"busy": func(report func(string, ...any)) {
		at := terminal.New(terminal.Options{})
		all := make([]ports.NamespaceStatus, 64)
		for i := range all {
			all[i] = ports.NamespaceStatus{Namespace: fmt.Sprint("n", i), Verb: ports.KindStep, Name: "coder", Since: time.Now()}
		}
		s := newStage(all...)
		s.at(at)
		<-time.After(time.Second) // it has begun
		report("begun")
		slowest, used, begun := time.Duration(0), cpu(), time.Now()
		for tick, n := time.NewTicker(time.Millisecond), 0; n < 20_000; <-tick.C {
			for due := int(time.Since(begun) / (100 * time.Microsecond)); n < min(due, 20_000); n++ { // 10,000 a second
				at := time.Now()
				s.set(func(s *ports.Status) { s.Namespaces[n%64].Activity = fmt.Sprint("at ", n) })
				slowest = max(slowest, time.Since(at))
			}
		}
		report("%.3f %d %d", 100*float64(cpu()-used)/float64(time.Since(begun)), slowest.Microseconds(), time.Since(begun).Milliseconds())
		bufio.NewReader(os.NewFile(4, "go on")).ReadString('\n')
		at.Close()
	},
	"job": func(report func(string, ...any)) {
		signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN) // as shells do, to take the terminal back
		job := exec.Command(os.Args[0])
		job.Env = append(job.Environ(), storyVariable+"=signals")
		job.Stdin, job.Stdout, job.Stderr = os.Stdin, os.Stdout, os.Stderr
		job.ExtraFiles = []*os.File{os.NewFile(3, "report")}
		job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
		if err := job.Start(); err != nil {
			report("%v", err)
			return
		}
		for {
			var status syscall.WaitStatus
			if _, err := syscall.Wait4(job.Process.Pid, &status, syscall.WUNTRACED, nil); err == syscall.EINTR {
				continue
			}
			if !status.Stopped() {
				return
			}
			report("stopped")
			bufio.NewReader(os.NewFile(4, "go on")).ReadString('\n')
			_ = syscall.Kill(-job.Process.Pid, syscall.SIGCONT)
		}
	},
}

// tellSignals watches a run and asks, and does about signals what the command
// line does.
func tellSignals(report func(string, ...any), caught chan os.Signal) {
	at := terminal.New(terminal.Options{})
	split().at(at)
	go func() {
		answer, err := at.Ask(context.Background(), goOn)
		if err == nil {
			report("answered %s", answer)
		}
	}()
	for first := true; ; first = false {
		sig := (<-caught).(syscall.Signal)
		report("%v", sig)
		switch {
		case first && os.Getenv("ORDERLY") == "1":
			at.Close()
			fmt.Println("good bye")
			os.Exit(0)
		case !first:
			at.Restore()
			signal.Reset(sig)
			_ = syscall.Kill(os.Getpid(), sig)
			select {}
		}
	}
}

// waiting returns a run of so many namespaces that all wait for a person.
func waiting(n int) *stage {
	all := []ports.NamespaceStatus{{Namespace: ports.Base, Verb: ports.KindStep, Name: "lead", Asking: []ports.Question{goOn}, Since: time.Now()}}
	for i := 1; i < n; i++ {
		all = append(all, ports.NamespaceStatus{
			Namespace: fmt.Sprint("n", i), Parent: ports.Base, Verb: ports.KindLanding, Waiting: ports.Base, Since: time.Now(),
		})
	}
	return newStage(all...)
}

// cpu returns what this process has used.
func cpu() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// A child is a process that tells a story at a person's terminal.
type child struct {
	*exec.Cmd
	*person
	reports *bufio.Reader
	goOn    *os.File
}

// starts starts a child at the person's terminal.
func (p *person) starts(story string, env ...string) *child {
	p.t.Helper()
	read, write, err := os.Pipe()
	require.NoError(p.t, err)
	goOn, tell, err := os.Pipe()
	require.NoError(p.t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{
		storyVariable + "=" + story, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "GOCOVERDIR=" + p.t.TempDir(),
	}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.tty, p.tty, p.tty
	cmd.ExtraFiles = []*os.File{write, goOn}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	require.NoError(p.t, cmd.Start())
	write.Close()
	goOn.Close()
	c := &child{Cmd: cmd, person: p, reports: bufio.NewReader(read), goOn: tell}
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		read.Close()
		tell.Close()
	})
	require.NoError(p.t, read.SetReadDeadline(time.Now().Add(60*time.Second)))
	return c
}

// reported waits for the next line that the child reports.
func (c *child) reported() string {
	c.t.Helper()
	line, err := c.reports.ReadString('\n')
	require.NoError(c.t, err)
	return strings.TrimSuffix(line, "\n")
}

// ends waits for the child, and returns how it ended.
func (c *child) ends() syscall.WaitStatus {
	c.t.Helper()
	killed := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
	defer killed.Stop()
	_ = c.Wait()
	return c.ProcessState.Sys().(syscall.WaitStatus)
}

// Case F5.
func TestCtrlCStopsInOrderAndThenAtOnce(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	c := p.starts("signals")
	p.sees("Go on?")
	p.types("\x03")
	p.sees("stopping in order; ctrl+c again stops at once; waits for parser")
	require.Equal(t, "interrupt", c.reported())
	p.types("\x03")
	require.Equal(t, "interrupt", c.reported())
	status := c.ends()
	require.True(t, status.Signaled() && status.Signal() == syscall.SIGINT, "it dies by the signal: %v", status)
	p.finds()
}

func TestCtrlCOfAProcessThatIgnoresInterruptsTerminatesIt(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	c := p.starts("interrupts are ignored", "ORDERLY=1")
	p.sees("Go on?")
	p.types("\x03")
	require.Equal(t, "terminated", c.reported())
	c.ends()
	p.finds()
}

// Case F6.
func TestASignalFromElsewhereLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	t.Run("one", func(t *testing.T) {
		t.Parallel()
		p := sit(t, 80, 24)
		c := p.starts("signals", "ORDERLY=1")
		p.sees("Go on?")
		require.NoError(t, c.Process.Signal(syscall.SIGTERM))
		p.sees("good bye")
		require.Zero(t, c.ends().ExitStatus())
		p.finds()
	})
	t.Run("two", func(t *testing.T) {
		t.Parallel()
		p := sit(t, 80, 24)
		c := p.starts("signals")
		p.sees("Go on?")
		for range 2 {
			require.NoError(t, c.Process.Signal(syscall.SIGTERM))
			require.Equal(t, "terminated", c.reported())
		}
		require.Equal(t, syscall.SIGTERM, c.ends().Signal())
		p.finds()
	})
}

// Case F11.
func TestWhenTheTerminalIsClosedTheProcessEnds(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"TERM=xterm", "TERM=dumb"} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			p := sit(t, 80, 24)
			c := p.starts("hang up", env)
			p.sees("Go on?")
			begun := time.Now()
			require.NoError(t, p.tty.Close())
			require.NoError(t, p.master.Close())
			require.Equal(t, 6, c.ends().ExitStatus())
			require.Less(t, time.Since(begun), 2*time.Second)
		})
	}
}

// Case F6.
func TestCtrlZGivesTheTerminalBackUntilTheJobGoesOn(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	c := p.starts("job", "ORDERLY=1")
	p.sees("Go on?")
	p.types("\x1a")
	require.Equal(t, "stopped", c.reported())
	p.finds()
	_, err := c.goOn.WriteString("\n")
	require.NoError(t, err)
	p.sees("Go on?")
	p.types("2\r")
	require.Equal(t, "answered no", c.reported())
	p.types("\x03")
	require.Equal(t, "interrupt", c.reported())
	p.sees("good bye")
	c.ends()
	p.finds()
}

// Case F6.
func TestAProcessThatWasStoppedSetsTheTerminalUpAgain(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	c := p.starts("signals")
	p.sees("❯ 1 yes")
	raw, err := term.GetState(p.tty.Fd())
	require.NoError(t, err)
	require.NoError(t, c.Process.Signal(syscall.SIGSTOP))
	require.NoError(t, term.Restore(p.tty.Fd(), p.found)) // as a shell does meanwhile
	p.mu.Lock()
	_, _ = p.emu.WriteString("\x1b[2J") // and writes
	p.mu.Unlock()
	require.NoError(t, c.Process.Signal(syscall.SIGCONT))
	p.sees("❯ 1 yes")
	p.types("2\r")
	require.Equal(t, "answered no", c.reported())
	now, err := term.GetState(p.tty.Fd())
	require.NoError(t, err)
	require.Equal(t, raw, now)
}

func TestCtrlZWithoutJobControlDoesNoHarm(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	c := p.starts("signals")
	p.sees("Go on?")
	p.types("\x1a")
	p.misses("Go on?")
	p.sees("Go on?")
	p.types("2\r")
	require.Equal(t, "answered no", c.reported())
}

// idles measures a run that waits on a question, for so long: how much is
// written, in bytes, and how much of a core it uses, in percent.
func idles(t testing.TB, duration time.Duration) (bytes int, percent float64) {
	p := sit(t, 100, 40)
	c := p.starts("idle", "IDLE="+duration.String())
	p.sees("Go on?")
	require.Equal(t, "begun", c.reported())
	before := len(p.written())
	_, err := fmt.Sscan(c.reported(), &percent)
	require.NoError(t, err)
	bytes = len(p.written()) - before
	p.types("\r")
	c.ends()
	return bytes, percent
}

func TestWhileARunWaitsForAPersonNothingIsWritten(t *testing.T) {
	t.Parallel()
	bytes, _ := idles(t, 2500*time.Millisecond)
	require.Zero(t, bytes)
}

// BenchmarkIdle measures a run of 64 namespaces that waits on a question:
// %core is how much of one it uses, and B/op what is written in ten seconds.
func BenchmarkIdle(b *testing.B) {
	for b.Loop() {
		bytes, percent := idles(b, 10*time.Second)
		b.ReportMetric(percent, "%core")
		b.ReportMetric(float64(bytes), "written-B/op")
	}
}

// crowds measures a run of 64 namespaces that tell 20,000 activities in two
// seconds: how often a second it is drawn, how much of a core that takes in
// percent, and how long the slowest of them was held up, in microseconds.
func crowds(t testing.TB) (redraws, percent float64, slowest int) {
	p := sit(t, 100, 70)
	c := p.starts("busy")
	p.sees("n63")
	require.Equal(t, "begun", c.reported())
	before := len(p.written())
	var took int
	_, err := fmt.Sscan(c.reported(), &percent, &slowest, &took)
	require.NoError(t, err)
	p.sees("at 19999")
	_, err = c.goOn.WriteString("\n")
	require.NoError(t, err)
	c.ends()
	drawn := strings.Count(p.written()[before:], beginsFrame)
	return 1000 * float64(drawn) / float64(took), percent, slowest
}

func TestHoweverMuchHappensTheScreenIsDrawnTenTimesASecond(t *testing.T) {
	t.Parallel()
	redraws, _, _ := crowds(t)
	require.Greater(t, redraws, 1.0)
	require.LessOrEqual(t, redraws, 11.0)
}

// BenchmarkCrowd measures a run of 64 namespaces that tell 10,000 activities a
// second.
func BenchmarkCrowd(b *testing.B) {
	for b.Loop() {
		redraws, percent, slowest := crowds(b)
		b.ReportMetric(redraws, "redraws/s")
		b.ReportMetric(percent, "%core")
		b.ReportMetric(float64(slowest), "slowest-µs")
	}
}
