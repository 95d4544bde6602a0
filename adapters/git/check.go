package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/agl/ports"
)

// Check says everything that would keep a run from working here.
func (r *Repo) Check(ctx context.Context) error {
	const op = "check the repository"
	var problems []string
	kind := ports.Unavailable
	if _, err := r.version(ctx); err != nil {
		if ctx.Err() != nil {
			return r.fault(op, err)
		}
		problems = append(problems, err.Error())
	}
	if r.bare && isRegular(filepath.Join(r.common, "index")) {
		kind = ports.Invalid
		problems = append(problems, r.common+" says core.bare = true although a checkout belongs to it; git config core.bare false")
	}
	switch some, err := r.hasCommit(ctx); {
	case err != nil:
		return r.fault(op, err)
	case !some:
		kind = ports.Invalid
		problems = append(problems, "this repository has no commit yet; make one first")
	}
	for _, role := range []string{"COMMITTER", "AUTHOR"} {
		if _, err := r.identity(ctx, role); err != nil {
			var exit *exitError
			if !errors.As(err, &exit) {
				return r.fault(op, err)
			}
			problems = append(problems, fmt.Sprintf("git does not know who commits (%s); git config --global user.name NAME && git config --global user.email ADDRESS",
				ports.Printable(lastLine(exit.Stderr))))
			break
		}
	}
	if err := r.checkLFS(ctx); err != nil {
		if ports.KindOf(err) == "" {
			return r.fault(op, err)
		}
		problems = append(problems, err.Error())
	}
	if len(problems) == 0 {
		return nil
	}
	return kind.Errorf(op, "%s", strings.Join(problems, "; "))
}

var versionNumber = regexp.MustCompile(`^git version (\d+)\.(\d+)`)

// Oldest is the oldest version of git that AGL works with: the merge-tree of an
// older one cannot forecast a merge.
const Oldest = "2.38"

// Version returns the path of git and its version, as it tells it. One that is not
// there, or too old, is Unavailable. env is the environment to look for git in;
// nil means this process's.
func Version(ctx context.Context, env []string) (program, version string, err error) {
	const op = "find git"
	if env == nil {
		env = os.Environ()
	}
	if program, err = lookGit(env); err != nil {
		return "", "", ports.Unavailable.Errorf(op, "%w", err)
	}
	r := &Repo{git: program, env: childEnv(env), deadline: 2 * time.Minute}
	version, err = r.version(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return program, "", r.fault(op, err)
		}
		return program, version, ports.Unavailable.Errorf(op, "%w", err)
	}
	return program, version, nil
}

// version refuses a git older than Oldest.
func (r *Repo) version(ctx context.Context) (string, error) {
	out, err := r.run(ctx, call{discover: "/", read: true, args: []string{"version"}})
	if err != nil {
		return "", err
	}
	major, minor, ok := parseVersion(string(out))
	if !ok {
		return "", fmt.Errorf("%s does not say its version: %q", r.git, ports.Clip(ports.Printable(string(out)), 100))
	}
	version := strings.TrimPrefix(ports.Printable(string(out)), "git version ")
	if major < 2 || major == 2 && minor < 38 {
		return version, fmt.Errorf("git %d.%d is too old; install %s or newer", major, minor, Oldest)
	}
	return version, nil
}

// parseVersion reads what git version prints, vendors' additions included.
func parseVersion(text string) (major, minor int, ok bool) {
	m := versionNumber.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	major, majorErr := strconv.Atoi(m[1])
	minor, minorErr := strconv.Atoi(m[2])
	return major, minor, majorErr == nil && minorErr == nil
}

// hasCommit reports whether there is a commit to start from.
func (r *Repo) hasCommit(ctx context.Context) (bool, error) {
	head, err := r.commitOf(ctx, r.gitDir, "HEAD")
	if err != nil || head != "" {
		return head != "", err
	}
	out, err := r.run(ctx, call{read: true, args: []string{"for-each-ref", "--count=1", "--format=%(objectname)", "refs/heads/", "refs/tags/", "refs/remotes/"}})
	return len(out) > 0, err
}

// checkLFS looks at the attributes in the root of HEAD; Open looks at all.
func (r *Repo) checkLFS(ctx context.Context) error {
	out, err := r.run(ctx, call{gitDir: r.gitDir, read: true, args: []string{"cat-file", "blob", "HEAD:.gitattributes"}})
	var exit *exitError
	if errors.As(err, &exit) {
		return nil // there is none
	}
	if err != nil || !wantsLFS(out) {
		return err
	}
	return r.lfsMissing(ctx, ".gitattributes")
}

// lastLine returns the last line git wrote: where several say why, that one
// says what.
func lastLine(stderr string) string {
	text := strings.TrimSpace(stderr)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
