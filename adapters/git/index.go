package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An indexEntry is what AGL wants to know about a path in the index.
type indexEntry struct {
	path       []byte // valid until the next entry
	mode       uint32
	stat       []byte // how the file was when git last looked: ten numbers of 32 bits
	id         []byte // of the blob, in bytes
	stage      int
	assumed    bool // assume-unchanged: git does not look at the file
	skipped    bool // skip-worktree: git does not look at the file
	intentOnly bool
}

const gitlinkMode = 0o160000

var (
	errNoIndex    = errors.New("it is not a git index of version 2, 3 or 4")
	errSplitIndex = errors.New("the index is split or sparse")
)

// walkIndex calls visit for each entry of an index file, in order. oidLen is
// the length of an object id in bytes. It reads no extensions but refuses
// those without which the entries are not all.
func walkIndex(data []byte, oidLen int, visit func(indexEntry)) error {
	if len(data) < 12+oidLen || string(data[:4]) != "DIRC" {
		return errNoIndex
	}
	version := binary.BigEndian.Uint32(data[4:])
	if version < 2 || version > 4 {
		return errNoIndex
	}
	count := binary.BigEndian.Uint32(data[8:])
	body := data[:len(data)-oidLen]
	at := 12
	var path []byte
	for range count {
		start := at
		at += 40 + oidLen
		if at+2 > len(body) {
			return errNoIndex
		}
		e := indexEntry{mode: binary.BigEndian.Uint32(body[start+24:]), stat: body[start : start+40], id: body[start+40 : at]}
		flags := binary.BigEndian.Uint16(body[at:])
		at += 2
		e.assumed, e.stage = flags&0x8000 != 0, int(flags>>12&3)
		if flags&0x4000 != 0 {
			if version == 2 || at+2 > len(body) {
				return errNoIndex
			}
			more := binary.BigEndian.Uint16(body[at:])
			at += 2
			e.skipped, e.intentOnly = more&0x4000 != 0, more&0x2000 != 0
		}
		if version == 4 {
			strip, n := offsetVarint(body[at:])
			if n == 0 || strip > uint64(len(path)) {
				return errNoIndex
			}
			at += n
			path = path[:len(path)-int(strip)]
		} else {
			path = path[:0]
		}
		end := bytes.IndexByte(body[at:], 0)
		if end < 0 {
			return errNoIndex
		}
		path = append(path, body[at:at+end]...)
		at += end + 1
		if version < 4 { // padded with NULs to a multiple of eight
			at = start + (at-start+7)/8*8
		}
		e.path = path
		visit(e)
	}
	for at+8 <= len(body) {
		switch string(body[at : at+4]) {
		case "link", "sdir":
			return errSplitIndex
		}
		size := binary.BigEndian.Uint32(body[at+4:])
		if uint64(size) > uint64(len(body)-at-8) {
			return errNoIndex
		}
		at += 8 + int(size)
	}
	if at != len(body) {
		return errNoIndex
	}
	return nil
}

// offsetVarint decodes git's variable-length number, and says how many bytes
// it took; none if it is malformed.
func offsetVarint(data []byte) (value uint64, n int) {
	for n < len(data) && n < 9 {
		b := data[n]
		value += uint64(b & 127)
		n++
		if b < 128 {
			return value, n
		}
		value = (value + 1) << 7
	}
	return 0, 0
}

// An index is what AGL wants to know about a checkout's index.
type index struct {
	assumed    [][]byte // paths with the assume-unchanged bit
	skipped    [][]byte // paths with the skip-worktree bit
	unmerged   []string
	gitlinks   []string
	attributes []string // .gitattributes files
}

func (x *index) add(e indexEntry) {
	if e.assumed {
		x.assumed = append(x.assumed, slices.Clone(e.path))
	}
	if e.skipped {
		x.skipped = append(x.skipped, slices.Clone(e.path))
	}
	if e.stage != 0 && (len(x.unmerged) == 0 || x.unmerged[len(x.unmerged)-1] != string(e.path)) {
		x.unmerged = append(x.unmerged, string(e.path))
	}
	if e.mode == gitlinkMode {
		x.gitlinks = append(x.gitlinks, string(e.path))
	}
	if bytes.HasSuffix(e.path, []byte(".gitattributes")) && filepath.Base(string(e.path)) == ".gitattributes" {
		x.attributes = append(x.attributes, string(e.path))
	}
}

// indexFile is the file the index is in.
func (c *checkout) indexFile() string { return cmp.Or(c.index, filepath.Join(c.gitDir, "index")) }

// readIndex reads the checkout's index. Only one in a form that needs git to
// read costs a process.
func (c *checkout) readIndex(ctx context.Context) (*index, error) {
	data, err := readRegular(c.indexFile(), 4<<30)
	if missing(err) {
		return &index{}, nil
	}
	if err == nil {
		x := &index{}
		if walkIndex(data, c.repo.hexLen()/2, x.add) == nil {
			return x, nil
		}
	}
	out, err := c.run(ctx, call{read: true, args: []string{"ls-files", "-v", "--stage", "-z"}})
	if err != nil {
		return nil, err
	}
	x := &index{}
	return x, walkListing(out, x.add)
}

// walkListing calls visit for each line of ls-files -v --stage -z.
func walkListing(out []byte, visit func(indexEntry)) error {
	for line := range bytes.SplitSeq(out, []byte{0}) {
		if len(line) == 0 {
			continue
		}
		head, path, ok := bytes.Cut(line, []byte("\t"))
		fields := strings.Fields(string(head)) // "H 100644 <oid> 0"
		if !ok || len(fields) != 4 || len(fields[0]) != 1 {
			return errors.New("git ls-files wrote a line that cannot be read: " + strconv.Quote(string(line)))
		}
		mode, modeErr := strconv.ParseUint(fields[1], 8, 32)
		stage, stageErr := strconv.Atoi(fields[3])
		if err := errors.Join(modeErr, stageErr); err != nil {
			return err
		}
		tag := fields[0]
		visit(indexEntry{
			path: path, mode: uint32(mode), stage: stage,
			assumed: strings.ToLower(tag) == tag,
			skipped: strings.EqualFold(tag, "s"),
		})
	}
	return nil
}

// showAll clears the bits by which git would not look at files, so that no
// edit is hidden.
func (c *checkout) showAll(ctx context.Context, x *index) error {
	for _, bit := range []struct {
		flag  string
		paths [][]byte
	}{{"--no-assume-unchanged", x.assumed}, {"--no-skip-worktree", x.skipped}} {
		if len(bit.paths) == 0 {
			continue
		}
		stdin := append(bytes.Join(bit.paths, []byte{0}), 0)
		if _, err := c.run(ctx, call{args: []string{"update-index", "-z", bit.flag, "--stdin"}, stdin: bytes.NewReader(stdin)}); err != nil {
			return err
		}
	}
	return nil
}
