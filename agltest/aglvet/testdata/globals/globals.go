// want package:"functions"

// Package globals has workflow functions that use package-level variables.
package globals

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
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

// Other code may use what it likes.
func report() (bool, int) { return strict, rounds }
