package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/agl/ports"
)

// A Location is where a repository is on this machine.
type Location struct {
	Common string // the real path of the common git directory, which linked worktrees share
	Top    string // the real path of the checkout's top folder; "" in a bare repository or a git directory
}

// Locate says where the repository is that dir is in, without making anything.
// env is the environment to start git from; nil means this process's.
func Locate(ctx context.Context, dir string, env []string) (Location, error) {
	op := "find the repository at " + dir
	if env == nil {
		env = os.Environ()
	}
	program, err := lookGit(env)
	if err != nil {
		return Location{}, ports.Unavailable.Errorf(op, "%w", err)
	}
	r := &Repo{git: program, env: childEnv(env), deadline: 2 * time.Minute}
	if err := r.discover(ctx, dir); err != nil {
		return Location{}, discoveryFault(op, dir, err)
	}
	at := Location{Common: r.common}
	out, err := r.run(ctx, call{discover: dir, read: true, args: []string{"rev-parse", "--show-toplevel"}})
	var exit *exitError
	switch {
	case errors.As(err, &exit): // no work tree here
		return at, nil
	case err != nil:
		return Location{}, discoveryFault(op, dir, err)
	}
	if at.Top, err = filepath.EvalSymlinks(strings.TrimSuffix(string(out), "\n")); err != nil {
		return Location{}, ports.Unavailable.Errorf(op, "%w", err)
	}
	return at, nil
}

// Repair makes the repository and its worktrees, whose checkouts are now at
// dirs, find each other again after one or both were moved.
func (r *Repo) Repair(ctx context.Context, dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	_, err := r.run(ctx, call{long: true, args: append([]string{"worktree", "repair"}, dirs...)})
	if err != nil {
		return ports.Unavailable.Errorf("repair the worktrees' registrations", "%w", err)
	}
	return nil
}
