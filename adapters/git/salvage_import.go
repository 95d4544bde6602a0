package git

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

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
	if len(ids) != 1+len(rec.sides) {
		return fmt.Errorf("write the salvage: git fast-import answered %q", out)
	}
	rec.commit = ids[len(ids)-1]
	rec.parents = append(append(rec.parents, ids[:len(ids)-1]...), rec.strays...)
	return nil
}

func (s *salvager) stream(out *importStream, rec *salvageRecord) error {
	blobs := map[string]string{} // marks by id
	for _, e := range s.headTree {
		blobs[e.id] = e.id // a file that was only moved
	}
	send := func(from fileReader, files fileTree, paths []string) error {
		for _, p := range paths {
			e := files[p]
			if blobs[e.id] != "" {
				continue
			}
			mark, err := from.send(out, p, e)
			if err != nil {
				return err
			}
			blobs[e.id] = mark
		}
		return nil
	}
	err := send(s.files, s.found.files, s.put)
	for _, side := range s.sides {
		if err == nil && !side.stage {
			err = send(s.admin, side.files, slices.Sorted(maps.Keys(side.files)))
		}
	}
	if err != nil {
		return errors.Join(err, out.done()) // without a commit: git ends in order and no ref is made
	}
	var merges []string
	for _, side := range s.sides {
		mark := out.commit(rec.ref, side.name+"\n", rec.made, s.head)
		out.clear()
		for _, p := range slices.Sorted(maps.Keys(side.files)) {
			e := side.files[p]
			out.put(e.mode, cmp.Or(blobs[e.id], e.id), p)
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
		out.put(e.mode, blobs[e.id], p)
	}
	out.tell(mark)
	return out.done()
}

// send sends the file at p, which was e when it was looked at, as a blob.
func (r fileReader) send(out *importStream, p string, e entry) (mark string, err error) {
	err = r.read(p, e.mode == modeLink, func(_ string, size int64, content io.Reader) (err error) {
		h := r.newBlobHash(size)
		mark, err = out.blob(size, io.TeeReader(content, h))
		if err == nil && hex.EncodeToString(h.Sum(nil)) != e.id {
			return errChanged
		}
		return err
	})
	return mark, err
}
