package mem

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// A merged is what merging two commits gives.
type merged struct {
	base         string               // their merge base
	tree         snapshot             // at a conflict it has the first commit's file, if there is one
	conflicts    []ports.ConflictPath // sorted by path; none: the merge is clean
	ours, theirs snapshot             // what was merged
}

// merge merges the files of two commits by path: what one side changed is
// taken, what both changed in the same way too, and what both changed in
// different ways is a conflict, whatever the lines. It changes nothing. A
// merge that git could decide by a rename or by more than one merge base wraps
// ErrUnsupported. The caller holds mu.
func (r *Repository) merge(ours, theirs string) (merged, error) {
	const op = "merge two commits"
	a, err := r.find(op, ours)
	if err != nil {
		return merged{}, err
	}
	b, err := r.find(op, theirs)
	if err != nil {
		return merged{}, err
	}
	id, err := r.mergeBase(ours, theirs)
	if err != nil {
		return merged{}, err
	}
	base := r.commits[id].tree
	tree, conflicts := mergeTrees(base, a.tree, b.tree)
	for _, sides := range [][2]snapshot{{a.tree, b.tree}, {b.tree, a.tree}} {
		if err := renames(base, sides[0], sides[1]); err != nil {
			return merged{}, err
		}
	}
	beside := maps.Clone(tree)
	maps.DeleteFunc(beside, func(p string, _ []byte) bool { _, ok := a.tree[p]; return !ok })
	for p, data := range tree {
		if err := checkPath(p, beside, nil); err != nil {
			return merged{}, unsupported("the merged files clash: %v", err)
		}
		beside[p] = data
	}
	return merged{id, tree, conflicts, a.tree, b.tree}, nil
}

// marked returns the files of a checkout that the merge is left in: a file
// that both sides have differently holds both, between markers.
func (m merged) marked(branch string) snapshot {
	files := maps.Clone(m.tree)
	for _, c := range m.conflicts {
		our, inOurs := m.ours[c.Path]
		their, inTheirs := m.theirs[c.Path]
		if !inOurs || !inTheirs || bytes.ContainsRune(our, 0) || bytes.ContainsRune(their, 0) {
			continue // git leaves the file that there is, and ours of two that are not text
		}
		var b bytes.Buffer
		b.WriteString("<<<<<<< HEAD\n")
		writeLines(&b, our)
		b.WriteString("=======\n")
		writeLines(&b, their)
		fmt.Fprintf(&b, ">>>>>>> %s\n", branch)
		files[c.Path] = b.Bytes()
	}
	return files
}

// writeLines writes text, and ends its last line.
func writeLines(b *bytes.Buffer, text []byte) {
	b.Write(text)
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		b.WriteByte('\n')
	}
}

// marker returns the number of the first line of a text that is a conflict
// marker, from 1, or 0. What stands between the sides is also how people
// underline: it is one only where merging wrote it. A line that a side has is
// none.
func marker(text, made []byte, sides ...[]byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		usual := bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> "))
		between := bytes.Equal(line, []byte("=======")) && hasLine(made, line)
		if (usual || between) && !slices.ContainsFunc(sides, func(side []byte) bool { return hasLine(side, line) }) {
			return n
		}
	}
	return 0
}

// hasLine reports whether a text has a line, however it ends.
func hasLine(text, line []byte) bool {
	for l := range bytes.Lines(text) {
		if bytes.Equal(bytes.TrimRight(l, "\r\n"), line) {
			return true
		}
	}
	return false
}

func byPath(a, b ports.ConflictPath) int { return cmp.Compare(a.Path, b.Path) }

// mergeBase returns the one best common ancestor of two commits.
func (r *Repository) mergeBase(ours, theirs string) (string, error) {
	common, other := r.reach(ours), r.reach(theirs)
	maps.DeleteFunc(common, func(id string, _ bool) bool { return !other[id] })
	best := maps.Clone(common)
	for id := range common {
		for above := range r.reach(r.commits[id].parents...) {
			delete(best, above)
		}
	}
	switch bases := slices.Sorted(maps.Keys(best)); len(bases) {
	case 0:
		return "", ports.Invalid.Errorf("", "commits %s and %s have no common ancestor", ours, theirs)
	case 1:
		return bases[0], nil
	default:
		return "", unsupported("commits %s and %s have %d merge bases", ours, theirs, len(bases))
	}
}

// mergeTrees merges by path.
func mergeTrees(base, ours, theirs snapshot) (merged snapshot, conflicts []ports.ConflictPath) {
	merged = maps.Clone(ours)
	if merged == nil {
		merged = snapshot{}
	}
	for _, p := range base.differing(theirs) {
		was, inBase := base[p]
		our, inOurs := ours[p]
		their, inTheirs := theirs[p]
		kind := ""
		switch {
		case inOurs == inTheirs && bytes.Equal(our, their): // changed alike
		case inBase == inOurs && bytes.Equal(was, our): // by them alone
			delete(merged, p)
			if inTheirs {
				merged[p] = their
			}
		case !inBase:
			kind = "add/add"
		case !inOurs || !inTheirs:
			kind = "delete/modify"
			if !inOurs {
				merged[p] = their // as git leaves it in the checkout
			}
		default:
			kind = "content"
		}
		if kind != "" {
			conflicts = append(conflicts, ports.ConflictPath{Path: p, Kind: kind})
		}
	}
	return merged, conflicts
}

// renames refuses what git would decide by a rename on one side: it deletes a
// file and adds one like it, and the other side touched the first, or added
// one where the second is or in a folder the first was in.
func renames(base, side, other snapshot) error {
	var gone, added, theirs []string
	for _, p := range base.differing(side) {
		if _, ok := side[p]; !ok {
			gone = append(gone, p)
		} else if _, ok := base[p]; !ok {
			added = append(added, p)
		}
	}
	if len(gone) == 0 || len(added) == 0 {
		return nil
	}
	for _, p := range base.differing(other) {
		if _, ok := base[p]; !ok {
			theirs = append(theirs, p)
		}
	}
	for _, from := range gone {
		touched := !other.has(from, base[from])
		for _, p := range theirs {
			touched = touched || side.emptied(p, from) || slices.Contains(added, p)
		}
		if !touched {
			continue
		}
		for _, to := range added {
			if similar(base[from], side[to]) {
				return unsupported("%s may have been renamed to %s on one side, and the other changed what that is about", from, to)
			}
		}
	}
	return nil
}

// emptied reports whether a path is in a folder, or below one, that from was in
// or below and that is gone: with "old/sub/a" renamed to "new/sub/a", git takes
// "old" for renamed to "new".
func (s snapshot) emptied(p, from string) bool {
	for dir := path.Dir(from); dir != "."; dir = path.Dir(dir) {
		in := func(p string) bool { return strings.HasPrefix(p, dir+"/") }
		if in(p) && !slices.ContainsFunc(slices.Collect(maps.Keys(s)), in) {
			return true
		}
	}
	return false
}

// similar reports whether git might take b for a renamed, or leaves it so
// close that a guess would be needed: it compares pieces of lines, and half of
// the larger file is enough for it.
func similar(a, b []byte) bool {
	return bytes.Equal(a, b) || share(a, b) || share(unix(a), unix(b)) // as git reads binary files, and texts
}

func share(a, b []byte) bool {
	have := pieces(a)
	common := 0
	for piece, n := range pieces(b) {
		common += len(piece) * min(n, have[piece])
	}
	return 5*common >= 2*max(len(a), len(b))
}

// unix returns a text with the ends of lines that git compares by.
func unix(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), newline) }

var newline = []byte("\n")

// pieces counts the pieces of a file: its lines, cut into 64 bytes each.
func pieces(data []byte) map[string]int {
	counts := map[string]int{}
	for len(data) > 0 {
		n := min(len(data), 64)
		if end := bytes.IndexByte(data[:n], '\n'); end >= 0 {
			n = end + 1
		}
		counts[string(data[:n])]++
		data = data[n:]
	}
	return counts
}
