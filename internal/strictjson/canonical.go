package strictjson

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the canonical JSON of v. Its error is an *[Error] that says
// where v holds something that has none.
func Canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v, writing)
	if err != nil {
		return nil, writeError(err)
	}
	return canonicalize(text), nil
}

// AppendCanonical appends the canonical JSON of v to dst. On an error it
// returns dst as it was.
func AppendCanonical(dst []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v, writing)
	if err != nil {
		return dst, writeError(err)
	}
	return append(dst, canonicalize(text)...), nil
}

// Canonicalize returns the canonical form of a JSON text. It refuses what
// [Decode] refuses in any document.
func Canonicalize(raw []byte) ([]byte, error) {
	text, err := jsontext.AppendFormat(nil, raw)
	if err != nil {
		return nil, readError(err)
	}
	return canonicalize(text), nil
}

// canonicalize returns the valid and compact text src with members sorted and
// numbers in their one form: src itself if it is so already.
func canonicalize(src []byte) []byte {
	c := canonicalizer{src: src}
	c.value()
	if len(c.dst) == 0 {
		return src
	}
	return append(c.dst, src[c.from:]...)
}

// A canonicalizer copies src to dst as late as it can: what lies between from
// and pos was read and is not copied yet.
type canonicalizer struct {
	src, dst  []byte
	from, pos int
	members   []member // a stack: of the objects around pos
	scratch   []byte
}

// A member of an object: its key, with its first bytes as a number that sorts
// as they do, and its place in dst.
type member struct {
	prefix     uint64
	key        []byte
	start, end int
}

func (m *member) compare(other *member) int {
	if m.prefix != other.prefix {
		return cmp.Compare(m.prefix, other.prefix)
	}
	return bytes.Compare(m.key, other.key)
}

// prefix returns the first eight bytes of key, padded with zeros.
func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// at returns where in dst the byte at pos will be.
func (c *canonicalizer) at() int { return len(c.dst) + c.pos - c.from }

func (c *canonicalizer) flush() {
	if c.dst == nil {
		c.dst = make([]byte, 0, len(c.src)+16)
	}
	c.dst = append(c.dst, c.src[c.from:c.pos]...)
	c.from = c.pos
}

func (c *canonicalizer) value() {
	switch c.src[c.pos] {
	case '{':
		c.object()
	case '[':
		for c.pos++; c.src[c.pos] != ']'; {
			c.value()
			if c.src[c.pos] == ',' {
				c.pos++
			}
		}
		c.pos++
	case '"':
		c.pos = endOfString(c.src, c.pos)
	case 't', 'n':
		c.pos += len("true")
	case 'f':
		c.pos += len("false")
	default:
		c.number()
	}
}

func (c *canonicalizer) object() {
	if c.members == nil {
		c.members = make([]member, 0, 32)
	}
	base, sorted := len(c.members), true
	for c.pos++; c.src[c.pos] != '}'; {
		start, quoted := c.at(), c.pos
		c.pos = endOfString(c.src, c.pos)
		key := c.src[quoted+1 : c.pos-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key, _ = jsontext.AppendUnquote(nil, c.src[quoted:c.pos])
		}
		c.pos++ // colon
		c.value()
		m := member{prefix(key), key, start, c.at()}
		if n := len(c.members); sorted && n > base && c.members[n-1].compare(&m) > 0 {
			sorted = false
		}
		c.members = append(c.members, m)
		if c.src[c.pos] == ',' {
			c.pos++
		}
	}
	if !sorted {
		c.flush()
		c.sort(c.members[base:])
	}
	c.members = c.members[:base]
	c.pos++
}

// sort puts the members, which are all of dst from the first one's start on,
// into the order of their keys.
func (c *canonicalizer) sort(members []member) {
	start := members[0].start
	c.scratch = append(c.scratch[:0], c.dst[start:]...)
	slices.SortFunc(members, func(a, b member) int { return a.compare(&b) })
	out := c.dst[:start]
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, c.scratch[m.start-start:m.end-start]...)
	}
	c.dst = out
}

func (c *canonicalizer) number() {
	start, plain := c.pos, true
	for ; c.pos < len(c.src); c.pos++ {
		switch c.src[c.pos] {
		case ',', ']', '}':
		case '.', 'e', 'E':
			plain = false
			continue
		default:
			continue
		}
		break
	}
	literal := c.src[start:c.pos]
	if plain && string(literal) != "-0" {
		return
	}
	var buf [64]byte
	number := appendNumber(buf[:0], literal)
	if bytes.Equal(number, literal) {
		return
	}
	c.dst = append(c.dst, c.src[c.from:start]...)
	c.dst = append(c.dst, number...)
	c.from = c.pos
}

// endOfString returns the position after the string that starts at pos.
func endOfString(src []byte, pos int) int {
	for i := pos + 1; ; i++ {
		i += bytes.IndexByte(src[i:], '"')
		n := i
		for src[n-1] == '\\' {
			n--
		}
		if (i-n)%2 == 0 {
			return i + 1
		}
	}
}
