package git

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// asCommitted reports whether index and files of a checkout are for certain those
// of commit head, and nothing else is there. It is what git status finds out,
// without a process, by the same evidence: the times and sizes that the index
// holds. Wherever that is not the whole answer (ignored files, submodules, line
// endings, a commit whose tree this process has not seen) it is false, and git
// is to be asked. It returns what the index holds, too.
func (c *checkout) asCommitted(head string) ([]pathEntry, bool) {
	tree := c.repo.found.treeOf(head)
	if tree == "" || c.index != "" {
		return nil, false
	}
	info, err := os.Lstat(c.indexFile()) // before it is read: an earlier time means a closer look
	if err != nil {
		return nil, false
	}
	entries, err := c.entries()
	if err != nil || c.repo.indexTree(entries) != tree {
		return nil, false
	}
	attributes := false
	for _, e := range entries {
		if e.stage != 0 || e.assumed || e.skipped || e.intentOnly || e.mode == gitlinkMode {
			return nil, false
		}
		attributes = attributes || filepath.Base(e.path) == ".gitattributes"
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	l := comparison{
		files: fileReader{root, c.repo.format}, dir: c.dir, written: info.ModTime(), converts: attributes || c.mayConvert(),
		entries: make(map[string]indexEntry, len(entries)), folders: map[string]bool{},
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)-1),
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
	l.folder("")
	l.walks.Wait()
	return entries, !l.differs.Load() && l.found.Load() == int64(len(entries))
}

// learnTree remembers the tree of commit head, at which the index stands because
// git has just been told to reset it.
func (c *checkout) learnTree(head string) {
	if c.repo.found.treeOf(head) != "" {
		return
	}
	if entries, err := c.entries(); err == nil {
		c.repo.found.commit(head, c.repo.indexTree(entries))
	}
}

// indexTree returns the id of the tree that git would write of entries, which
// are in the order of an index. What the index says of its trees is not looked at.
func (r *Repo) indexTree(entries []pathEntry) string {
	return hex.EncodeToString(r.eachTree(entries, 0, func([]byte) {}))
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

// A comparison compares the files of a checkout with its index, several folders
// at once.
type comparison struct {
	files    fileReader
	dir      string
	entries  map[string]indexEntry
	folders  map[string]bool // those with entries in them
	written  time.Time       // when the index was
	converts bool            // what a file holds may not be what is committed of it

	slots   chan struct{} // held by the walks that go on beside the first
	walks   sync.WaitGroup
	found   atomic.Int64 // entries whose files are as they were
	differs atomic.Bool
}

// folder looks at a folder and all that is in it: it is to hold entries and no
// more, each as it was.
func (l *comparison) folder(name string) {
	list, err := os.ReadDir(filepath.Join(l.dir, name))
	if err != nil {
		l.differs.Store(true)
	}
	for _, e := range list {
		if l.differs.Load() {
			return
		}
		p := e.Name()
		switch {
		case name != "":
			p = name + "/" + p
		case p == ".git":
			continue
		}
		switch entry, known := l.entries[p]; {
		case e.IsDir() && l.folders[p]:
			l.enter(p)
		case !e.IsDir() && known && l.same(p, entry, e):
			l.found.Add(1)
		default:
			l.differs.Store(true)
		}
	}
}

// enter looks at a folder in a goroutine of its own, if a core is free for it.
func (l *comparison) enter(name string) {
	select {
	case l.slots <- struct{}{}:
		l.walks.Go(func() {
			l.folder(name)
			<-l.slots
		})
	default:
		l.folder(name)
	}
}

// clockTick is the longest time for which the file system's clock stands still.
const clockTick = 10 * time.Millisecond

// same reports whether a file is as it was when git looked at it. As to git, the
// times alone say nothing of a file that was changed while the index was being
// written, so such a one is read. Git calls it changed if its bytes are not what
// would be committed, which only git knows where anything converts them.
func (l *comparison) same(p string, e indexEntry, is fs.DirEntry) bool {
	info, err := is.Info()
	if err != nil || !sameStat(e, info) {
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
	file, err := l.files.identify(p, info.Mode().Type() == fs.ModeSymlink, make([]byte, 32<<10))
	return err == nil && file.id == hex.EncodeToString(e.id)
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
