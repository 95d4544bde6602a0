package local

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/agl/adapters/git"
	"example.com/agl/ports"
)

// Options say what differs from what the machine says itself. The zero value
// works in any repository that has a commit.
type Options struct {
	Repo         string                 // a folder in the repository; "" is the working directory
	Home         string                 // absolute: where AGL keeps its records
	Trees        string                 // absolute, outside the repository: the checkouts go to <Trees>/<name>
	Build        *string                // the build gate's command line; pointing at "" means no gate
	BuildTimeout time.Duration          // how long the gate may take
	Script       string                 // a file of adapters/script: its agent stands in for every provider
	Claude       string                 // Claude Code's path, or a name to be found on PATH
	Codex        string                 // Codex's
	Copilot      string                 // the Copilot CLI's
	Instructions ports.Instructions     // "repository" gives Claude Code, Codex and Copilot the checkout's own files for agents (CLAUDE.md, AGENTS.md, .github/copilot-instructions.md); "" nothing of it
	Agents       map[string]ports.Agent // further agents, by provider; they win over this package's own
	Env          []string               // "NAME=value": the environment, for settings, git, the gate, agents and a script's commands; nil is this process's
	Person       *Person                // where somebody may sit and answer; nil: nobody does
}

// A Person is where somebody may watch runs and answer their questions. Whether
// somebody can is found out: nobody does where one of the files is no terminal,
// or CI is set.
type Person struct {
	In, Out *os.File
	Lines   bool // no dashboard: questions and answers are lines
}

// A Project is where everything of one repository is, and its settings.
type Project struct {
	Name         string // folder name and six hexadecimal digits
	Repo         string // the real path of the common git directory
	Home         string // absolute
	Trees        string // absolute: where the checkouts go, <its root>/<Name>
	Build        string // the build gate's command line; "" is none
	BuildTimeout time.Duration
}

const defaultTimeout = 10 * time.Minute

func (p *Project) dir() string     { return filepath.Join(p.Home, "projects", p.Name) }
func (p *Project) file() string    { return filepath.Join(p.dir(), "project.toml") }
func (p *Project) salvage() string { return filepath.Join(p.dir(), "salvage") }

// Find returns the project of a repository and writes nothing.
func Find(ctx context.Context, opts Options) (*Project, error) {
	p, _, err := find(ctx, opts)
	return p, err
}

// where is the folder the operator works in. Git is asked from there, never
// from the git directory: which branch the operator is on depends on it, and
// git may be told to take a git directory for nobody's (safe.bareRepository).
func (o Options) where() string {
	if o.Repo != "" {
		return o.Repo
	}
	dir, err := os.Getwd()
	if err != nil {
		return "." // git says what is wrong with it
	}
	return dir
}

// find also returns the settings file as it is.
func find(ctx context.Context, opts Options) (*Project, settings, error) {
	env := environmentOf(opts.Env)
	home, err := findHome(opts, env)
	if err != nil {
		return nil, settings{}, err
	}
	at, err := git.Locate(ctx, opts.where(), opts.Env)
	if err != nil {
		return nil, settings{}, err
	}
	p := &Project{Name: projectName(at.Common), Repo: at.Common, Home: home}
	s, err := readSettings(p.file())
	if err != nil {
		return nil, settings{}, err
	}
	if s.Repo != "" && s.Repo != p.Repo {
		return nil, settings{}, ports.Conflicted.Errorf(p.file(), "it belongs to the repository %s, not to %s", s.Repo, p.Repo)
	}
	if err := p.settle(opts, env, s); err != nil {
		return nil, settings{}, err
	}
	return p, s, p.checkTrees(at)
}

// settle decides on each setting: options, environment, file, default.
func (p *Project) settle(opts Options, env environment, s settings) error {
	trees, err := env.lookup("AGL_TREES")
	if err != nil {
		return err
	}
	root := cmp.Or(opts.Trees, trees, s.Trees, filepath.Join(p.Home, "trees"))
	if !filepath.IsAbs(root) {
		return ports.Invalid.Errorf("", "the folder for worktrees %q is not an absolute path", root)
	}
	p.Trees = filepath.Join(root, p.Name)

	build, err := env.lookup("AGL_BUILD")
	switch {
	case err != nil:
		return err
	case opts.Build != nil:
		p.Build = *opts.Build
	case build != "":
		p.Build = build
	case s.Build != nil:
		p.Build = *s.Build
	}

	timeout, err := env.lookup("AGL_BUILD_TIMEOUT")
	switch {
	case err != nil:
		return err
	case opts.BuildTimeout < 0:
		return ports.Invalid.Errorf("", "the build timeout %s is less than nothing", opts.BuildTimeout)
	case opts.BuildTimeout > 0:
		p.BuildTimeout = opts.BuildTimeout
	case timeout != "":
		if p.BuildTimeout, err = parseTimeout(timeout); err != nil {
			return ports.Invalid.Errorf("AGL_BUILD_TIMEOUT", "%w", err)
		}
	case s.BuildTimeout != 0:
		p.BuildTimeout = time.Duration(s.BuildTimeout)
	default:
		p.BuildTimeout = defaultTimeout
	}
	return nil
}

// checkTrees refuses checkouts inside the repository: the operator's files and
// instruction files would reach them, and git would see them as untracked.
func (p *Project) checkTrees(at git.Location) error {
	trees := realPath(p.Trees)
	for _, dir := range []string{at.Top, mainCheckout(at.Common), at.Common} {
		if dir != "" && within(trees, dir) {
			return ports.Invalid.Errorf("", "the worktrees would go to %s, inside the repository at %s; "+
				"choose a place outside it for AGL_HOME or AGL_TREES", p.Trees, dir)
		}
	}
	return nil
}

// mainCheckout returns the checkout a common git directory is in, or "".
func mainCheckout(common string) string {
	if filepath.Base(common) != ".git" {
		return ""
	}
	return filepath.Dir(common)
}

func findHome(opts Options, env environment) (string, error) {
	fromEnv, err := env.lookup("AGL_HOME")
	if err != nil {
		return "", err
	}
	home := cmp.Or(opts.Home, fromEnv)
	if home != "" {
		if !filepath.IsAbs(home) {
			return "", ports.Invalid.Errorf("", "AGL's home %q is not an absolute path", home)
		}
		return filepath.Clean(home), nil
	}
	if state := env["XDG_STATE_HOME"]; filepath.IsAbs(state) { // its specification says to ignore any other
		return filepath.Join(state, "agl"), nil
	}
	user := cmp.Or(env["HOME"], env["USERPROFILE"])
	if !filepath.IsAbs(user) {
		return "", ports.Invalid.Errorf("", "there is no home directory to keep records in; set AGL_HOME to an absolute path")
	}
	return filepath.Join(user, ".local", "state", "agl"), nil
}

// projectName makes a project's name of its common git directory's real path.
func projectName(common string) string {
	folder := filepath.Base(common)
	if dir := mainCheckout(common); dir != "" {
		folder = filepath.Base(dir)
	}
	folder = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, folder), ".-")
	sum := sha256.Sum256([]byte(common))
	suffix := hex.EncodeToString(sum[:3])
	if folder == "" {
		return suffix
	}
	return folder[:min(len(folder), 80)] + "-" + suffix
}

// environment is an environment by name.
type environment map[string]string

func environmentOf(entries []string) environment {
	if entries == nil {
		entries = os.Environ()
	}
	env := make(environment, len(entries))
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}

// lookup returns a variable of AGL's own. Set and empty is a mistake: whoever
// meant to unset it gets told, not surprised.
func (e environment) lookup(name string) (string, error) {
	value, ok := e[name]
	if ok && value == "" {
		return "", ports.Invalid.Errorf("", "%s is set and empty; unset it or give it a value", name)
	}
	return value, nil
}

// realPath resolves the links in as much of path as exists.
func realPath(path string) string {
	rest := ""
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return filepath.Clean(path)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
