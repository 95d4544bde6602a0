package proc

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// TailSize is how much a Tail keeps if its Max is 0: 64 KiB.
const TailSize = 64 << 10

// A Tail is a writer that keeps the end of what is written to it. Its zero
// value is ready to use, also by several goroutines.
type Tail struct {
	Max int // bytes kept; 0 for TailSize

	mu  sync.Mutex
	buf []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, limit := len(p), t.limit()
	if len(p) > limit {
		p = p[len(p)-limit:]
	}
	// Letting the buffer grow to twice the limit makes the moves few.
	if len(t.buf)+len(p) > 2*limit {
		t.buf = t.buf[:copy(t.buf, t.buf[max(0, len(t.buf)-limit):])]
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// String returns the last Max bytes, or a few less: it begins at a rune's
// boundary and is valid UTF-8, what was not having become U+FFFD.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return lastValid(t.buf, t.limit())
}

func (t *Tail) limit() int {
	if t.Max <= 0 {
		return TailSize
	}
	return t.Max
}

// lastValid returns the valid UTF-8 end of b.
func lastValid(b []byte, limit int) string {
	if len(b) > limit {
		b = b[runeStart(b, len(b)-limit):]
	}
	// The replacement is longer than what it replaces, so it may have to be
	// cut once more.
	s := strings.ToValidUTF8(string(b), string(utf8.RuneError))
	if len(s) > limit {
		s = s[runeStart(s, len(s)-limit):]
	}
	return s
}

// runeStart returns the first index from i on that does not continue a rune.
func runeStart[T string | []byte](s T, i int) int {
	for end := min(len(s), i+utf8.UTFMax-1); i < end && !utf8.RuneStart(s[i]); i++ {
	}
	return i
}
