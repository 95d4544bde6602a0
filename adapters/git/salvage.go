package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/agl/ports"
)

// salvage keeps what is in the checkout and would be lost by putting it back
// to commit head, under refs/agl/salvage/<label>/<namespace>/<n>. It returns
// nil if that is nothing, and the existing salvage if the namespace's last one
// holds it all.
//
// What is kept: every file of head, of the index, or ignored by no rule of
// head, as its bytes are (no filter, no conversion); what only the index
// holds; commits that only this checkout leads to; and repositories within the
// checkout, which are moved out of it, last, when all else is on the disk.
// Files that head's rules ignore stay where they are, and so do submodules
// that head has. Modes beyond the executable bit, times and empty folders are
// not kept. If it fails, nothing was taken out of the checkout.
func (c *checkout) salvage(ctx context.Context, head, reason string) (*ports.Salvage, error) {
	op := fmt.Sprintf("salvage the checkout of %s/%s", c.label, c.namespace)
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, ports.Unavailable.Errorf(op, "%w", err)
	}
	defer root.Close()
	s, err := c.newScratch()
	if err != nil {
		return nil, ports.Unavailable.Errorf(op, "make a folder for the work: %w", err)
	}
	kept, err := (&salvager{checkout: c, scratch: s, files: fileReader{root: root, format: c.repo.format}, head: head}).keep(ctx, reason)
	if err = errors.Join(err, s.remove()); err != nil {
		return nil, c.repo.fault(op, err)
	}
	if kept == nil {
		return nil, nil
	}
	return c.repo.publicSalvage(c.label, kept), nil
}

// A salvager is one salvage of a checkout.
type salvager struct {
	checkout *checkout
	scratch  *scratch
	files    fileReader
	head     string

	headTree fileTree
	index    *staging
	found    *contents
	put      []string // paths whose file is not head's, sorted
	removed  []string // paths of head that have none, sorted
	staged   []stage
	strays   strays
	from     map[string]string // where in the checkout a nested thing is, if not at the path it is kept under
}

// A stage is what one stage of the index holds, where it is worth keeping.
type stage struct {
	n     int
	files fileTree
}

func (s *salvager) keep(ctx context.Context, reason string) (*salvageRecord, error) {
	for _, step := range []func(context.Context) error{s.look, s.compare, s.lookAtIndex, s.lookAtCommits} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.put)+len(s.removed)+len(s.found.nested)+len(s.staged)+len(s.strays.tips) == 0 {
		return nil, nil
	}
	if stays, err := s.stays(ctx); stays || err != nil {
		return nil, err
	}
	past, err := s.checkout.repo.salvages(ctx, s.checkout.label)
	if err != nil {
		return nil, err
	}
	last := 0
	for _, p := range past {
		last = max(last, p.n)
	}
	for _, p := range slices.Backward(past) {
		if p.namespace != s.checkout.namespace {
			continue
		}
		if same, err := s.covered(ctx, p); err != nil {
			return nil, err
		} else if same {
			return p, s.moveNested(p)
		}
		break
	}
	return s.record(ctx, last, reason)
}

// look finds what is in the checkout and reads all of it once.
func (s *salvager) look(ctx context.Context) (err error) {
	c := s.checkout
	if s.headTree, err = c.repo.listTree(ctx, s.head); err != nil {
		return err
	}
	if s.index, err = c.listIndex(ctx); err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	if s.found, err = c.scan(ctx, s.scratch, s.files.root, s.headTree, s.index); err != nil {
		return err
	}
	return s.files.identifyAll(ctx, s.found.files)
}

// compare tells which files differ from head's.
func (s *salvager) compare(ctx context.Context) error {
	set, err := s.checkout.readSettings(ctx)
	if err != nil {
		return err
	}
	files := s.found.files
	set.interpret(files, s.headTree)
	for p, e := range files {
		if s.headTree[p] != e {
			s.put = append(s.put, p)
		}
	}
	slices.Sort(s.put)
	converted, err := s.checkout.converted(ctx, s.scratch, s.files, set, s.head, s.headTree, files, s.put)
	if err != nil {
		return err
	}
	put := s.put[:0]
	for _, p := range s.put {
		same := converted[p]
		if !same {
			if same, err = s.inLFS(set, p); err != nil {
				return err
			}
		}
		if same {
			files[p] = s.headTree[p]
		} else {
			put = append(put, p)
		}
	}
	s.put = put
	for p, e := range s.headTree {
		if _, ok := files[p]; ok || e.mode == modeRepo {
			continue
		}
		if !s.index.skip[p] || s.index.stages[0][p] != e { // a sparse checkout left it out
			s.removed = append(s.removed, p)
		}
	}
	slices.Sort(s.removed)
	return nil
}

// lookAtIndex finds the stages of the index that hold what neither the files,
// nor head, nor the commit HEAD is at do.
func (s *salvager) lookAtIndex(ctx context.Context) error {
	if s.staged = s.stagesBeside(nil); len(s.staged) == 0 {
		return nil
	}
	if rev := s.checkout.headRev(); rev != "" {
		now, err := s.checkout.repo.listTree(ctx, rev)
		var exit *exitError
		if err != nil && !errors.As(err, &exit) {
			return err
		}
		s.staged = s.stagesBeside(now) // a HEAD without a commit has no tree
	}
	return s.dropMissing(ctx)
}

// stagesBeside returns the stages that hold something that is not empty, not
// in the files, not in head and not in now.
func (s *salvager) stagesBeside(now fileTree) []stage {
	var stages []stage
	empty := s.files.emptyBlob()
	for n, files := range s.index.stages {
		for p, e := range files {
			if e.id != empty && e != s.headTree[p] && e != s.found.files[p] && e != now[p] {
				stages = append(stages, stage{n: n, files: files})
				break
			}
		}
	}
	return stages
}

// dropMissing leaves out of the index what has no object: there is nothing to
// keep of it.
func (s *salvager) dropMissing(ctx context.Context) error {
	ids := s.stagedBlobs()
	if len(ids) == 0 {
		return nil
	}
	out, err := s.checkout.shared(ctx, call{
		read: true, stdin: strings.NewReader(strings.Join(ids, "\n") + "\n"),
		args: []string{"cat-file", "--batch-check=%(objecttype)"},
	})
	if err != nil {
		return err
	}
	types := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(types) != len(ids) {
		return fmt.Errorf("git cat-file answered %d of %d questions", len(types), len(ids))
	}
	missing := map[string]bool{}
	for i, kind := range types {
		missing[ids[i]] = kind != "blob"
	}
	for i := range s.staged {
		s.staged[i].files = maps.Clone(s.staged[i].files)
		maps.DeleteFunc(s.staged[i].files, func(_ string, e entry) bool { return missing[e.id] })
	}
	return nil
}

// stagedBlobs returns the blobs of the stages to be kept that head does not
// have, sorted.
func (s *salvager) stagedBlobs() []string {
	ids := map[string]bool{}
	for _, st := range s.staged {
		for p, e := range st.files {
			if e != s.headTree[p] && e.mode != modeRepo {
				ids[e.id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

func (s *salvager) lookAtCommits(ctx context.Context) (err error) {
	s.strays, err = s.checkout.strays(ctx, s.head)
	return err
}

// stays reports whether the files are those of the commit HEAD is at, and
// nothing else is to be kept: that commit is reachable without this checkout,
// or it would be a stray.
func (s *salvager) stays(ctx context.Context) (bool, error) {
	rev := s.checkout.headRev()
	if rev == "" || len(s.found.nested)+len(s.staged)+len(s.strays.tips) > 0 {
		return false, nil
	}
	now, err := s.checkout.repo.listTree(ctx, rev)
	var exit *exitError
	if errors.As(err, &exit) {
		return false, nil // a HEAD without a commit
	}
	if err != nil {
		return false, err
	}
	for _, p := range s.put {
		if now[p] != s.found.files[p] {
			return false, nil
		}
	}
	return !slices.ContainsFunc(s.removed, func(p string) bool { return now[p] != entry{} }), nil
}

// covered reports whether an earlier salvage of the same head holds all that
// is to be kept. Its stray commits need no comparing: its ref reaches them, so
// they are none now.
func (s *salvager) covered(ctx context.Context, past *salvageRecord) (bool, error) {
	if len(past.parents) == 0 || past.parents[0] != s.head || len(s.strays.tips) > 0 {
		return false, nil
	}
	for _, p := range s.found.nested {
		_, err := os.Lstat(s.checkout.repo.nestedPath(s.checkout.label, past.n, p))
		if err == nil || !slices.Contains(past.nested, p) {
			return false, nil // else it was killed between its ref and this move
		}
	}
	for _, st := range s.staged {
		i := slices.Index(past.stages, st.n)
		if i < 0 {
			return false, nil
		}
		files, err := s.checkout.repo.listTree(ctx, past.parents[1+i])
		if err != nil || !maps.Equal(files, st.files) {
			return false, err
		}
	}
	files, err := s.checkout.repo.listTree(ctx, past.commit)
	if err != nil {
		return false, err
	}
	for _, p := range s.put {
		if files[p] != s.found.files[p] {
			return false, nil
		}
	}
	return !slices.ContainsFunc(s.removed, func(p string) bool { return files[p] != entry{} }), nil
}

// record makes the salvage: what is in no pack yet, the commits and the ref,
// and then the moves.
func (s *salvager) record(ctx context.Context, last int, reason string) (*salvageRecord, error) {
	c := s.checkout
	if err := c.harden(ctx, s.strays, s.stagedBlobs()); err != nil {
		return nil, fmt.Errorf("keep what is staged and the commits no branch has: %w", err)
	}
	n, err := c.repo.claimSalvage(c.label, last)
	if err != nil {
		return nil, fmt.Errorf("take a number for the salvage: %w", err)
	}
	rec := &salvageRecord{
		n: n, namespace: c.namespace, ref: salvagePrefix(c.label) + c.namespace + "/" + strconv.Itoa(n),
		parents: []string{s.head}, reason: reason, made: time.Now().UTC().Truncate(time.Millisecond),
		paths: len(s.put) + len(s.removed), strays: s.strays.tips, nested: s.found.nested,
	}
	for _, st := range s.staged {
		rec.stages = append(rec.stages, st.n)
	}
	for _, p := range s.found.special {
		rec.notes = append(rec.notes, fmt.Sprintf("%q is a pipe, a socket or a device: it holds no bytes to keep", p))
	}
	if err := s.write(ctx, rec); err != nil {
		os.Remove(c.repo.salvageFolder(c.label, n)) // only if it is empty: the number was never given
		return nil, err
	}
	return rec, s.moveNested(rec)
}

// write feeds git fast-import: the blobs first, so that a file that cannot be
// read ends the stream before any commit; then the index, then the files.
func (s *salvager) write(ctx context.Context, rec *salvageRecord) error {
	in, w := io.Pipe()
	wrote := make(chan error, 1)
	go func() {
		err := s.stream(newImportStream(w), rec)
		w.CloseWithError(cmp.Or(err, io.EOF))
		wrote <- err
	}()
	out, err := s.checkout.shared(ctx, call{
		gitDir: s.scratch.gitDir, durable: true, long: true, stdin: in,
		env: configEnv( // one synced pack, no large file in memory, and any name that git's own tree can hold
			"fastimport.unpackLimit", "0", "core.bigFileThreshold", "8m", "pack.compression", "1",
			"core.protectNTFS", "false", "core.protectHFS", "false"),
		args: []string{"fast-import", "--quiet", "--date-format=raw", "--depth=0"},
	})
	in.CloseWithError(io.ErrClosedPipe) // git has ended: nothing reads what is still written
	werr := <-wrote
	if werr != nil && !errors.Is(werr, io.ErrClosedPipe) {
		return werr
	}
	if err != nil {
		return fmt.Errorf("write the salvage: %w", err)
	}
	ids := strings.Fields(string(out))
	if len(ids) != 1+len(rec.stages) {
		return fmt.Errorf("write the salvage: git fast-import answered %q", out)
	}
	rec.commit = ids[len(ids)-1]
	rec.parents = append(append(rec.parents, ids[:len(ids)-1]...), rec.strays...)
	return nil
}

func (s *salvager) stream(out *importStream, rec *salvageRecord) error {
	blobs := make(map[string]string, len(s.put))
	known := map[string]bool{}
	for _, e := range s.headTree {
		known[e.id] = true
	}
	for _, p := range s.put {
		e := s.found.files[p]
		if known[e.id] || blobs[e.id] != "" { // a file that was only moved
			continue
		}
		mark, err := s.blob(out, p, e)
		if err != nil {
			return errors.Join(err, out.done()) // without a commit: git ends in order and no ref is made
		}
		blobs[e.id] = mark
	}
	var merges []string
	for _, st := range s.staged {
		mark := out.commit(rec.ref, fmt.Sprintf("stage %d of the index\n", st.n), rec.made, s.head)
		out.clear()
		for _, p := range slices.Sorted(maps.Keys(st.files)) {
			out.put(st.files[p].mode, st.files[p].id, p)
		}
		out.tell(mark)
		merges = append(merges, mark)
	}
	mark := out.commit(rec.ref, rec.message(s.checkout.label), rec.made, s.head, append(merges, rec.strays...)...)
	for _, p := range s.removed {
		out.remove(p)
	}
	for _, p := range s.put {
		e := s.found.files[p]
		out.put(e.mode, cmp.Or(blobs[e.id], e.id), p)
	}
	out.tell(mark)
	return out.done()
}

// blob sends the file at p, which was e when it was looked at.
func (s *salvager) blob(out *importStream, p string, e entry) (mark string, err error) {
	err = s.files.read(p, e.mode == modeLink, func(_ string, size int64, content io.Reader) (err error) {
		h := s.files.newBlobHash(size)
		mark, err = out.blob(size, io.TeeReader(content, h))
		if err == nil && fmt.Sprintf("%x", h.Sum(nil)) != e.id {
			return errChanged
		}
		return err
	})
	return mark, err
}
