package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"example.com/agl/ports"
)

// A call is one run of git.
type call struct {
	discover string // only in Open: where git looks for the repository itself
	gitDir   string // --git-dir; empty means the common directory
	workTree string // --work-tree and the working directory; empty for calls that need none
	stdin    io.Reader
	stdout   io.Writer // where standard output is streamed; nil means that run returns it
	stderr   io.Writer // gets a copy of standard error; may be nil
	read     bool      // takes no optional locks, so it writes nothing
	durable  bool      // objects and refs it writes survive a power cut
	long     bool      // it may fill a whole tree: ten deadlines
	env      []string
	args     []string
	files    []*os.File // descriptors it inherits: locks, free when the last holder ends
}

// An exitError says that git ended with a failure.
type exitError struct {
	Args   []string // without the options every call has
	Code   int      // -1 if it was ended by a signal
	Stderr string   // its last 16 KiB, as written
}

func (e *exitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Code)
	if e.Code < 0 {
		how = "ended by a signal"
	}
	if said := ports.Printable(e.Stderr); said != "" {
		how += ": " + ports.Clip(said, 600)
	}
	return "git " + e.Args[0] + ": " + how
}

// A deadlineError says that git did not end in time.
type deadlineError struct {
	Args  []string
	After time.Duration
}

func (e *deadlineError) Error() string {
	return fmt.Sprintf("git %s did not end within %s and was stopped: a filter driver, a credential prompt, "+
		"a slow file system or a lock may hold it up", e.Args[0], e.After)
}

// Unwrap makes it a context.DeadlineExceeded.
func (e *deadlineError) Unwrap() error { return context.DeadlineExceeded }

// overrides are the settings no configuration file can change. What decides
// about content (autocrlf, filters, excludes) stays the project's and the
// user's; what runs programs for AGL's own calls, hides changes, or changes
// what a command prints or does, does not.
var overrides = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false",
	"core.sparseCheckout=false", "index.sparse=false", "core.checkStat=default", "core.trustctime=true", "core.ignoreStat=false",
	"core.safecrlf=false", "core.quotePath=false", "core.useReplaceRefs=false", "core.warnAmbiguousRefs=false",
	"core.filesRefLockTimeout=1000", "core.packedRefsTimeout=1500",
	"commit.gpgsign=false", "tag.gpgsign=false", "log.showSignature=false", "rerere.enabled=false",
	"gc.auto=0", "gc.autoDetach=false", "maintenance.auto=false", "submodule.recurse=false",
	"color.ui=false", "color.status=false", "color.diff=false", "color.branch=false",
	"status.showUntrackedFiles=all", "status.relativePaths=false", "status.renames=false", "status.submoduleSummary=false",
	"diff.noprefix=false", "diff.mnemonicPrefix=false", "diff.renames=false", "diff.ignoreSubmodules=dirty",
	"merge.ff=true", "merge.verifySignatures=false", "merge.autoStash=false", "merge.log=false", "merge.conflictStyle=merge",
	"merge.default=text", "merge.renames=true", "merge.renameLimit=7000", "merge.directoryRenames=conflict", "merge.renormalize=false",
	"diff.algorithm=histogram", // of merges, from git 2.45 on
	"commit.cleanup=verbatim", "i18n.commitEncoding=UTF-8", "i18n.logOutputEncoding=UTF-8",
	"add.ignoreErrors=false", "advice.addEmbeddedRepo=false", "branch.autoSetupMerge=false",
	"worktree.guessRemote=false", "worktree.useRelativePaths=false",
}

// durable are the overrides of calls whose objects and refs a record will
// name: without them git syncs neither.
var durable = []string{"core.fsync=committed,reference", "core.fsyncMethod=batch"}

// childEnv returns base as git children get it: without every GIT_ variable
// but those that say who commits and where the user's configuration is. What
// git exports to hooks (GIT_DIR and its kin) would otherwise send a call to
// another repository.
func childEnv(base []string) []string {
	env := make([]string, 0, len(base)+6)
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "GIT_") || keepsVariable(name) {
			env = append(env, entry)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_NO_REPLACE_OBJECTS=1")
}

func keepsVariable(name string) bool {
	switch name {
	case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "GIT_SSL_CAINFO":
		return true
	}
	return strings.HasPrefix(name, "GIT_AUTHOR_") || strings.HasPrefix(name, "GIT_COMMITTER_")
}

// run runs git to its end and returns its standard output. A failure wraps an
// *exitError, a *deadlineError, or ctx's error.
func (r *Repo) run(ctx context.Context, c call) ([]byte, error) {
	var stdout bytes.Buffer
	stderr := &tail{limit: 16 << 10}
	var args []string
	for _, setting := range overrides {
		args = append(args, "-c", setting)
	}
	if c.durable {
		for _, setting := range durable {
			args = append(args, "-c", setting)
		}
	}
	args = append(args, "--no-pager")
	dir := c.discover
	if dir == "" {
		dir = cmp.Or(c.gitDir, r.common)
		args = append(args, "--git-dir="+dir)
	}
	if c.workTree != "" {
		dir = c.workTree
	}
	if c.discover == "" { // without one, git goes where core.worktree says
		args = append(args, "--work-tree="+dir)
	}
	limit := r.deadline
	if c.long {
		limit *= 10
	}
	tctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(tctx, r.git, append(args, c.args...)...)
	cmd.Dir = dir
	cmd.Env = append(append([]string{}, r.env...), c.env...)
	if c.read {
		cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, &stdout, stderr
	if c.stdout != nil {
		cmd.Stdout = c.stdout
	}
	if c.stderr != nil {
		cmd.Stderr = io.MultiWriter(stderr, c.stderr)
	}
	inherit(cmd, c.files)
	err := runGroup(cmd)
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: %w", c.args[0], context.Cause(ctx))
	case tctx.Err() != nil:
		return nil, &deadlineError{Args: c.args, After: limit}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, &exitError{Args: c.args, Code: exit.ExitCode(), Stderr: stderr.String()}
	}
	if _, statErr := os.Stat(dir); statErr != nil {
		return nil, fmt.Errorf("git %s: its directory is gone: %w", c.args[0], statErr)
	}
	return nil, fmt.Errorf("git %s: %w", c.args[0], err)
}

// gracePeriod is how long a git that was told to end may take to remove its
// lock files before it is killed.
const gracePeriod = 3 * time.Second

// runGroup runs cmd in a process group of its own, so that what git starts
// ends with it.
func runGroup(cmd *exec.Cmd) error {
	ownGroup(cmd)
	stopped := false
	cmd.Cancel = func() error {
		stopped = true
		return signalGroup(cmd.Process, false)
	}
	cmd.WaitDelay = gracePeriod
	err := cmd.Run()
	if stopped {
		_ = signalGroup(cmd.Process, true) // whatever outlived the grace period
	}
	if errors.Is(err, exec.ErrWaitDelay) && !stopped {
		return nil // git itself succeeded; something it left behind holds the pipe
	}
	return err
}

// A tail keeps the last limit bytes written to it.
type tail struct {
	limit int
	buf   []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.limit {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.limit:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.buf[max(0, len(t.buf)-t.limit):]) }

// lookGit finds the git program in the PATH that git children get.
func lookGit(env []string) (string, error) {
	path := ""
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, "git")); err == nil {
			return found, nil
		}
	}
	return "", errors.New("git is not installed, or not in PATH; install git 2.38 or newer")
}
