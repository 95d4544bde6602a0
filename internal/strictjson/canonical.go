package strictjson

import (
	"bytes"
	"slices"
	"strconv"

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
	if text[0] == '"' { // as most values are, and the longest
		return text, nil
	}
	c := canonicalizer{src: text, dst: make([]byte, 0, len(text)+16)}
	c.value()
	return c.dst, nil
}

// A canonicalizer moves valid and compact text from src to dst. The library's
// own options would sort keys by UTF-16 and pass fractions through a float.
type canonicalizer struct {
	src, dst []byte
	members  []member // a stack: of the objects around src
	scratch  []byte
}

// A member of an object: its key, and its place in dst.
type member struct {
	key        []byte
	start, end int
}

func byKey(a, b member) int { return bytes.Compare(a.key, b.key) }

func (c *canonicalizer) move(n int) {
	c.dst = append(c.dst, c.src[:n]...)
	c.src = c.src[n:]
}

func (c *canonicalizer) value() {
	switch c.src[0] {
	case '{':
		c.object()
	case '[':
		for c.move(1); c.src[0] != ']'; {
			c.value()
			if c.src[0] == ',' {
				c.move(1)
			}
		}
		c.move(1)
	case '"':
		c.move(stringLen(c.src))
	case 't', 'n':
		c.move(len("true"))
	case 'f':
		c.move(len("false"))
	default:
		n := bytes.IndexAny(c.src, ",]}")
		if n < 0 {
			n = len(c.src)
		}
		c.dst = appendNumber(c.dst, c.src[:n])
		c.src = c.src[n:]
	}
}

func (c *canonicalizer) object() {
	if c.members == nil {
		c.members = make([]member, 0, 16)
	}
	base := len(c.members)
	for c.move(1); c.src[0] != '}'; {
		start, n := len(c.dst), stringLen(c.src)
		key := c.src[1 : n-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key, _ = jsontext.AppendUnquote(nil, c.src[:n])
		}
		c.move(n + len(":"))
		c.value()
		c.members = append(c.members, member{key, start, len(c.dst)})
		if c.src[0] == ',' {
			c.move(1)
		}
	}
	if members := c.members[base:]; !slices.IsSortedFunc(members, byKey) {
		c.sort(members)
	}
	c.members = c.members[:base]
	c.move(1)
}

// sort puts the members, which are all of dst from the first one's start on,
// into the order of their keys.
func (c *canonicalizer) sort(members []member) {
	start := members[0].start
	c.scratch = append(c.scratch[:0], c.dst[start:]...)
	c.dst = c.dst[:start]
	slices.SortFunc(members, byKey)
	for i, m := range members {
		if i > 0 {
			c.dst = append(c.dst, ',')
		}
		c.dst = append(c.dst, c.scratch[m.start-start:m.end-start]...)
	}
}

// stringLen returns the length of the string that src begins with, in quotes.
func stringLen(src []byte) int {
	for i := 1; ; i++ {
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

// appendNumber appends a JSON number in its canonical form: an integer as it
// is, anything else as ECMAScript writes it, from its decimal digits. An
// exponent no number has is left alone.
func appendNumber(dst, literal []byte) []byte {
	if !bytes.ContainsAny(literal, ".eE") && string(literal) != "-0" {
		return append(dst, literal...)
	}
	mantissa, exponent := literal, 0
	if i := bytes.IndexAny(literal, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(string(literal[i+1:])); err != nil || exponent > 1<<30 || exponent < -1<<30 {
			exponent = 0
			if bytes.ContainsAny(literal[:i], "123456789") {
				return append(dst, literal...)
			}
		}
		mantissa = literal[:i]
	}
	negative := mantissa[0] == '-'
	if negative {
		mantissa = mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})

	// The value is 0.DIGITS × 10^point.
	digits := append(append(make([]byte, 0, 32), whole...), fraction...)
	point := len(whole) + exponent
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
		point--
	}
	digits = bytes.TrimRight(digits, "0")
	if len(digits) == 0 {
		return append(dst, '0')
	}
	if negative {
		dst = append(dst, '-')
	}
	const zeros = "000000000000000000000"
	switch n := len(digits); {
	case n <= point && point <= 21:
		dst = append(append(dst, digits...), zeros[:point-n]...)
	case 0 < point && point <= 21:
		dst = append(dst, digits[:point]...)
		dst = append(append(dst, '.'), digits[point:]...)
	case -6 < point && point <= 0:
		dst = append(append(append(dst, "0."...), zeros[:-point]...), digits...)
	default:
		dst = append(dst, digits[0])
		if n > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'e')
		if point > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, int64(point-1), 10)
	}
	return dst
}
