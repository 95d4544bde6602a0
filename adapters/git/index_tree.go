package git

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// A pathEntry is an entry of an index with a path that stays valid.
type pathEntry struct {
	path string
	indexEntry
}

// entries returns all that the index holds.
func (c *checkout) entries() ([]pathEntry, error) {
	data, err := readRegular(c.indexFile(), 4<<30)
	if err != nil {
		return nil, err
	}
	var entries []pathEntry
	err = walkIndex(data, c.repo.hexLen()/2, func(e indexEntry) { entries = append(entries, pathEntry{string(e.path), e}) })
	return entries, err
}

// eachTree calls visit with the id of each tree that git would write of entries,
// a folder's before that of what it is in, and returns the last. All entries are
// in one folder, whose name takes up the first skip bytes of their paths.
func (r *Repo) eachTree(entries []pathEntry, skip int, visit func(id []byte)) []byte {
	var tree []byte
	for len(entries) > 0 {
		name := entries[0].path[skip:]
		end := strings.IndexByte(name, '/')
		if end < 0 {
			tree = strconv.AppendUint(tree, uint64(entries[0].mode), 8)
			tree = append(append(append(append(tree, ' '), name...), 0), entries[0].id...)
			entries = entries[1:]
			continue
		}
		folder, n := entries[0].path[:skip+end+1], 1
		for n < len(entries) && strings.HasPrefix(entries[n].path, folder) {
			n++
		}
		id := r.eachTree(entries[:n], len(folder), visit)
		tree = append(append(append(append(tree, "40000 "...), name[:end]...), 0), id...)
		entries = entries[n:]
	}
	h := r.newHash()
	h.Write(append(strconv.AppendInt([]byte("tree "), int64(len(tree)), 10), 0))
	h.Write(tree)
	id := h.Sum(nil)
	visit(id)
	return id
}

// objectsBeside returns the ids of the blobs and trees of an index that another
// has not, and the tree of it.
func (r *Repo) objectsBeside(other, entries []pathEntry) (ids []string, tree string) {
	known := make(map[string]bool, len(other))
	for _, e := range other {
		known[string(e.id)] = true
	}
	r.eachTree(other, 0, func(id []byte) { known[string(id)] = true })
	add := func(id []byte) {
		if !known[string(id)] {
			known[string(id)] = true
			ids = append(ids, hex.EncodeToString(id))
		}
	}
	for _, e := range entries {
		add(e.id)
	}
	root := r.eachTree(entries, 0, add)
	return ids, hex.EncodeToString(root)
}
