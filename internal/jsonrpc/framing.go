package jsonrpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/agl/internal/jsonlines"
)

// A Framing says where a message begins and ends.
type Framing struct {
	reader func(io.Reader) Reader
	frame  func(doc []byte) []byte
}

// A Reader reads the messages of a stream, and gets over what is none. It is for
// one goroutine.
type Reader interface {
	// Next returns the next one, an object of JSON, valid until the next call. The
	// error is io.EOF at the end, or that of the stream.
	Next() ([]byte, error)
	Skipped() jsonlines.Skipped
}

// Lines frames a message as a line. One may have max bytes, longer ones are
// skipped; 0 for jsonlines.DefaultMax.
func Lines(max int) Framing {
	return Framing{
		reader: func(r io.Reader) Reader {
			lines := jsonlines.NewReader(r)
			lines.Max = max
			return lines
		},
		frame: func(doc []byte) []byte { return append(doc, '\n') },
	}
}

// Headers frames a message by headers, as the Language Server Protocol does:
// "Content-Length: N", perhaps others, an empty line, and N bytes. Lines before a
// Content-Length that are no headers are passed over, so that what else a
// program writes harms nothing. A message may have max bytes, longer ones are
// skipped; 0 for jsonlines.DefaultMax.
func Headers(max int) Framing {
	if max <= 0 {
		max = jsonlines.DefaultMax
	}
	return Framing{
		reader: func(r io.Reader) Reader { return &headers{src: bufio.NewReaderSize(r, 64<<10), max: max} },
		frame: func(doc []byte) []byte {
			return append([]byte(contentLength+": "+strconv.Itoa(len(doc))+"\r\n\r\n"), doc...)
		},
	}
}

// NewReader returns a Reader of the messages in r.
func (f Framing) NewReader(r io.Reader) Reader { return f.reader(r) }

const contentLength = "Content-Length"

type headers struct {
	src     *bufio.Reader
	max     int
	body    bytes.Buffer
	skipped jsonlines.Skipped
}

func (h *headers) Skipped() jsonlines.Skipped { return h.skipped }

func (h *headers) say(text []byte) {
	h.skipped.Said = string(bytes.ToValidUTF8(text[:min(len(text), 200)], nil))
}

func (h *headers) Next() ([]byte, error) {
	for {
		length, err := h.head()
		if err != nil {
			return nil, err
		}
		if length > int64(h.max) {
			begin, _ := h.src.Peek(int(min(length, 200)))
			h.skipped.Oversized++
			h.say(begin)
			if _, err := io.CopyN(io.Discard, h.src, length); err != nil {
				return nil, cut(err)
			}
			continue
		}
		if h.body.Cap() > 4<<20 && length < 64<<10 {
			h.body = bytes.Buffer{} // a large one was read
		}
		h.body.Reset()
		// It grows with what comes, not with what is said to come.
		if _, err := io.CopyN(&h.body, h.src, length); err != nil {
			return nil, cut(err)
		}
		doc := bytes.TrimSpace(h.body.Bytes())
		if !utf8.Valid(doc) {
			h.skipped.Repaired++
			doc = bytes.ToValidUTF8(doc, []byte(string(utf8.RuneError)))
		}
		if len(doc) == 0 || doc[0] != '{' || !json.Valid(doc) {
			h.skipped.Malformed++
			h.say(doc)
			continue
		}
		return doc, nil
	}
}

// cut is the error of a message that was cut off.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// head reads up to the empty line after a Content-Length, which it returns.
func (h *headers) head() (int64, error) {
	length := int64(-1)
	for {
		line, err := h.line()
		if err != nil {
			return 0, err
		}
		if len(line) == 0 {
			if length >= 0 {
				return length, nil
			}
			continue
		}
		if i := bytes.Index(line, []byte(contentLength+":")); i > 0 { // after something without an end
			h.skipped.Noise++
			h.say(line[:i])
			line = line[i:]
		}
		name, value, ok := strings.Cut(string(line), ":")
		switch n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); {
		case ok && strings.EqualFold(strings.TrimSpace(name), contentLength) && err == nil && n >= 0:
			length = n
		case ok && length >= 0, ok && strings.EqualFold(strings.TrimSpace(name), "Content-Type"):
		default:
			h.skipped.Noise++
			h.say(line)
		}
	}
}

// headSize is how long a line among headers may be. The rest of a longer one is
// taken for lines of its own: it is noise as well.
const headSize = 4 << 10

// line returns the next line without its end; of a long one, a piece.
func (h *headers) line() ([]byte, error) {
	var line []byte
	for len(line) < headSize {
		b, err := h.src.ReadByte()
		switch {
		case err == io.EOF && len(line) > 0:
			h.skipped.Noise++
			h.say(line)
			return nil, err
		case err != nil:
			return nil, err
		case b == '\n':
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		line = append(line, b)
	}
	return line, nil
}
