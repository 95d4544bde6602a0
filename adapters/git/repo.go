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

// Options say where a repository is and where AGL keeps what belongs to it.
type Options struct {
	Repo       string        // any directory in the repository, or a git directory
	Trees      string        // absolute: where the checkouts go, outside the repository
	SalvageDir string        // absolute: where nested repositories are moved to, <SalvageDir>/<label>/…
	Deadline   time.Duration // for each git call; 0 means two minutes
	Env        []string      // the environment git children start from; nil means this process's
}

// A Repo is a git repository with AGL's worktrees, branches and salvage in it.
type Repo struct {
	git        string // the program
	common     string // the real path of the common git directory
	gitDir     string // the git directory the operator works in: the common one, or a linked worktree's
	format     string // sha1 or sha256
	files      bool   // refs are in loose files and packed-refs
	trees      string
	salvageDir string
	deadline   time.Duration
	env        []string
}

// Open finds the repository. It is the only place where git's own discovery is
// used, and where git refuses a repository that belongs to somebody else.
func Open(ctx context.Context, opts Options) (*Repo, error) {
	const op = "open the repository"
	for _, dir := range []string{opts.Trees, opts.SalvageDir} {
		if !filepath.IsAbs(dir) {
			return nil, ports.Invalid.Errorf(op, "%q is not an absolute path", dir)
		}
	}
	env := opts.Env
	if env == nil {
		env = os.Environ()
	}
	git, err := lookGit(env)
	if err != nil {
		return nil, ports.Unavailable.Errorf(op, "%w", err)
	}
	r := &Repo{
		git: git, env: childEnv(env), deadline: opts.Deadline,
		trees: opts.Trees, salvageDir: opts.SalvageDir,
	}
	if r.deadline <= 0 {
		r.deadline = 2 * time.Minute
	}
	return r, r.discover(ctx, opts.Repo)
}

// discover fills in what git says about the repository dir is in.
func (r *Repo) discover(ctx context.Context, dir string) error {
	out, err := r.run(ctx, call{
		discover: dir, read: true,
		args: []string{"rev-parse", "--show-object-format", "--absolute-git-dir"},
	})
	if err != nil {
		return err
	}
	format, gitDir, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	r.format, r.gitDir = format, gitDir
	common := gitDir
	if link, err := os.ReadFile(filepath.Join(gitDir, "commondir")); err == nil {
		common = strings.TrimSuffix(string(link), "\n")
		if !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
	}
	if r.common, err = filepath.EvalSymlinks(common); err != nil {
		return err
	}
	storage, err := r.run(ctx, call{read: true, args: []string{"config", "--get", "extensions.refStorage"}})
	var exit *exitError
	if err != nil && !(errors.As(err, &exit) && exit.Code == 1) {
		return err
	}
	name := strings.TrimSpace(string(storage))
	r.files = name == "" || name == "files"
	return nil
}
