package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/agl/ports"
)

// A salvageRecord is a salvage as its commit's message tells it. The commit's
// tree is the files, its first parent the commit that was put back, and so git
// shows the difference; the other parents are the index and the stray commits.
type salvageRecord struct {
	n         int
	namespace string
	ref       string
	commit    string
	parents   []string

	reason string
	made   time.Time
	paths  int
	sides  []string // what the parents from the second on hold
	strays []string // the last parents
	nested []string // paths in the checkout
	notes  []string
}

func salvagePrefix(label string) string { return "refs/agl/salvage/" + label + "/" }

// The names of the trailers of a salvage's message. Values that may hold
// anything are quoted as in Go.
const (
	trailerFormat    = "AGL-Salvage" // the version of this format
	trailerNamespace = "AGL-Namespace"
	trailerHead      = "AGL-Head"
	trailerReason    = "AGL-Reason"
	trailerMade      = "AGL-Made"
	trailerPaths     = "AGL-Paths"
	trailerSide      = "AGL-Parent" // what the next parent holds
	trailerStray     = "AGL-Stray"
	trailerNested    = "AGL-Nested"
	trailerNote      = "AGL-Note"
)

// message returns the commit message.
func (s *salvageRecord) message(label string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "salvage of %s/%s: %s\n\n", label, s.namespace, ports.Clip(ports.Printable(s.reason), 100))
	fmt.Fprintf(&b, "The files as they were before the checkout was put back to %s.\n", s.parents[0])
	for i, side := range s.sides {
		fmt.Fprintf(&b, "Parent %d is the %s.\n", i+2, side)
	}
	if len(s.strays) > 0 {
		b.WriteString("The last parents are commits that no branch or tag reached.\n")
	}
	b.WriteByte('\n')
	line := func(name, value string) { fmt.Fprintf(&b, "%s: %s\n", name, value) }
	line(trailerFormat, "1")
	line(trailerNamespace, s.namespace)
	line(trailerHead, s.parents[0])
	line(trailerReason, strconv.Quote(s.reason))
	line(trailerMade, s.made.Format(time.RFC3339Nano))
	line(trailerPaths, strconv.Itoa(s.paths))
	for _, side := range s.sides {
		line(trailerSide, side)
	}
	for _, id := range s.strays {
		line(trailerStray, id)
	}
	for _, p := range s.nested {
		line(trailerNested, strconv.Quote(p))
	}
	for _, note := range s.notes {
		line(trailerNote, strconv.Quote(note))
	}
	return b.String()
}

// readMessage fills in what a message says. It fails on one that AGL did not
// write.
func (s *salvageRecord) readMessage(message string) error {
	message = strings.TrimRight(message, "\n")
	trailers := message[strings.LastIndex(message, "\n\n")+1:]
	known := false
	for line := range strings.Lines(trailers) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		var err error
		switch name {
		case trailerFormat:
			if known = value == "1"; !known {
				return fmt.Errorf("format %q is not known to this version of AGL", value)
			}
		case trailerNamespace:
			s.namespace = value
		case trailerReason:
			s.reason, err = strconv.Unquote(value)
		case trailerMade:
			s.made, err = time.Parse(time.RFC3339Nano, value)
		case trailerPaths:
			s.paths, err = strconv.Atoi(value)
		case trailerSide:
			s.sides = append(s.sides, value)
		case trailerStray:
			s.strays = append(s.strays, value)
		case trailerNested:
			err = appendUnquoted(&s.nested, value)
		case trailerNote:
			err = appendUnquoted(&s.notes, value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case !known:
		return errors.New("it was not written by AGL")
	case len(s.parents) < 1+len(s.sides)+len(s.strays):
		return errors.New("it has fewer parents than it says")
	}
	return nil
}

func appendUnquoted(to *[]string, quoted string) error {
	text, err := strconv.Unquote(quoted)
	*to = append(*to, text)
	return err
}

// salvages returns what was salvaged in a run, in order of number. A commit
// below the run's salvage refs that AGL did not write is among it, with the
// reason saying so.
func (r *Repo) salvages(ctx context.Context, label string) ([]*salvageRecord, error) {
	if checkName(label) != nil {
		return nil, nil // no run has such a label; as a pattern or a path it would lead elsewhere
	}
	prefix := salvagePrefix(label)
	out, err := r.run(ctx, call{read: true, args: []string{
		"for-each-ref", "--format=%(refname)%00%(objectname)%00%(parent)%00%(contents)%00", prefix,
	}})
	if err != nil {
		return nil, err
	}
	var found []*salvageRecord
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) >= 4; fields = fields[4:] {
		s := &salvageRecord{
			ref: strings.TrimPrefix(fields[0], "\n"), commit: fields[1], parents: strings.Fields(fields[2]),
		}
		namespace, number, ok := cutLast(strings.TrimPrefix(s.ref, prefix))
		if s.n = salvageNumber(number); s.n == 0 || !ok {
			continue // not a name AGL gives
		}
		if err := s.readMessage(fields[3]); err != nil {
			*s = salvageRecord{n: s.n, ref: s.ref, commit: s.commit, parents: s.parents, reason: "unknown: " + err.Error()}
		}
		s.namespace = namespace
		found = append(found, s)
	}
	slices.SortFunc(found, func(a, b *salvageRecord) int {
		if a.n != b.n {
			return a.n - b.n
		}
		return strings.Compare(a.ref, b.ref)
	})
	return found, nil
}

// public returns a salvage as the engine and the command line see it.
func (r *Repo) publicSalvage(label string, s *salvageRecord) *ports.Salvage {
	p := &ports.Salvage{
		N: s.n, Namespace: s.namespace, Ref: s.ref, Commit: s.commit, Reason: s.reason,
		Paths: s.paths, Made: s.made, Commits: s.strays, Notes: s.notes,
	}
	if len(s.sides) > 0 && s.sides[0] != operationState {
		p.Index = s.parents[1]
	}
	for _, nested := range s.nested {
		if !filepath.IsLocal(filepath.FromSlash(nested)) {
			continue
		}
		to := r.nestedPath(label, s.n, nested)
		if _, err := os.Lstat(to); err == nil {
			p.Nested = append(p.Nested, to)
		}
	}
	return p
}

// salvageFolder is where what belongs to salvage n and is in no commit goes.
// It stays, empty, when the salvage is dropped, so that its number is not
// given again.
func (r *Repo) salvageFolder(label string, n int) string {
	return filepath.Join(r.salvageDir, label, strconv.Itoa(n))
}

func (r *Repo) nestedPath(label string, n int, path string) string {
	return filepath.Join(r.salvageFolder(label, n), "nested", filepath.FromSlash(path))
}

// salvageNumber reads the number in the name of a ref or folder; 0 if AGL
// would not give it.
func salvageNumber(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || n > 1e9 || strconv.Itoa(n) != name {
		return 0
	}
	return n
}

// claimSalvage takes the next number of a run by making its folder. after is
// the highest a ref has: another AGL_HOME may have made it.
func (r *Repo) claimSalvage(label string, after int) (int, error) {
	dir := filepath.Join(r.salvageDir, label)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		after = max(after, salvageNumber(e.Name()))
	}
	for n := after + 1; ; n++ {
		err := os.Mkdir(r.salvageFolder(label, n), 0o755)
		if err == nil || !errors.Is(err, os.ErrExist) {
			return n, err
		}
	}
}

// Salvaged lists what was salvaged in a run, in order of number.
func (r *Repo) Salvaged(ctx context.Context, label string) ([]ports.Salvage, error) {
	found, err := r.salvages(ctx, label)
	if err != nil {
		return nil, r.fault("list the salvage of "+label, err)
	}
	list := make([]ports.Salvage, len(found))
	for i, s := range found {
		list[i] = *r.publicSalvage(label, s)
	}
	return list, nil
}

// DropSalvage gives up salvage n for good: what was moved aside, then its ref.
func (r *Repo) DropSalvage(ctx context.Context, label string, n int) error {
	op := fmt.Sprintf("drop salvage %d of %s", n, label)
	s, err := r.findSalvage(ctx, op, label, n)
	if err != nil {
		return err
	}
	if err := removeTree(filepath.Join(r.salvageFolder(label, n), "nested")); err != nil {
		return ports.Unavailable.Errorf(op, "remove what was moved aside: %w", err)
	}
	if err := os.MkdirAll(r.salvageFolder(label, n), 0o755); err != nil {
		return ports.Unavailable.Errorf(op, "keep its number from being given again: %w", err)
	}
	_, err = r.run(ctx, call{durable: true, args: []string{"update-ref", "-d", s.ref, s.commit}})
	return r.fault(op, err)
}

// findSalvage returns salvage n of a run.
func (r *Repo) findSalvage(ctx context.Context, op, label string, n int) (*salvageRecord, error) {
	found, err := r.salvages(ctx, label)
	if err != nil {
		return nil, r.fault(op, err)
	}
	for _, s := range found {
		if s.n == n {
			return s, nil
		}
	}
	return nil, ports.NotFound.Errorf(op, "run %s has no salvage %d; list what it has", label, n)
}
