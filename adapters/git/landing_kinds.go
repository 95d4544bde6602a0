package git

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// conflicts returns the paths that the two sides do not agree on, sorted.
func (f forecast) conflicts() []ports.ConflictPath {
	if f.clean {
		return nil
	}
	found := map[string]ports.ConflictPath{}
	sides := map[string][4]entry{}
	for _, s := range f.stages {
		of := sides[s.path]
		of[s.stage] = s.entry
		sides[s.path] = of
	}
	for path, of := range sides {
		kind, note := kindOfStages(of)
		found[path] = ports.ConflictPath{Path: path, Kind: kind, Note: note}
	}
	for _, t := range f.told {
		kind := kindOfTold(t.kind)
		if kind == "" {
			continue
		}
		for i, path := range t.paths {
			at, ok := found[path]
			if i > 0 && !ok || ok && rank(at.Kind) >= rank(kind) {
				continue
			}
			others := slices.DeleteFunc(slices.Clone(t.paths), func(p string) bool { return p == path })
			found[path] = ports.ConflictPath{Path: path, Kind: kind, Note: list(others)}
		}
	}
	if len(found) == 0 { // git says no more than that it is not clean
		for _, t := range f.told {
			for _, path := range t.paths {
				found[path] = ports.ConflictPath{Path: path, Kind: ports.ConflictRename, Note: ports.Clip(ports.Printable(t.text), 200)}
			}
		}
	}
	if len(found) == 0 {
		found["."] = ports.ConflictPath{Path: ".", Kind: ports.ConflictRename, Note: "git does not say where"}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b ports.ConflictPath) int { return cmp.Compare(a.Path, b.Path) })
}

// kindOfStages tells a conflict's kind by which sides have the path.
func kindOfStages(of [4]entry) (kind, note string) {
	base, ours, theirs := of[1], of[2], of[3]
	none := entry{}
	switch {
	case slices.ContainsFunc(of[:], func(e entry) bool { return e.mode == modeRepo }):
		return ports.ConflictSubmodule, ""
	case ours != none && theirs != none && (ours.mode == modeLink) != (theirs.mode == modeLink):
		return ports.ConflictMode, ""
	case ours != none && theirs != none && ours.id == theirs.id:
		return ports.ConflictMode, ours.mode + " and " + theirs.mode
	case base == none && ours != none && theirs != none:
		return ports.ConflictAddAdd, ""
	case base == none || ours == none && theirs == none:
		return ports.ConflictRename, ""
	case ours == none:
		return ports.ConflictDeleteModify, "deleted here, changed in what is landed"
	case theirs == none:
		return ports.ConflictDeleteModify, "changed here, deleted in what is landed"
	}
	return ports.ConflictContent, ""
}

// kindOfTold tells a conflict's kind by what git calls it; "" where the stages
// say all there is, or where it is none.
func kindOfTold(said string) string {
	name, ok := strings.CutPrefix(said, "CONFLICT (")
	switch {
	case !ok:
		return ""
	case strings.Contains(name, "submodule"):
		return ports.ConflictSubmodule
	case strings.HasPrefix(name, "file/directory"), strings.HasPrefix(name, "distinct"):
		return ports.ConflictMode
	case strings.Contains(name, "rename"), strings.Contains(name, "file location"):
		return ports.ConflictRename
	}
	return ""
}

// rank orders kinds: of two that are true of a path, the higher is told.
func rank(kind string) int {
	return slices.Index([]string{
		ports.ConflictContent, ports.ConflictAddAdd, ports.ConflictDeleteModify, ports.ConflictRename, ports.ConflictMode, ports.ConflictSubmodule,
	}, kind)
}
