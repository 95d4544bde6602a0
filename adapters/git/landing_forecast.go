package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/agl/ports"
)

// A forecast is what merging two commits gives, before any checkout is
// touched: the files, with conflict markers in those where there are
// conflicts, and what the index holds of these.
type forecast struct {
	tree   string
	stages []stageEntry
	told   []told
	clean  bool
}

// A stageEntry is what the index holds of one side of a path in conflict.
type stageEntry struct {
	entry
	stage int // 1: what both come from, 2: ours, 3: theirs
	path  string
}

// A told is what git says about some paths of a merge.
type told struct {
	paths []string
	kind  string // "CONFLICT (rename/delete)", "Auto-merging": stable, for programs
	text  string
}

// forecast merges theirs into the checkout's HEAD. The markers are labelled as
// git merge would: with HEAD and the id of theirs, so that they follow from the
// commits alone. Attributes are read from the checkout.
func (c *checkout) forecast(ctx context.Context, theirs string) (forecast, error) {
	var out bytes.Buffer
	_, err := c.run(ctx, call{long: true, stdout: &out, args: []string{"merge-tree", "--write-tree", "-z", "HEAD", theirs}})
	var exit *exitError
	switch {
	case err == nil:
	case !errors.As(err, &exit):
		return forecast{}, err
	case exit.Code == 1 && out.Len() > 0: // there are conflicts
	case exit.Code == 1: // the commit is unknown
		return forecast{}, orNotFound(nil, c.repo, theirs)
	case strings.Contains(exit.Stderr, "unrelated histories"):
		return forecast{}, &ports.UnmergeableError{Err: c.unrelated(theirs)}
	default:
		return forecast{}, err
	}
	f, parseErr := parseForecast(out.Bytes())
	if parseErr != nil {
		return forecast{}, parseErr
	}
	if !c.repo.isOID(f.tree) {
		return forecast{}, fmt.Errorf("git merge-tree named no tree: %q", f.tree)
	}
	f.clean = err == nil
	return f, nil
}

// unrelated says why two commits have nothing in common.
func (c *checkout) unrelated(theirs string) error {
	if _, err := os.Lstat(filepath.Join(c.repo.common, "shallow")); err == nil {
		return ports.Unavailable.Errorf("", "the clone is shallow, and what %s and HEAD have in common is not in it; run git fetch --unshallow", theirs)
	}
	return ports.Invalid.Errorf("", "commit %s and HEAD have no history in common", theirs)
}

// parseForecast reads what git merge-tree --write-tree -z writes: a tree, the
// entries in conflict, an empty field, and messages, each field ended by NUL.
// Advice for a person about submodules may follow, and is passed over.
func parseForecast(out []byte) (forecast, error) {
	bad := func(what string) (forecast, error) {
		return forecast{}, fmt.Errorf("git merge-tree wrote what cannot be read: %s", what)
	}
	end := bytes.LastIndexByte(out, 0)
	if end < 0 {
		return bad("no field is ended by NUL")
	}
	fields := strings.Split(string(out[:end]), "\x00")
	f := forecast{tree: fields[0]}
	fields = fields[1:]
	for ; len(fields) > 0 && fields[0] != ""; fields = fields[1:] {
		meta, path, ok := strings.Cut(fields[0], "\t")
		parts := strings.Fields(meta) // "100644 <id> 2"
		if !ok || path == "" || len(parts) != 3 || len(parts[2]) != 1 || parts[2][0] < '1' || parts[2][0] > '3' {
			return bad(strconv.Quote(fields[0]))
		}
		f.stages = append(f.stages, stageEntry{entry{parts[0], parts[1]}, int(parts[2][0] - '0'), path})
	}
	if len(fields) > 0 {
		fields = fields[1:]
	}
	for len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 0 || n > len(fields)-3 {
			return bad(strconv.Quote(fields[0]))
		}
		f.told = append(f.told, told{paths: fields[1 : 1+n], kind: fields[1+n], text: strings.TrimSpace(fields[2+n])})
		fields = fields[3+n:]
	}
	return f, nil
}
