package git

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// errChanged says that a file gave fewer or more bytes than its size said.
var errChanged = errors.New("it changed while it was read")

// An importStream writes what git fast-import reads. The first failed write is
// kept in err and all later ones are dropped, as with a bufio.Writer.
//
// It opens with "feature done": a stream that does not end with done, because
// AGL was killed or a file could not be read, makes git write no ref.
type importStream struct {
	w     *bufio.Writer
	marks int
}

func newImportStream(w io.Writer) *importStream {
	s := &importStream{w: bufio.NewWriterSize(w, 64<<10)}
	s.printf("feature done\n")
	return s
}

// printf drops the error: bufio.Writer keeps it for the flush in done.
func (s *importStream) printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

// blob writes size bytes of r as a blob, and returns its mark. If r does not
// hold exactly that many, the blob is filled up, so that the stream stays well
// formed, and the error is errChanged: nothing may refer to the mark.
func (s *importStream) blob(size int64, r io.Reader) (string, error) {
	s.marks++
	mark := fmt.Sprintf(":%d", s.marks)
	s.printf("blob\nmark %s\ndata %d\n", mark, size)
	n, err := io.Copy(s.w, io.LimitReader(r, size))
	if n < size {
		if err == nil {
			err = errChanged
		}
		for zero := make([]byte, 32<<10); n < size; {
			k, werr := s.w.Write(zero[:min(int64(len(zero)), size-n)])
			if n += int64(k); werr != nil {
				return "", werr
			}
		}
	}
	s.printf("\n")
	return mark, err
}

// commit begins a commit on ref. Its tree is that of from until put and remove
// change it; from is its first parent, merges are the others.
func (s *importStream) commit(ref, message string, when time.Time, from string, merges ...string) string {
	s.marks++
	mark := fmt.Sprintf(":%d", s.marks)
	s.printf("commit %s\nmark %s\ncommitter AGL <agl@localhost> %d +0000\ndata %d\n%s\nfrom %s\n",
		ref, mark, when.Unix(), len(message), message, from)
	for _, parent := range merges {
		s.printf("merge %s\n", parent)
	}
	return mark
}

// clear empties the tree of the commit begun last.
func (s *importStream) clear() { s.printf("deleteall\n") }

// put puts a blob, a mark or an object's id, at path.
func (s *importStream) put(mode, blob, path string) {
	s.printf("M %s %s %s\n", mode, blob, quotePath(path))
}

// remove removes the file or folder at path.
func (s *importStream) remove(path string) { s.printf("D %s\n", quotePath(path)) }

// tell makes git print the object id of a mark.
func (s *importStream) tell(mark string) { s.printf("get-mark %s\n", mark) }

// done ends the stream.
func (s *importStream) done() error {
	s.printf("done\n")
	return s.w.Flush()
}

// quotePath quotes a path as git's C-style unquoting reads it back: it may
// hold any byte but NUL.
func quotePath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
