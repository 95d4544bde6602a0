// Package vendorprog is what the adapters of the vendors' programs have in
// common: finding and starting one, noticing that it is silent, and saying what
// it does and what came of it.
package vendorprog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

// Readiness is how long a program may take to say whether a turn could start.
const Readiness = time.Minute

// A Program is a vendor's program as an adapter was told of it.
type Program struct {
	Op      string   // what all errors begin with: its name, for people
	Name    string   // its path, or a name to be found on the PATH of Env
	Install string   // the command that installs it
	Env     []string // its environment, "NAME=value"; nil is this process's

	// Outer are variables by which one program of the vendor's speaks to another
	// that it has started: an agent of AGL's is nobody's child, and has none.
	Outer []string
}

// Find returns the path of the program. It is looked for on the PATH that it
// will have itself.
func (p *Program) Find() (string, error) {
	if p.Env == nil || filepath.Base(p.Name) != p.Name {
		return exec.LookPath(p.Name)
	}
	path := ""
	for _, entry := range p.Env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, p.Name)); err == nil && filepath.IsAbs(dir) {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// Environ returns the whole environment of the program.
func (p *Program) Environ(add ...string) []string {
	base := p.Env
	if base == nil {
		base = os.Environ()
	}
	base = slices.DeleteFunc(slices.Clone(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(p.Outer, name)
	})
	return proc.Environ(base, add...)
}

// Unstarted is the error of a program that could not be found or run.
func (p *Program) Unstarted(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return p.Cancelled(ctx)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return ports.Unavailable.Errorf(p.Op, "there is no program %s; install it (%s)", p.Name, p.Install)
	default:
		return ports.Unavailable.Errorf(p.Op, "%w", err)
	}
}

// Cancelled is the error of what ended with its context.
func (p *Program) Cancelled(ctx context.Context) error {
	return fmt.Errorf("running %s: %w", p.Op, ctx.Err())
}

// MarkOf returns the entry of a task's environment that only what its turn
// starts has: for proc.Cmd.Mark.
func MarkOf(env []string) string {
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); name == ports.EnvStep && value != "" {
			return entry
		}
	}
	return ""
}
