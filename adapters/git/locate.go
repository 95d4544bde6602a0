package git

import (
	"context"
	"errors"
	"fmt"
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
	const op = "find the repository"
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return Location{}, ports.NotFound.Errorf(op, "there is no folder %s", dir)
	}
	if env == nil {
		env = os.Environ()
	}
	program, err := lookGit(env)
	if err != nil {
		return Location{}, ports.Unavailable.Errorf(op, "%w", err)
	}
	r := &Repo{git: program, env: childEnv(env), deadline: 2 * time.Minute}
	if err := r.discover(ctx, dir); err != nil {
		return Location{}, undiscovered(op, dir, err)
	}
	at := Location{Common: r.common}
	out, err := r.run(ctx, call{discover: dir, read: true, args: []string{"rev-parse", "--show-toplevel"}})
	var exit *exitError
	switch {
	case errors.As(err, &exit): // no work tree here
		return at, nil
	case err != nil:
		return Location{}, undiscovered(op, dir, err)
	}
	if at.Top, err = filepath.EvalSymlinks(strings.TrimSuffix(string(out), "\n")); err != nil {
		return Location{}, ports.Unavailable.Errorf(op, "%w", err)
	}
	return at, nil
}

// undiscovered says why git found no repository at dir.
func undiscovered(op, dir string, err error) error {
	var exit *exitError
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", op, err)
	case !errors.As(err, &exit):
		return ports.Unavailable.Errorf(op, "%w", err)
	case strings.Contains(exit.Stderr, "not a git repository"):
		return ports.NotFound.Errorf(op, "%s is in no git repository; name one, or make one there with git init", dir)
	case strings.Contains(exit.Stderr, "dubious ownership"):
		return ports.Denied.Errorf(op, "the repository at %s belongs to another user; if you trust it, add it to git's safe.directory", dir)
	}
	return ports.Unexpected.Errorf(op, "%w", err)
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
