package git

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// asCommitted reports whether index and files of a checkout are for certain those
// of commit head, and nothing else is there. It is what git status finds out,
// without a process, by the same evidence: the times and sizes that the index
// holds. Wherever that is not the whole answer (ignored files, submodules, line
// endings, a commit whose tree this process has not seen) it is false, and git
// is to be asked.
func (c *checkout) asCommitted(head string) bool {
	tree := c.repo.found.treeOf(head)
	if tree == "" || c.index != "" {
		return false
	}
	info, err := os.Lstat(c.indexFile()) // before it is read: an earlier time means a closer look
	if err != nil {
		return false
	}
	entries, err := c.entries()
	if err != nil || indexTree(entries, 0, c.repo.newHash) != tree {
		return false
	}
	attributes := false
	for _, e := range entries {
		if e.stage != 0 || e.assumed || e.skipped || e.intentOnly || e.mode == gitlinkMode {
			return false
		}
		attributes = attributes || filepath.Base(e.path) == ".gitattributes"
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return false
	}
	defer root.Close()
	l := comparison{
		files: fileReader{root, c.repo.format}, dir: c.dir, written: info.ModTime(), converts: attributes || c.mayConvert(),
		entries: make(map[string]indexEntry, len(entries)), folders: map[string]bool{},
	}
	for _, e := range entries {
		l.entries[e.path] = e.indexEntry
		for dir := e.path; ; {
			end := strings.LastIndexByte(dir, '/')
			if end < 0 || l.folders[dir[:end]] {
				break
			}
			dir = dir[:end]
			l.folders[dir] = true
		}
	}
	return l.folder("") && l.found == len(entries)
}

// learnTree remembers the tree of commit head, at which the index stands because
// git has just been told to reset it.
func (c *checkout) learnTree(head string) {
	if c.repo.found.treeOf(head) != "" {
		return
	}
	if entries, err := c.entries(); err == nil {
		c.repo.found.commit(head, indexTree(entries, 0, c.repo.newHash))
	}
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

// A pathEntry is an entry of an index with a path that stays valid.
type pathEntry struct {
	path string
	indexEntry
}

// indexTree returns the id of the tree that git would write of entries, which
// are in the order of an index and in one folder, whose name takes up the first
// skip bytes of their paths. What the index says of its trees is not looked at.
func indexTree(entries []pathEntry, skip int, newHash func() hash.Hash) string {
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
		id, _ := hex.DecodeString(indexTree(entries[:n], len(folder), newHash))
		tree = append(append(append(append(tree, "40000 "...), name[:end]...), 0), id...)
		entries = entries[n:]
	}
	h := newHash()
	h.Write(append(strconv.AppendInt([]byte("tree "), int64(len(tree)), 10), 0))
	h.Write(tree)
	return hex.EncodeToString(h.Sum(nil))
}

// mayConvert reports whether configuration, or attributes outside the checkout,
// may make git change a file's bytes on the way to a commit.
func (c *checkout) mayConvert() bool {
	r := c.repo
	for _, path := range []string{
		filepath.Join(r.common, "info", "attributes"), filepath.Join(r.userConfig(), "attributes"), "/etc/gitattributes",
	} {
		if _, err := os.Lstat(path); !missing(err) {
			return true
		}
	}
	for _, path := range r.configFiles(c.gitDir) {
		data, err := readLinked(path, configLimit)
		if missing(err) || path == os.DevNull {
			continue
		}
		known := r.parsed.known(sha256.Sum256(data))
		if err != nil || known == nil || len(known.includes) > 0 || known.all["core.attributesfile"] != "" {
			return true
		}
		if value, set := known.all["core.autocrlf"]; set && value != "false" {
			return true
		}
	}
	return false
}

// A comparison compares the files of a checkout with its index.
type comparison struct {
	files    fileReader
	dir      string
	entries  map[string]indexEntry
	folders  map[string]bool // those with entries in them
	written  time.Time       // when the index was
	converts bool            // what a file holds may not be what is committed of it
	found    int             // entries whose files are as they were
	buf      []byte
}

// folder reports whether a folder, and all that is in it, holds entries and no
// more, each as it was.
func (l *comparison) folder(name string) bool {
	list, err := os.ReadDir(filepath.Join(l.dir, name))
	if err != nil {
		return false
	}
	for _, e := range list {
		p := e.Name()
		switch {
		case name != "":
			p = name + "/" + p
		case p == ".git":
			continue
		}
		if e.IsDir() {
			if !l.folders[p] || !l.folder(p) {
				return false
			}
			continue
		}
		entry, known := l.entries[p]
		if !known {
			return false
		}
		if info, err := e.Info(); err != nil || !l.same(p, entry, info) {
			return false
		}
		l.found++
	}
	return true
}

// clockTick is the longest time for which the file system's clock stands still.
const clockTick = 10 * time.Millisecond

// same reports whether a file is as it was when git looked at it. As to git, the
// times alone say nothing of a file that was changed while the index was being
// written, so such a one is read. Git calls it changed if its bytes are not what
// would be committed, which only git knows where anything converts them.
func (l *comparison) same(p string, e indexEntry, info fs.FileInfo) bool {
	if !sameStat(e, info) {
		return false
	}
	switch changed := info.ModTime(); {
	case changed.Unix() < l.written.Unix():
		return true
	case l.converts:
		return false
	case changed.Before(l.written.Add(-clockTick)):
		return true
	}
	if l.buf == nil {
		l.buf = make([]byte, 32<<10)
	}
	is, err := l.files.identify(p, info.Mode().Type() == fs.ModeSymlink, l.buf)
	return err == nil && is.id == hex.EncodeToString(e.id)
}

// sameStat reports whether a file's size, times, kind, owner and number are
// those that the index holds.
func sameStat(e indexEntry, info fs.FileInfo) bool {
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	const device, mode = 4, 6 // the first says nothing, the second has a form of its own
	for i, n := range [10]int64{
		int64(is.Ctim.Sec), int64(is.Ctim.Nsec), int64(is.Mtim.Sec), int64(is.Mtim.Nsec),
		device: 0, 5: int64(is.Ino), mode: 0, 7: int64(is.Uid), int64(is.Gid), is.Size,
	} {
		if i != device && i != mode && binary.BigEndian.Uint32(e.stat[4*i:]) != uint32(n) {
			return false
		}
	}
	switch strconv.FormatUint(uint64(e.mode), 8) {
	case modeLink:
		return info.Mode().Type() == fs.ModeSymlink
	case modeFile:
		return info.Mode().IsRegular() && info.Mode()&0o100 == 0
	case modeExec:
		return info.Mode().IsRegular() && info.Mode()&0o100 != 0
	}
	return false
}
