package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// readTries is how often a file that changes while it is read is read again.
const readTries = 4

// A fileReader reads the files of a checkout as they are. It never follows a link
// and never waits for a pipe.
type fileReader struct {
	root   *os.Root
	format string // sha1 or sha256
}

// read calls use with a file's mode, its size and its bytes, and again from
// the start if the file changed meanwhile.
func (r fileReader) read(path string, link bool, use func(mode string, size int64, content io.Reader) error) error {
	var err error
	for range readTries {
		if link {
			err = r.readLink(path, use)
		} else {
			err = r.readFile(path, use)
		}
		if !errors.Is(err, errChanged) {
			return err
		}
	}
	return fmt.Errorf("%q cannot be kept: %w, %d times; end what writes to it", path, err, readTries)
}

func (r fileReader) readLink(path string, use func(string, int64, io.Reader) error) error {
	target, err := r.root.Readlink(path)
	if err != nil {
		return cannotRead(path, err)
	}
	return use(modeLink, int64(len(target)), strings.NewReader(target))
}

func (r fileReader) readFile(path string, use func(string, int64, io.Reader) error) error {
	f, err := r.root.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return cannotRead(path, err)
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return cannotRead(path, err)
	}
	if named, err := r.root.Lstat(path); err != nil || !os.SameFile(named, before) || !before.Mode().IsRegular() {
		return errChanged // it was replaced since it was listed, perhaps by a link or a pipe
	}
	mode := modeFile
	if before.Mode()&0o100 != 0 {
		mode = modeExec
	}
	counted := &countingReader{r: io.LimitReader(f, before.Size()+1)} // one more shows that it grew
	if err := use(mode, before.Size(), counted); err != nil {
		return err
	}
	after, err := f.Stat()
	switch {
	case counted.err != nil:
		return cannotRead(path, counted.err)
	case err != nil:
		return cannotRead(path, err)
	case counted.n != before.Size() || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()):
		return errChanged
	}
	return nil
}

// A countingReader tells how much was read and why it ended early.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// newBlobHash returns the hash that names a blob of size bytes.
func (r fileReader) newBlobHash(size int64) hash.Hash {
	h := newHash(r.format)
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// emptyBlob is the id of a blob without bytes.
func (r fileReader) emptyBlob() string { return hex.EncodeToString(r.newBlobHash(0).Sum(nil)) }

// identify returns the mode of a file and the id its bytes have as a blob.
func (r fileReader) identify(path string, link bool, buf []byte) (entry, error) {
	var e entry
	err := r.read(path, link, func(mode string, size int64, content io.Reader) error {
		h := r.newBlobHash(size)
		_, err := io.CopyBuffer(onlyWriter{h}, content, buf)
		e = entry{mode: mode, id: hex.EncodeToString(h.Sum(nil))}
		return err
	})
	return e, err
}

// onlyWriter hides a writer's ReadFrom, so that CopyBuffer uses its buffer.
type onlyWriter struct{ io.Writer }

// identifyAll fills in the mode and id of all files. Every one is read: the
// sizes and times an index holds are the agent's to forge.
func (r fileReader) identifyAll(ctx context.Context, files fileTree) error {
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var (
		entries = make([]entry, len(paths))
		workers = min(4, runtime.GOMAXPROCS(0))
		errs    = make([]error, workers)
		wg      sync.WaitGroup
	)
	for w := range workers {
		wg.Go(func() {
			buf := make([]byte, 256<<10)
			for i := w; i < len(paths) && errs[w] == nil; i += workers {
				if errs[w] = ctx.Err(); errs[w] == nil {
					entries[i], errs[w] = r.identify(paths[i], files[paths[i]].mode == modeLink, buf)
				}
			}
		})
	}
	wg.Wait()
	for i, p := range paths {
		files[p] = entries[i]
	}
	return errors.Join(errs...)
}
