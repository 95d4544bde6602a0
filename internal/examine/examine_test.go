//go:build unix

package examine_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/agl/internal/examine"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// fake is an agent whose turns are a function.
type fake struct {
	ports.Agent
	run func(ctx context.Context, task ports.Task) (ports.Outcome, error)
}

func (f fake) Run(ctx context.Context, task ports.Task, _ func(ports.AgentEvent)) (ports.Outcome, error) {
	return f.run(ctx, task)
}

var completed = ports.Outcome{Stop: ports.StopCompleted}

// program is one that is all right, with a version that a shell says.
func program(t *testing.T, script string) examine.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vendor")
	gittest.Program(t, path, "#!/bin/sh\n"+script)
	return examine.Program{
		Program: &vendorprog.Program{Op: "Vendor", Name: path, Install: "install it"}, Environ: []string{"PATH=/usr/bin:/bin"},
		Range: examine.Range{Oldest: "1.0.0", Newest: "1.2.3"},
		Login: func(context.Context, string) error { return nil },
		Open:  plays(knocks),
	}
}

// plays opens an agent whose turn is a function of the task and what it is to
// call.
func plays(run func(ctx context.Context, task ports.Task, call examine.Call) (ports.Outcome, error)) func(string, string, examine.Call) (ports.Agent, func(), error) {
	return func(_, _ string, call examine.Call) (ports.Agent, func(), error) {
		return fake{run: func(ctx context.Context, task ports.Task) (ports.Outcome, error) { return run(ctx, task, call) }}, func() {}, nil
	}
}

func knocks(ctx context.Context, task ports.Task, call examine.Call) (ports.Outcome, error) {
	call.Heard(task.Tool(call.Tool).Call(ctx, json.RawMessage(call.Args)).Text)
	return completed, nil
}

func TestWhatIsFoundOfAProgram(t *testing.T) {
	t.Parallel()
	const says = "echo vendor 1.2.3"
	login := func(err error) func(*examine.Program) {
		return func(p *examine.Program) { p.Login = func(context.Context, string) error { return err } }
	}
	find := func(name string, named bool) func(*examine.Program) {
		return func(p *examine.Program) { p.Name, p.Named, p.Env = name, named, []string{"PATH=" + t.TempDir()} }
	}
	turn := func(run func(context.Context, ports.Task, examine.Call) (ports.Outcome, error)) func(*examine.Program) {
		return func(p *examine.Program) { p.Open = plays(run) }
	}
	unformed := func(p *examine.Program) { gittest.Program(t, p.Name, "\x7fELF") }
	const fine = "program ok; version ok; channel ok; login ok"
	for name, tt := range map[string]struct {
		script string
		change func(*examine.Program)
		want   string // the findings
		says   string
		usable bool
	}{
		"all is well":    {script: says, want: fine, usable: true},
		"a newer one":    {script: "echo v2.0.0", want: "program ok; version warning; channel ok; login ok", says: "2.0.0 is newer", usable: true},
		"an older one":   {script: "echo 0.9.9", want: "program ok; version problem; channel ok; login ok", says: "0.9.9 is too old"},
		"no version":     {script: "echo \x1b[31mhello", want: "program ok; version warning; channel ok; login ok", says: "tells no version: \ufffd[31mhello", usable: true},
		"it fails":       {script: "echo broken >&2; exit 3", want: "program ok; version warning; channel ok; login ok", says: "exit status 3: broken", usable: true},
		"not there":      {change: find("vendor", false), want: "program absent", says: "there is no program vendor"},
		"named, missing": {change: find("vendor", true), want: "program problem", says: "there is no program vendor"},
		"no program":     {change: find(os.DevNull, true), want: "program problem", says: "permission denied"},
		"not one":        {change: unformed, want: "program problem", says: "exec format error"},
		"nobody": {
			script: says, change: login(ports.Unavailable.Errorf("Vendor", "nobody is logged in; run it")),
			want: "program ok; version ok; channel ok; login problem", says: "nobody is logged in",
		},
		"a turn fails": {
			script: says, want: "program ok; version ok; channel problem; login ok", says: "failed: it is deaf",
			change: turn(func(context.Context, ports.Task, examine.Call) (ports.Outcome, error) {
				return completed, ports.Unexpected.Errorf("Vendor", "it is deaf")
			}),
		},
		"no call": {
			script: says, want: "program ok; version ok; channel problem; login ok", says: "the tool was not called",
			change: turn(func(context.Context, ports.Task, examine.Call) (ports.Outcome, error) { return completed, nil }),
		},
		"other arguments": {
			script: says, want: "program ok; version ok; channel problem; login ok", says: "the tool was not called",
			change: turn(func(ctx context.Context, task ports.Task, call examine.Call) (ports.Outcome, error) {
				call.Args = `{}`
				return knocks(ctx, task, call)
			}),
		},
		"no answer": {
			script: says, want: "program ok; version ok; channel problem; login ok", says: "did not get the tool's answer",
			change: turn(func(ctx context.Context, task ports.Task, call examine.Call) (ports.Outcome, error) {
				call.Heard = func(string) {}
				return knocks(ctx, task, call)
			}),
		},
		"cut off": {
			script: says, want: "program ok; version ok; channel problem; login ok", says: "ended early (limit)",
			change: turn(func(ctx context.Context, task ports.Task, call examine.Call) (ports.Outcome, error) {
				_, err := knocks(ctx, task, call)
				return ports.Outcome{Stop: ports.StopLimit}, err
			}),
		},
		"no fake": {
			script: says, want: "program ok; version ok; channel problem; login ok", says: "no port",
			change: func(p *examine.Program) {
				p.Open = func(string, string, examine.Call) (ports.Agent, func(), error) {
					return nil, nil, errors.New("no port")
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program(t, tt.script)
			if tt.change != nil {
				tt.change(&p)
			}
			e := p.Examine(t.Context())
			var got, details []string
			for _, f := range e.Findings {
				got = append(got, f.Name+" "+string(f.State))
				details = append(details, f.Detail)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s\n%q", diff, details)
			}
			if all := strings.Join(details, "\n"); !strings.Contains(all, tt.says) {
				t.Errorf("it does not say %q: %q", tt.says, all)
			}
			if e.Usable() != tt.usable {
				t.Errorf("is it usable: %v, want %v", e.Usable(), tt.usable)
			}
		})
	}
}

func TestOnlyAVersionThatIsKnownToBeTooOldIsRefused(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]ports.Kind{"echo 0.9.9": ports.Unavailable, "echo 1.0.0": "", "echo 3.0.0": "", "echo what": "", "exit 1": ""} {
		p := program(t, script)
		path, _ := p.Find()
		if err := p.Ready(t.Context(), path); ports.KindOf(err) != want || want != "" && !strings.Contains(err.Error(), "install it") {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
	}
}

// The folder of the turn is below TMPDIR, so this test is alone.
func TestAnExaminationEndsWithItsContextAndLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	hangs := make(chan string, 1)
	hanging := plays(func(ctx context.Context, task ports.Task, _ examine.Call) (ports.Outcome, error) {
		hangs <- task.Dir
		<-ctx.Done()
		return ports.Outcome{}, ctx.Err()
	})

	p := program(t, "echo 1.2.3")
	p.Open = hanging
	ctx, cancel := context.WithCancel(t.Context())
	examined := make(chan ports.Examination, 1)
	go func() { examined <- p.Examine(ctx) }()
	dir := <-hangs
	if rel, err := filepath.Rel(temp, dir); err != nil || !filepath.IsLocal(rel) {
		t.Errorf("the turn is in %s, not below %s", dir, temp)
	}
	cancel()
	if e := <-examined; !strings.Contains(e.Findings[2].Detail, "did not end before it was stopped") {
		t.Errorf("got %+v", e)
	}

	p = program(t, "exec tail -f /dev/null")
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if e := p.Examine(ctx); len(e.Findings) != 1 || !strings.Contains(e.Findings[0].Detail, "--version was not answered in time") {
		t.Errorf("got %+v", e)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

func TestAProgramIsAskedForItsVersionInAnEmptyFolder(t *testing.T) {
	t.Parallel()
	p := program(t, `[ -z "$(ls -A)" ] && echo 1.2.3`)
	path, err := p.Find()
	if err != nil {
		t.Fatal(err)
	}
	if version, err := examine.Version(t.Context(), path, p.Environ); version != "1.2.3" || err != nil {
		t.Errorf("got %q, %v; want 1.2.3", version, err)
	}
}
