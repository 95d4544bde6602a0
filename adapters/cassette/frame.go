package cassette

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Framing says how messages follow one another on a channel.
type Framing string

// The framings. A message is JSON.
const (
	Lines         Framing = "lines"          // one a line
	ContentLength Framing = "content-length" // each after a header that has its length, as the Language Server Protocol has it
)

// maxMessage bounds a message.
const maxMessage = 64 << 20

var errTooLong = errors.New("a message is longer than 64 MiB")

// A frame is a message, or bytes that are none.
type frame struct {
	raw     []byte // as it came
	message []byte // the JSON in it, nil if there is none
}

// A frameReader reads frames, and leaves out no byte.
type frameReader struct {
	framing Framing
	src     *bufio.Reader
}

func newFrameReader(framing Framing, src io.Reader) *frameReader {
	return &frameReader{framing: framing, src: bufio.NewReaderSize(src, 64<<10)}
}

// next returns the next frame. With an error, its bytes are what came before.
func (r *frameReader) next() (frame, error) {
	line, err := r.line()
	if r.framing == Lines {
		f := frame{raw: line}
		if doc := bytes.TrimSpace(line); err == nil && json.Valid(doc) {
			f.message = doc
		}
		return f, err
	}
	length, ok := contentLength(line)
	if !ok || err != nil {
		return frame{raw: line}, err
	}
	raw := line
	for {
		line, err := r.line()
		raw = append(raw, line...)
		if n, ok := contentLength(line); ok {
			length = n
		}
		if err != nil {
			return frame{raw: raw}, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	if length > maxMessage {
		return frame{raw: raw}, errTooLong
	}
	body := make([]byte, length)
	n, err := io.ReadFull(r.src, body)
	raw = append(raw, body[:n]...)
	if err != nil {
		return frame{raw: raw}, io.EOF
	}
	f := frame{raw: raw}
	if json.Valid(body) {
		f.message = body
	}
	return f, nil
}

// line returns the next line with its end.
func (r *frameReader) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := r.src.ReadSlice('\n')
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxMessage {
			return line, errTooLong
		}
	}
}

// contentLength reads a header's line.
func contentLength(line []byte) (int, bool) {
	name, value, _ := strings.Cut(string(line), ":")
	if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(value))
	return n, err == nil && n >= 0
}

// framed is a message as it is written.
func (f Framing) framed(message []byte) []byte {
	if f == ContentLength {
		return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(message)), message...)
	}
	return append(bytes.Clone(message), '\n')
}
