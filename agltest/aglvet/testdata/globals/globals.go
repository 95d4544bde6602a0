// want package:"functions"

// Package globals has workflow functions that use package-level variables.
package globals

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"

	"example.com/agl"
	"example.com/cases/globals/settings"
)

type params struct{ Name string }

var reader = agl.Reader[agl.None]{Name: "reader", Model: "claude/opus", Prompt: "Read."}

var workflow = agl.NewWorkflow(agl.Spec{Name: "globals", Version: 1, Roles: []agl.Role{reader}}, run)

var (
	strict   bool
	rounds   = 3
	seen     = map[string]bool{}
	config   struct{ Limits struct{ Rounds int } }
	calls    atomic.Int64
	names    []string
	loaded   params
	fromInit int
	errStop  = errors.New("stop")
	pattern  = regexp.MustCompile("a+")
	mu       sync.Mutex
	logger   *slog.Logger
	table    = map[string]int{"a": 1}
)

//go:embed globals.go
var source string

func init() { fromInit = 3 }

// SetStrict changes what workflows do.
func SetStrict(to bool) { strict = to }

func configure(doc []byte) error {
	config.Limits.Rounds++
	names = append(names, "x")
	logger = slog.Default()
	settings.Depth = 4
	return json.Unmarshal(doc, &loaded)
}

func run(ctx context.Context, run *agl.Run, p params) error {
	if strict { // want `package variable strict, which globals.go:\d+ assigns, is used in a workflow function, which is called again on every resume: make it a parameter of the workflow`
		return errStop
	}
	rounds-- // want `package variable rounds, which globals.go:\d+ assigns, is used`
	if seen[p.Name] { // want `package variable seen, which`
		return nil
	}
	seen[p.Name] = true // want `package variable seen, which`
	if config.Limits.Rounds > 3 { // want `package variable config, which`
		return nil
	}
	calls.Add(1)      // want `package variable calls, which`
	_ = len(names)    // want `package variable names, which`
	_ = loaded.Name   // want `package variable loaded, which`
	_ = settings.Mode // want `package variable Mode, which settings.go:\d+ assigns, is used`
	_ = settings.Depth // want `package variable Depth, which globals.go:\d+ assigns, is used`
	_ = settings.Fixed
	_ = settings.Verbose() // want `package variable Mode, which settings.go:\d+ assigns, is used in a workflow function \(globals.run → settings.Verbose\)`
	mu.Lock()
	logger.Info("a log is only written")
	defer mu.Unlock()
	_, _ = pattern.FindString(p.Name), source
	return run.Step(ctx, reader, agl.In("n", fromInit+table["a"]))
}

// What pointers are passed for decides.
var (
	count, bumped, parsed, stored    int
	scores                           = map[string]int{}
	limits                           = struct{ Max, Min int }{3, 1}
	defaults                         = []string{"a", "b"}
	found                            params
	tally                            counter
	shared                           atomic.Int64
	swapped, loadedOnly              int64
	printed, read, cloned, roomy     params
	order                            = []*params{{Name: "x"}}
	visible                          = &params{Name: "x"}
	locked                           sync.Mutex
	first, second, chained, extended int
)

type counter struct{ n int }

func (c *counter) add()     { c.n++ }
func (c *counter) get() int { return c.n }
func (c counter) with() counter {
	c.n++
	return c
}

func bump(n *int)         { *n++ }
func chain(p *int)        { q := p; bump(q) }
func length(p *params) int { return len(p.Name) }
func guard(m *sync.Mutex) { m.Lock(); m.Unlock() }
func each(ns ...*int) {
	for _, n := range ns {
		*n = 1
	}
}
func clone(p *params) *params {
	p = new(*p)
	p.Name = "x"
	return p
}

func change() agl.Task {
	c := &count
	*c++
	bump(&bumped)
	chain(&chained)
	each(&first, &second)
	m := scores
	m["a"] = 1
	pair := &limits
	pair.Max = 4
	tally.add()
	func(n *int) { *n = 1 }(&stored)
	settings.Set(&extended)
	_ = settings.Get(&roomy.Name)
	_, _ = fmt.Sscan("1", &parsed)
	atomic.AddInt64(&swapped, 1)
	_ = atomic.LoadInt64(&loadedOnly)
	add := &shared
	add.Add(1)
	for _, p := range order {
		p.Name = "y"
	}
	_, _ = json.Marshal(&printed)
	_, _ = length(&read), length(visible)
	_ = clone(&cloned)
	guard(&locked)
	own := append([]string(nil), defaults...)
	own[0] = "c"
	own = defaults
	copied := limits
	copied.Max = 5
	return finder.Into(&found)
}

var finder = agl.Reader[params]{Name: "finder", Model: "claude/opus", Prompt: "Find."}

func pointers(ctx context.Context, run *agl.Run) error {
	_ = count         // want `package variable count, which globals.go:\d+ assigns, is used`
	_ = bumped        // want `package variable bumped, which`
	_ = chained       // want `package variable chained, which`
	_ = first         // want `package variable first, which`
	_ = second        // want `package variable second, which`
	_ = scores        // want `package variable scores, which`
	_ = limits        // want `package variable limits, which`
	_ = tally.get()   // want `package variable tally, which`
	_ = stored        // want `package variable stored, which`
	_ = extended      // want `package variable extended, which`
	_ = parsed        // want `package variable parsed, which`
	_ = swapped       // want `package variable swapped, which`
	_ = shared.Load() // want `package variable shared, which`
	_ = order         // want `package variable order, which`
	_ = found         // want `package variable found, which`
	_ = settings.Level // want `package variable Level, which settings.go:\d+ assigns, is used`
	_, _, _, _ = printed, read, cloned, roomy
	_, _, _ = loadedOnly, visible, defaults
	locked.Lock()
	defer locked.Unlock()
	return run.Step(ctx, &finder)
}

// Other code may use what it likes.
func report() (bool, int) { return strict, rounds }
