// want package:"functions"

// Package purity has workflow functions that depend on more than their
// parameters and records, and some that do not.
package purity

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"text/template"
	"time"

	"example.com/agl"
	"example.com/cases/purity/stamps"
	"example.com/cases/purity/steps"
)

type params struct {
	Name  string
	Since time.Time
}

var implementer = agl.Editor[agl.None]{Name: "implementer", Model: "claude/opus", Prompt: "Do it."}

var spec = agl.Spec{Name: "purity", Version: 1, Roles: []agl.Role{implementer}}

// A function.
var _ = agl.NewWorkflow(spec, everything)

func everything(ctx context.Context, run *agl.Run, p params) error {
	if time.Since(p.Since) > time.Hour { // want `time.Since reads the clock in a workflow function, which is called again on every resume: record it with run.Do\(ctx, agl.Func\(…\)\)`
		return nil
	}
	time.Sleep(time.Second)       // want `time.Sleep waits on the clock`
	n := rand.IntN(3)             // want `rand.IntN is random`
	key, err := crand.Int(nil, nil) // want `rand.Int is random`
	_, _ = crand.Reader.Read(nil) // want `rand.Reader is random`
	home := os.Getenv("HOME")     // want `os.Getenv reads the environment`
	args := os.Args               // want `os.Args reads the environment`
	_, _ = os.Stat(home)          // want `os.Stat uses the file system`
	_, _ = filepath.Glob("*")     // want `filepath.Glob uses the file system`
	_, _ = http.Get("http://x")   // want `http.Get uses the network`
	_, _ = template.ParseFiles("x") // want `template.ParseFiles uses the file system`
	var client http.Client
	_, _ = client.Head("http://x") // want `http.Client.Head uses the network`
	_ = exec.Command("make").Run() // want `exec.Command starts processes` `exec.Cmd.Run starts processes`
	log.Println(n, key, err, args)

	label := label("x")
	return run.Step(ctx, implementer.Commit(label))
}

func label(s string) string {
	return s + now() // a function of this package is looked into
}

func now() string {
	return time.Now().String() // want `time.Now reads the clock in a workflow function \(purity.everything → purity.label → purity.now\), which`
}

// What only other functions call is nobody's concern.
func unrelated() time.Time { return time.Now() }

// A method value, and a function in another package of the module.
type flow struct{ clock func() time.Time }

var _ = agl.NewWorkflow(spec, flow{}.run)

func (f flow) run(ctx context.Context, run *agl.Run, p params) error {
	f.note()
	_ = stamps.Today()                                            // want `time.Now reads the clock in a workflow function \(purity.flow.run → stamps.Today → stamps.now\)`
	less := stamps.ByAge                                          // want `time.Since reads the clock in a workflow function \(purity.flow.run → stamps.ByAge\)`
	slices.SortFunc([]time.Time{}, less)
	_ = stamps.Clock()                                            // want `time.Now reads the clock in a workflow function \(purity.flow.run → stamps.Clock\)`
	if stamps.Debug {                                             // want `os.Getenv reads the environment in a workflow function \(purity.flow.run → stamps.Debug\)`
		return nil
	}
	_ = stamps.Stamp{}.Age() // want `time.Since reads the clock in a workflow function \(purity.flow.run → stamps.Stamp.Age\)`
	_ = stamps.Format(p.Since)
	if err := steps.One(ctx, run, implementer.Discard()); err != nil { // it is reported over there
		return err
	}
	return steps.All(ctx, run, []agl.Task{implementer.Discard()})
}

func (f flow) note() {
	fmt.Fprintln(os.Stderr, time.Now()) // want `time.Now reads the clock in a workflow function \(purity.flow.run → purity.flow.note\)`
}

// A literal, literals in it, and values of functions.
var _ = agl.NewWorkflow(spec, func(ctx context.Context, run *agl.Run, p params) error {
	wait := func() { time.Sleep(1) } // want `time.Sleep waits on the clock`
	wait()
	clock := time.Now // want `time.Now reads the clock`
	_ = clock()
	return func() error {
		_, err := os.ReadFile("x") // want `os.ReadFile uses the file system`
		return err
	}()
})

// Generic functions and types.
type box[T any] struct{ v T }

func (b box[T]) pick() (T, bool) {
	return b.v, rand.N(2) == 0 // want `rand.N is random in a workflow function \(purity.generic → purity.box.pick\)`
}

func first[T any](s []T) T {
	return s[rand.IntN(len(s))] // want `rand.IntN is random in a workflow function \(purity.generic → purity.first\)`
}

func generic[P any](ctx context.Context, run *agl.Run, p P) error {
	box[P]{p}.pick()
	first([]P{p})
	return nil
}

// Variables of this package.
var (
	started = time.Now()
	clock   = time.Now
	limit   = 3
	seeded  = rand.New(rand.NewPCG(1, 2)) // as good as a constant
)

func variables(ctx context.Context, run *agl.Run, p params) error {
	_ = started // want `time.Now reads the clock in a workflow function \(purity.variables → purity.started\)`
	_ = clock() // want `time.Now reads the clock in a workflow function \(purity.variables → purity.clock\)`
	_ = limit
	_ = rand.New(rand.NewPCG(1, 2)).IntN(limit)
	return nil
}

// What agl records is left alone.
var _ = agl.NewWorkflow(spec, recorded)

var tool = agl.NewTool("now", "The time.", func(ctx context.Context, w agl.World, in params) (time.Time, error) {
	return time.Now(), nil
})

func recorded(ctx context.Context, run *agl.Run, p params) error {
	var at time.Time
	call := agl.Func("now", func(ctx context.Context, w agl.World) (time.Time, error) {
		return pause(), nil
	})
	if err := run.Do(ctx, call.Into(&at)); err != nil {
		return err
	}
	if err := run.Do(ctx, agl.Func("stat", stat)); err != nil {
		return err
	}
	if err := run.Do(ctx, agl.Func("method", flow{}.stat)); err != nil {
		return err
	}
	environment := func() string { return os.Getenv("CI") } // only what is recorded calls it
	var host = func() (string, error) { return os.Hostname() }
	read := func(ctx context.Context, w agl.World) (string, error) { return cmp.Or(environment(), must(host)), nil }
	if err := run.Do(ctx, agl.Func("ci", read)); err != nil {
		return err
	}
	at, err := record(ctx, run, "now", func() (time.Time, error) { return time.Now(), nil })
	if err != nil {
		return err
	}
	at, err = outer(ctx, run, func() (time.Time, error) { return time.Now(), nil })
	if err != nil {
		return err
	}
	at, err = steps.Record(ctx, run, "now", func() (time.Time, error) { return time.Now(), nil })
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Hour) // a deadline is no reading of the clock
	defer cancel()
	_ = tool
	_, _ = filepath.Rel("a", filepath.Join("b", "c"))
	_ = os.IsNotExist(err) || http.StatusText(3) == at.Format(time.RFC3339)
	header := http.Header{}
	header.Set("a", header.Get("b"))
	_ = template.Must(template.New("x").Parse("{{.}}"))
	return direct(func() string {
		return os.Getenv("CI") // want `os.Getenv reads the environment`
	})
}

func pause() time.Time { time.Sleep(1); return time.Now() }

func stat(ctx context.Context, w agl.World) (string, error) { return os.Getwd() }

func (flow) stat(ctx context.Context, w agl.World) (string, error) { return os.Getwd() }

func must(fn func() (string, error)) string {
	s, err := fn()
	if err != nil {
		panic(err)
	}
	return s
}

// Resolvers and views are agl's to call.
func landing(ctx context.Context, run *agl.Run, p params) error {
	run.Show(func(agl.Status) agl.Screen {
		_ = time.Now()
		return agl.Screen{}
	})
	return run.Integrate(ctx, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
		time.Sleep(time.Second)
		return c.Retry(), c.Ask(ctx, agl.Text("again?").Into(new(string)))
	})
}

// outer stands before record, to which it hands what it gets.
func outer(ctx context.Context, run *agl.Run, fn func() (time.Time, error)) (time.Time, error) {
	return record(ctx, run, "outer", fn)
}

// record calls fn in a recorded function only.
func record[T any](ctx context.Context, run *agl.Run, name string, fn func() (T, error)) (T, error) {
	var v T
	err := run.Do(ctx, agl.Func(name, func(context.Context, agl.World) (T, error) { return fn() }).Into(&v))
	return v, err
}

// direct calls fn itself.
func direct(fn func() string) error {
	fmt.Println(fn())
	return nil
}

// A method value of a verb is no effect.
var _ = agl.NewWorkflow(spec, func(ctx context.Context, run *agl.Run, p params) error {
	step := run.Step
	return step(ctx, implementer.Discard())
})

func status(ctx context.Context, run *agl.Run, p params) error {
	if run.Status().Usage.Cost > 5 { // want `run.Status\(\), which differs each time, decides what is done in a workflow function, which is called again on every resume: use what its verbs returned`
		return nil
	}
	cost := run.Status().Usage.Cost
	over := cost > 3
	for over { // want `run.Status\(\), which differs each time`
		break
	}
	switch {
	case expensive(cost): // want `run.Status\(\), which differs each time`
		return nil
	}
	log.Println(run.Status(), cost)
	_, err := fmt.Println(run.Status())
	if err != nil {
		return err
	}
	if err := show(run.Status()); err != nil {
		return err
	}
	run.Show(func(s agl.Status) agl.Screen {
		if s.Usage.Cost > 1 || run.Status().Usage.Cost > 1 {
			return agl.Screen{}
		}
		return agl.Screen{}
	})
	return run.Step(ctx, implementer.Commit("x"), agl.In("cost", run.Status().Usage.Cost)) // want `run.Status\(\), which differs each time`
}

func expensive(cost float64) bool { return cost > 3 }

func show(s agl.Status) error { return nil }
