package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// leftOut is what git warns of when it leaves something of the checkout out,
// or does not read its rules. A path in the checkout is a relative one.
var leftOut = regexp.MustCompile(`^(?:could not open directory|unable to access '[^/]|ignoring overly)`)

// stage puts everything that is not ignored into the index. It is a failure
// where git warns that it left something out; other warnings are returned:
// they are a filter's, or about the user's own configuration. What is in the
// index of the paths in except stays as it is.
func (c *checkout) stage(ctx context.Context, x *index, except []string) (notes []string, err error) {
	var stderr bytes.Buffer
	add := call{durable: true, long: true, stderr: &stderr, args: []string{"add", "--all"}}
	nested, former := c.nested(x)
	stays := func(path string) bool { return slices.Contains(except, path) }
	nested, former = slices.DeleteFunc(nested, stays), slices.DeleteFunc(former, stays)
	if err := c.forget(ctx, former); err != nil {
		return nil, err
	}
	if len(nested) > 0 {
		// git add would run a git in each, which obeys the nested repository's
		// own configuration, filters included. Only the commit it is at counts.
		stdin := strings.NewReader(strings.Join(nested, "\x00") + "\x00")
		if _, err := c.run(ctx, call{durable: true, stdin: stdin, args: []string{"update-index", "-z", "--stdin"}}); err != nil {
			return nil, stageFailure(err)
		}
	}
	if apart := slices.Concat(except, nested); len(apart) > 0 {
		spec := ".\x00"
		for _, path := range apart {
			spec += ":(exclude,literal)" + path + "\x00"
		}
		add.args = append(add.args, "--pathspec-from-file=-", "--pathspec-file-nul")
		add.stdin = strings.NewReader(spec)
	}
	if _, err := c.run(ctx, add); err != nil {
		return nil, stageFailure(err)
	}
	var reasons []string
	for line := range strings.Lines(stderr.String()) {
		said, ok := strings.CutPrefix(strings.TrimSpace(line), "warning: ")
		told := "git warned: " + ports.Clip(ports.Printable(said), 300)
		switch {
		case !ok, strings.HasPrefix(said, "adding embedded git repository"): // refuseGitlinks decides about those
		case leftOut.MatchString(said):
			reasons = append(reasons, told)
		case !slices.Contains(notes, told) && len(notes) < 10:
			notes = append(notes, told)
		}
	}
	if len(reasons) > 0 {
		return nil, &ports.RejectedError{Reasons: reasons}
	}
	return notes, nil
}

// nested returns the paths in the index that point to a commit of a
// repository: those that hold one, and those that no longer do but hold files,
// which git add would pass over.
func (c *checkout) nested(x *index) (populated, former []string) {
	for _, path := range x.gitlinks {
		dir := filepath.Join(c.dir, filepath.FromSlash(path))
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			populated = append(populated, path)
		} else if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			former = append(former, path)
		}
	}
	return populated, former
}

// forget takes paths out of the index.
func (c *checkout) forget(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	stdin := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	_, err := c.run(ctx, call{stdin: stdin, args: []string{"update-index", "-z", "--force-remove", "--stdin"}})
	return err
}

var (
	noCommit   = regexp.MustCompile(`'([^'\n]*)' does not have a commit checked out`)
	unstagable = regexp.MustCompile(`(?m)^(?:error|fatal): .*(?:unable to index file|open\(".*"\): |invalid path|can only add regular files|` +
		`unable to stat|readlink\(".*"\): |beyond a symbolic link|short read|File name too long|does not have a commit checked out).*$`)
	machine = regexp.MustCompile(`No space left|Disk quota|Read-only file system|insufficient permission for adding an object|` +
		`unable to (?:write|create temporary)|Input/output error|[Oo]ut of memory|Cannot allocate|filter`)
)

// stageFailure tells what the step left, which is its failure, from what the
// machine lacks.
func stageFailure(err error) error {
	var exit *exitError
	if !errors.As(err, &exit) || machine.MatchString(exit.Stderr) {
		return err
	}
	if _, locked := lockIn(err); locked {
		return err
	}
	if m := noCommit.FindStringSubmatch(exit.Stderr); m != nil {
		return &ports.RejectedError{Reasons: []string{fmt.Sprintf(
			"%s is a git repository of its own without a commit; remove its .git, or commit in it and make it a submodule",
			ports.Printable(m[1]))}}
	}
	var reasons []string
	for _, line := range unstagable.FindAllString(exit.Stderr, 10) {
		_, said, _ := strings.Cut(line, ": ")
		reasons = append(reasons, "git cannot add it: "+ports.Clip(ports.Printable(said), 300))
	}
	if len(reasons) == 0 {
		return err
	}
	return &ports.RejectedError{Reasons: slices.Compact(reasons)}
}

// refuseGitlinks fails a step that would commit a pointer to a commit of a
// repository which only this checkout has.
func (c *checkout) refuseGitlinks(ctx context.Context, tree string, changes []change) error {
	var fresh []string
	for _, ch := range changes {
		if ch.newMode == "160000" && ch.oldMode != "160000" {
			fresh = append(fresh, ch.path)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	out, err := c.run(ctx, call{read: true, args: []string{
		"config", "--blob", tree + ":.gitmodules", "--null", "--get-regexp", `^submodule\..*\.path$`,
	}})
	var exit *exitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	known := make(map[string]bool) // none if there is no .gitmodules, or one git cannot read
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if _, path, ok := strings.Cut(entry, "\n"); ok {
			known[path] = true
		}
	}
	var reasons, refused []string
	for _, path := range fresh {
		if !known[path] {
			refused = append(refused, path)
			reasons = append(reasons, fmt.Sprintf("%s is a git repository of its own, of which only a pointer would be committed; "+
				"remove its .git, or make it a submodule", ports.Clip(ports.Printable(path), 200)))
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	if err := c.forget(ctx, refused); err != nil { // or they would be in the way of what the refusal asks for
		return err
	}
	return &ports.RejectedError{Reasons: reasons}
}
