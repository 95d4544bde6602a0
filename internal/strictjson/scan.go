package strictjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// A cutting is the value of a json.RawMessage that was left out of a document.
type cutting struct {
	index      []int
	start, end int
}

// What is worth cutting out of a document.
const (
	largeDocument = 8 << 10
	largeValue    = 4 << 10
)

// cut returns data with null instead of the large values of json.RawMessage
// fields of s, which were checked to be valid JSON on the way: the library
// reads them at half the speed. What is left must be decoded as usual.
func (s *shape) cut(data []byte) (small []byte, cuts []cutting) {
	if s == nil || s.members == nil || len(data) < largeDocument {
		return data, nil
	}
	c := cursor{data: data}
	if c.peek() != '{' {
		return data, nil
	}
	from := 0
	for more := c.open(); more && c.peek() == '"'; more = c.next() {
		m := s.members[string(c.key())]
		start := c.pos
		if m.raw {
			scan := scanner{data: data, pos: start}
			if !scan.value(0) || scan.pos-start < largeValue || !utf8.Valid(data[start:scan.pos]) {
				c.skip()
				continue
			}
			c.pos = scan.pos
			small = append(append(small, data[from:start]...), "null"...)
			from = c.pos
			cuts = append(cuts, cutting{m.index, start, c.pos})
			continue
		}
		if c.skip(); c.pos == start {
			break
		}
	}
	if len(cuts) == 0 {
		return data, nil
	}
	return append(small, data[from:]...), cuts
}

// A scanner checks JSON. It gives up where it is in doubt: what it accepts is
// valid, but for UTF-8, which it does not look at.
type scanner struct {
	data []byte
	pos  int
}

const (
	maxDepth = 100
	maxKeys  = 16 // of an object: they are compared each with each
)

func (s *scanner) value(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch b := s.peek(); b {
	case '{':
		return s.object(depth)
	case '[':
		s.pos++
		if s.peek() == ']' {
			s.pos++
			return true
		}
		for s.value(depth + 1) {
			switch s.peek() {
			case ',':
				s.pos++
			case ']':
				s.pos++
				return true
			default:
				return false
			}
		}
		return false
	case '"':
		return s.string()
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

func (s *scanner) object(depth int) bool {
	s.pos++
	if s.peek() == '}' {
		s.pos++
		return true
	}
	var few [maxKeys][]byte
	for n := range maxKeys {
		s.peek()
		start := s.pos
		if !s.string() {
			return false
		}
		key := s.data[start:s.pos]
		for _, other := range few[:n] {
			if len(key) == len(other) && string(key) == string(other) {
				return false
			}
		}
		if bytes.IndexByte(key, '\\') >= 0 || s.peek() != ':' {
			return false
		}
		few[n] = key
		s.pos++
		if !s.value(depth + 1) {
			return false
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return true
		default:
			return false
		}
	}
	return false
}

// string checks a string eight bytes at a time.
func (s *scanner) string() bool {
	if s.pos >= len(s.data) || s.data[s.pos] != '"' {
		return false
	}
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for i := s.pos + 1; ; {
		for i+8 <= len(s.data) {
			x := binary.LittleEndian.Uint64(s.data[i:])
			quote, slash := x^(ones*'"'), x^(ones*'\\')
			// The high bit of every byte that is a quote, a backslash or a
			// control character; those above the first may be wrong.
			found := ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*0x20)&^x) & highs
			if found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
			i += 8
		}
		if i >= len(s.data) {
			return false
		}
		switch b := s.data[i]; {
		case b == '"':
			s.pos = i + 1
			return true
		case b == '\\':
			if i+1 >= len(s.data) {
				return false
			}
			switch s.data[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			default: // \u needs a closer look
				return false
			}
		case b < ' ':
			return false
		default:
			i++
		}
	}
}

func (s *scanner) number() bool {
	start := s.pos
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.at('.') {
		s.pos++
		if !s.digits() {
			return false
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		return s.digits()
	}
	return s.pos > start
}

func (s *scanner) at(b byte) bool { return s.pos < len(s.data) && s.data[s.pos] == b }

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) literal(word string) bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return false
	}
	s.pos += len(word)
	return true
}

func (s *scanner) peek() byte {
	c := cursor{s.data, s.pos}
	b := c.peek()
	s.pos = c.pos
	return b
}
