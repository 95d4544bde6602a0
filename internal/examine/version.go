package examine

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendorprog"
)

// A Range is the versions that an adapter is made for.
type Range struct {
	Oldest string // that works; "" for Newest
	Newest string // that it was tested with
}

func (r Range) String() string {
	if r.Oldest == "" || r.Oldest == r.Newest {
		return r.Newest
	}
	return r.Oldest + " to " + r.Newest
}

// Older reports whether a version is known to be too old.
func (r Range) Older(version string) bool {
	return r.Oldest != "" && version != "" && compare(version, r.Oldest) < 0
}

// Newer reports whether a version is newer than any that was tested.
func (r Range) Newer(version string) bool { return compare(version, r.Newest) > 0 }

// compare compares two versions by their numbers.
func compare(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

func numbers(version string) (list []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // only one too long for an int fails, and is the greatest
		list = append(list, n)
	}
	return list
}

// versionNumber is what all of the vendors' programs have in what they print,
// among other words.
var versionNumber = regexp.MustCompile(`\d{1,18}(\.\d{1,18}){2}`)

// A startError says that a program could not be started at all.
type startError struct{ error }

// Version asks the program at path for its version, and returns the number. It is
// asked in an empty folder: what is where AGL was started is none of its business.
func Version(ctx context.Context, path string, env []string) (string, error) {
	dir, err := os.MkdirTemp("", "agl-version-")
	if err != nil {
		return "", &startError{err}
	}
	defer os.RemoveAll(dir)
	var out, errs proc.Tail
	exit, err := (&proc.Cmd{Args: []string{path, "--version"}, Dir: dir, Env: env, Stdout: &out, Stderr: &errs, Grace: time.Second}).Run(ctx)
	switch number := versionNumber.FindString(out.String()); {
	case err != nil:
		return "", &startError{err}
	case !exit.OK():
		return "", fmt.Errorf("--version ended with %v: %s", exit, vendorprog.Quote(errs.String()))
	case number == "":
		return "", fmt.Errorf("--version tells no version: %s", vendorprog.Quote(out.String()))
	default:
		return number, nil
	}
}
