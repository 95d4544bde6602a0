package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"example.com/agl/ports"
)

var (
	lockedFile = regexp.MustCompile(`(?:Unable to create|unable to create lock file) '?([^'\n]+\.lock)'?: File exists`)
	noObject   = regexp.MustCompile(`bad object|not a valid object|is not a valid '[a-z]+' object|not a tree object|nonexistent object|unable to read (?:tree|sha1|commit)|` +
		`could not parse object|[Cc]ould not parse commit|missing object|invalid reference|[Nn]ot a valid commit|invalid object|unable to find`)
	noResource = regexp.MustCompile(`No space left|Disk quota|Read-only file system|insufficient permission|` +
		`Permission denied|Input/output error|Too many open files|[Oo]ut of memory|Cannot allocate|Resource temporarily|filter '?[^']*'? failed|` +
		`[Uu]nable to write|[Cc]ould(?:n't| not) write|[Ff]ailed to write|write error`) // git does not always say why
)

// lockIn returns the lock file that kept a git call from working.
func lockIn(err error) (string, bool) {
	var exit *exitError
	if errors.As(err, &exit) {
		if m := lockedFile.FindStringSubmatch(exit.Stderr); m != nil {
			return m[1], true
		}
	}
	return "", false
}

// fault gives an error of a git call its kind and says what the reader can do.
// An error that has a kind keeps it; a cancelled call gets none.
func (r *Repo) fault(op string, err error) error {
	var exit *exitError
	switch {
	case err == nil:
		return nil
	case ports.KindOf(err) != "", errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", op, err)
	case !errors.As(err, &exit):
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	if lock, ok := lockIn(err); ok {
		return ports.Unavailable.Errorf(op, "the lock file %s %s; wait for the git that works there, or remove the file if there is none: %w", lock, lockAge(lock), err)
	}
	switch {
	case noObject.MatchString(exit.Stderr):
		return ports.NotFound.Errorf(op, "an object is missing from %s; fetch it or restore it: %w", r.common, err)
	case exit.Code < 0 || noResource.MatchString(exit.Stderr):
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	return ports.Unexpected.Errorf(op, "%w", err)
}

// noSuchObject reports whether a git call failed for want of an object.
func noSuchObject(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && noObject.MatchString(exit.Stderr)
}

// lockAge says how long a lock file has been there.
func lockAge(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "was there a moment ago"
	}
	return "has been there for " + time.Since(info.ModTime()).Round(time.Second).String()
}

// firstLine returns the first line of what git said that is not a hint.
func firstLine(stderr string) string {
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "hint:") {
			return line
		}
	}
	return ""
}

// reasonOf returns what git said when a call failed.
func reasonOf(err error) string {
	var exit *exitError
	if errors.As(err, &exit) {
		return ports.Clip(ports.Printable(firstLine(exit.Stderr)), 300)
	}
	return err.Error()
}
