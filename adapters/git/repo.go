package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"example.com/agl/ports"
)

// Options say where a repository is and where AGL keeps what belongs to it.
type Options struct {
	Repo       string        // any directory in the repository, or a git directory
	Trees      string        // absolute: where the checkouts go, outside the repository
	SalvageDir string        // absolute: where what is moved out of a checkout goes, <SalvageDir>/<label>/…: nested repositories, lock files
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
	bare       bool   // core.bare is set
	ignoreCase bool   // the file system keeps one file for names that differ in case
	trees      string
	salvageDir string
	deadline   time.Duration
	env        []string
	adding     chan struct{} // held while registrations of worktrees change
	filling    chan struct{} // one slot for each tree that may be filled at once
	parsed     parsedConfigs // what git said about configuration files
	found      findings      // what was seen of merges a moment ago
	runs       sync.Map      // label → *worktrees, with the lock that its caller holds
}

// Open finds the repository. It is the only place where git's own discovery is
// used, and where git refuses a repository that belongs to somebody else.
func Open(ctx context.Context, opts Options) (*Repo, error) {
	op := "open the repository at " + opts.Repo
	for _, dir := range []string{opts.Trees, opts.SalvageDir} {
		if !filepath.IsAbs(dir) {
			return nil, ports.Invalid.Errorf(op, "%q is not an absolute path", dir)
		}
	}
	dir, err := filepath.Abs(opts.Repo)
	if err != nil {
		return nil, ports.Invalid.Errorf(op, "%w", err)
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
		trees: realPath(opts.Trees), salvageDir: realPath(opts.SalvageDir),
		adding: make(chan struct{}, 1), filling: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	if r.deadline <= 0 {
		r.deadline = 2 * time.Minute
	}
	if err := r.discover(ctx, dir); err != nil {
		return nil, discoveryFault(op, dir, err)
	}
	for _, within := range []string{r.common, r.workTree()} {
		if within != "" && (r.trees == within || below(r.trees, within)) {
			return nil, ports.Invalid.Errorf(op, "the worktrees would be in %s, inside the repository; choose a folder outside it", r.trees)
		}
	}
	return r, nil
}

// discover fills in what git says about the repository dir is in.
func (r *Repo) discover(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
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
	path := filepath.Join(r.common, "config")
	data, err := readLinked(path, configLimit)
	if err != nil {
		return err
	}
	config, err := r.parsed.parse(ctx, r, path, data)
	if err != nil {
		return err
	}
	for _, path := range r.configFiles(gitDir) { // so that the first Guard costs no process
		if data, err := readLinked(path, configLimit); err == nil {
			_, _ = r.parsed.parse(ctx, r, path, data) // Guard says what is wrong with it
		}
	}
	storage := config.all["extensions.refstorage"]
	r.files = storage == "" || storage == "files"
	r.ignoreCase, r.bare = isTrue(config.all["core.ignorecase"]), isTrue(config.all["core.bare"])
	return nil
}

// isTrue reads a value of git's configuration as git writes it itself.
func isTrue(value string) bool { return strings.EqualFold(value, "true") }

// workTree is the main checkout's directory; "" if there is none.
func (r *Repo) workTree() string {
	if r.bare || filepath.Base(r.common) != ".git" {
		return ""
	}
	return filepath.Dir(r.common)
}

// discoveryFault says why there is no repository to work with.
func discoveryFault(op, dir string, err error) error {
	var exit *exitError
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", op, err)
	}
	if !errors.As(err, &exit) {
		if missing(err) {
			return ports.Invalid.Errorf(op, "there is no such directory: %w", err)
		}
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	switch said := firstLine(exit.Stderr); {
	case strings.Contains(said, "dubious ownership"):
		return ports.Denied.Errorf(op, "git does not accept a repository that belongs to another user; "+
			"if you trust it: git config --global --add safe.directory %s", dir)
	case strings.Contains(said, "not a git repository"):
		return ports.Invalid.Errorf(op, "this is not a git repository; run git init there, or name another directory")
	default:
		return ports.Unavailable.Errorf(op, "git cannot use it: %w", err)
	}
}

// realPath returns path with the links of its longest part that exists
// resolved: git writes paths that way.
func realPath(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(realPath(parent), filepath.Base(path))
	}
	return path
}
