package strictjson

import "bytes"

// A cursor walks a document faster than a tokenizer: it trusts that the
// document is valid and never reads outside it if it is not.
type cursor struct {
	data []byte
	pos  int
}

// peek returns the first byte of what comes next, or 0 at the end.
func (c *cursor) peek() byte {
	for ; c.pos < len(c.data); c.pos++ {
		switch b := c.data[c.pos]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

// open enters the object or the list at the cursor, and reports whether
// anything is in it.
func (c *cursor) open() bool {
	c.pos++
	return c.more()
}

// next goes on to the next member or element, and reports whether there is one.
func (c *cursor) next() bool {
	if c.peek() == ',' {
		c.pos++
	}
	return c.more()
}

func (c *cursor) more() bool {
	switch c.peek() {
	case 0:
		return false
	case '}', ']':
		c.pos++
		return false
	}
	return true
}

// key returns the key at the cursor, as it stands between its quotes, and goes
// on to its value.
func (c *cursor) key() []byte {
	c.peek()
	start := c.pos
	c.skipString()
	quoted := c.data[start:c.pos]
	if c.peek() == ':' {
		c.pos++
	}
	c.peek()
	if len(quoted) < 2 {
		return nil
	}
	return quoted[1 : len(quoted)-1]
}

// skip goes past the value at the cursor.
func (c *cursor) skip() {
	depth := 0
	for c.peek() != 0 {
		switch c.data[c.pos] {
		case '"':
			c.skipString()
		case '{', '[':
			depth++
			c.pos++
		case '}', ']':
			depth--
			c.pos++
		case ',', ':':
			if depth == 0 {
				return
			}
			c.pos++
		default:
			c.skipWord()
		}
		if depth <= 0 {
			return
		}
	}
}

func (c *cursor) skipString() {
	for c.pos++; c.pos < len(c.data); {
		n := bytes.IndexByte(c.data[c.pos:], '"')
		if n < 0 {
			c.pos = len(c.data)
			return
		}
		end := c.pos + n
		slashes := 0
		for end-slashes > c.pos && c.data[end-slashes-1] == '\\' {
			slashes++
		}
		c.pos = end + 1
		if slashes%2 == 0 {
			return
		}
	}
}

// skipWord goes past a number or a literal.
func (c *cursor) skipWord() {
	for c.pos++; c.pos < len(c.data); c.pos++ {
		switch c.data[c.pos] {
		case ',', ':', '{', '}', '[', ']', '"', ' ', '\t', '\n', '\r':
			return
		}
	}
}
