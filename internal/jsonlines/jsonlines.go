// Package jsonlines reads what a program writes on a channel of JSON objects,
// one a line, and gets over everything else that is written there: banners,
// warnings, torn and oversized lines.
package jsonlines

import (
	"bytes"
	"io"
	"unicode/utf8"

	"example.com/agl/internal/strictjson"
)

// DefaultMax is how many bytes a line may have if Reader.Max is 0: 128 MiB.
const DefaultMax = 128 << 20

const (
	firstSize = 65 << 10 // of a buffer; it doubles, and has room for a line of a power of two and its end
	keepSize  = 4 << 20  // a larger buffer is given back once its line was read
	saidSize  = 200      // of a skipped line, kept to be shown
)

// A Reader reads the objects of a stream. Lines end in LF or CRLF; several
// objects may stand on one, and a byte order mark is passed over. Bytes that
// are not UTF-8 become U+FFFD. It is for one goroutine.
type Reader struct {
	// Max is how many bytes a line may have, its end aside; 0 for DefaultMax.
	// A longer one is skipped, whole.
	Max int

	src        io.Reader
	buf        []byte
	start, end int    // what was read and not yet taken
	rest       []byte // of the line whose objects are being given
	err        error  // of src, given once all before it was
	skipped    Skipped
}

// Skipped counts what a Reader got over.
type Skipped struct {
	Noise     int    // lines that hold no object, blank ones aside
	Malformed int    // objects that are not whole, or not JSON
	Oversized int    // lines that are longer than may be
	Repaired  int    // lines with bytes that were not UTF-8; they were read
	Said      string // the beginning of the last line that was not read, 200 bytes of it
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// Skipped returns what was got over so far.
func (r *Reader) Skipped() Skipped { return r.skipped }

// Next returns the next object, which is JSON by its grammar and valid until
// the next call. The error is io.EOF at the end, or what src gave.
func (r *Reader) Next() ([]byte, error) {
	for {
		if line := bytes.TrimSpace(r.rest); len(line) > 0 {
			if value := r.object(line); value != nil {
				return value, nil
			}
			continue
		}
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		r.rest = bytes.TrimPrefix(line, []byte("\ufeff"))
		if !utf8.Valid(r.rest) {
			r.skipped.Repaired++
			r.rest = bytes.ToValidUTF8(r.rest, []byte(string(utf8.RuneError)))
		}
	}
}

// object takes an object from the beginning of the line, or nil and the whole
// line if there is none.
func (r *Reader) object(line []byte) []byte {
	r.rest = nil
	if line[0] != '{' {
		r.skipped.Noise++
		r.say(line)
		return nil
	}
	value, rest, ok := strictjson.Cut(line)
	if !ok {
		r.skipped.Malformed++
		r.say(line)
		return nil
	}
	r.rest = rest
	return value
}

func (r *Reader) say(line []byte) {
	r.skipped.Said = string(bytes.ToValidUTF8(line[:min(len(line), saidSize)], nil))
}

// line returns the next line that is not too long, without its end.
func (r *Reader) line() ([]byte, error) {
	if cap(r.buf) > keepSize && r.end-r.start <= firstSize {
		r.move(firstSize)
	}
	looked, over := r.start, false // up to where no line's end is; whether the line is too long
	for {
		if i := bytes.IndexByte(r.buf[looked:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : looked+i]
			r.start = looked + i + 1
			if line, over = r.judge(line, over); !over {
				return line, nil
			}
			looked, over = r.start, false
			continue
		}
		if r.err != nil {
			line := r.buf[r.start:r.end]
			r.start = r.end
			if line, over = r.judge(line, over); !over && len(line) > 0 {
				return line, nil
			}
			return nil, r.err
		}
		if r.end-r.start > r.max()+1 { // one more than a line and its CR
			if !over {
				r.say(r.buf[r.start:r.end])
			}
			over, r.start = true, r.end
		}
		r.fill()
		looked = r.end
		r.read()
	}
}

// judge says whether a line, of which the beginning may have been dropped, is
// too long.
func (r *Reader) judge(line []byte, over bool) ([]byte, bool) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if !over && len(line) > r.max() {
		r.say(line)
		over = true
	}
	if over {
		r.skipped.Oversized++
	}
	return line, over
}

func (r *Reader) max() int {
	if r.Max <= 0 {
		return DefaultMax
	}
	return r.Max
}

// fill makes room to read into: it moves what is there to the front, and
// doubles the buffer if that is full, so that while a line is read no more than
// three times of it are held.
func (r *Reader) fill() {
	switch {
	case r.start == r.end:
		r.start, r.end = 0, 0
		if r.buf == nil {
			r.move(firstSize)
		}
	case r.end < len(r.buf):
	case r.start > 0:
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	default:
		r.move(2 * len(r.buf))
	}
}

// move moves what is there to a buffer of another size.
func (r *Reader) move(size int) {
	buf := make([]byte, max(firstSize, size))
	r.end = copy(buf, r.buf[r.start:r.end])
	r.buf, r.start = buf, 0
}

// read reads once. The buffer has room.
func (r *Reader) read() {
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	r.err = err
}
