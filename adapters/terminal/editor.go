package terminal

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// An editor is a text of several lines that a person types.
type editor struct {
	text   []rune
	cursor int // in text
}

// insert types a text.
func (e *editor) insert(s string) {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s) // as terminals paste the end of a line
	runes := []rune(strings.ToValidUTF8(s, ""))
	e.text = slices.Insert(e.text, e.cursor, runes...)
	e.cursor += len(runes)
}

// cut removes the text between two places.
func (e *editor) cut(from, to int) {
	e.text = slices.Delete(e.text, from, to)
	e.cursor = from
}

// key does what a key says.
func (e *editor) key(k tea.KeyPressMsg, c canvas) {
	switch k.String() {
	case "alt+enter", "ctrl+j", "shift+enter":
		e.insert("\n")
	case "left", "ctrl+b":
		e.cursor = e.before()
	case "right", "ctrl+f":
		e.cursor = e.after()
	case "up", "ctrl+p":
		e.move(c, -1)
	case "down", "ctrl+n":
		e.move(c, 1)
	case "home", "ctrl+a":
		e.cursor = e.start()
	case "end", "ctrl+e":
		e.cursor = e.end()
	case "alt+left", "ctrl+left", "alt+b":
		e.cursor = e.word()
	case "backspace":
		e.cut(e.before(), e.cursor)
	case "delete", "ctrl+d":
		e.cut(e.cursor, e.after())
	case "ctrl+w", "alt+backspace":
		e.cut(e.word(), e.cursor)
	case "ctrl+u":
		e.cut(e.start(), e.cursor)
	case "ctrl+k":
		e.cut(e.cursor, e.end())
	default:
		e.insert(k.Text)
	}
}

// start returns where the line of the cursor begins.
func (e *editor) start() int {
	at := e.cursor
	for at > 0 && e.text[at-1] != '\n' {
		at--
	}
	return at
}

// end returns where the line of the cursor ends.
func (e *editor) end() int {
	at := e.cursor
	for at < len(e.text) && e.text[at] != '\n' {
		at++
	}
	return at
}

// word returns where the word before the cursor begins.
func (e *editor) word() int {
	at := e.cursor
	for at > 0 && unicode.IsSpace(e.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.text[at-1]) {
		at--
	}
	return at
}

// before returns where the cluster before the cursor begins.
func (e *editor) before() int {
	at := e.start()
	if at == e.cursor {
		return max(0, at-1) // the end of the line before
	}
	for {
		n := cluster(e.text[at:e.end()])
		if at+n >= e.cursor {
			return at
		}
		at += n
	}
}

// after returns where the cluster at the cursor ends.
func (e *editor) after() int {
	if e.cursor == len(e.text) || e.text[e.cursor] == '\n' {
		return min(len(e.text), e.cursor+1)
	}
	return e.cursor + cluster(e.text[e.cursor:e.end()])
}

// maxCluster is how many characters are looked at to find the end of a cluster.
const maxCluster = 64

// cluster returns how many characters of a line belong to its first cluster.
func cluster(line []rune) int {
	text, _ := ansi.FirstGraphemeCluster(string(line[:min(len(line), maxCluster)]), ansi.GraphemeWidth)
	return max(1, len([]rune(text)))
}

// A line is a part of the text that is drawn in one line.
type line struct {
	start, end int // in the text
	drawn      string
}

// lines returns the text in lines that fit. At the end of each a column is left
// for the cursor.
func (e *editor) lines(c canvas) []line {
	columns := max(1, c.columns-1)
	var all []line
	now, width := line{}, 0
	var b strings.Builder
	next := func(end, start int) {
		now.end, now.drawn = end, b.String()
		all = append(all, now)
		now, width = line{start: start}, 0
		b.Reset()
	}
	for at := 0; at < len(e.text); {
		if e.text[at] == '\n' {
			next(at, at+1)
			at++
			continue
		}
		n := 1
		if e.text[at] >= 0x80 || at+1 < len(e.text) && e.text[at+1] >= 0x80 {
			n = cluster(e.text[at:min(len(e.text), at+maxCluster)])
		}
		drawn := glyph(string(e.text[at : at+n]))
		w := c.width(drawn)
		if width+w > columns && width > 0 {
			next(at, at)
		}
		b.WriteString(drawn)
		width += w
		at += n
	}
	next(len(e.text), len(e.text))
	return all
}

// glyph returns how a cluster is drawn.
func glyph(cluster string) string {
	if cluster == "\t" {
		return strings.Repeat(" ", tabWidth)
	}
	return clean(cluster, false)
}

// at returns the line that the cursor is in.
func (e *editor) at(lines []line) int {
	for i, l := range lines {
		if e.cursor < l.end || e.cursor == l.end && (i == len(lines)-1 || lines[i+1].start > l.end) {
			return i
		}
	}
	return len(lines) - 1
}

// move moves the cursor by so many lines, to about the same column.
func (e *editor) move(c canvas, by int) {
	lines := e.lines(c)
	from := e.at(lines)
	to := from + by
	if to < 0 || to >= len(lines) {
		return
	}
	want, column := e.column(c, lines[from]), 0
	e.cursor = lines[to].start
	for e.cursor < lines[to].end && column < want {
		n := cluster(e.text[e.cursor:lines[to].end])
		column += c.width(glyph(string(e.text[e.cursor : e.cursor+n])))
		e.cursor += n
	}
	if e.cursor == lines[to].end && to < len(lines)-1 && lines[to+1].start == lines[to].end && e.cursor > lines[to].start {
		e.cursor = e.before() // the place after its last character is in the next line
	}
}

// column returns where in its line the cursor is drawn.
func (e *editor) column(c canvas, l line) int {
	width := 0
	for at := l.start; at < e.cursor; {
		n := cluster(e.text[at:l.end])
		width += c.width(glyph(string(e.text[at : at+n])))
		at += n
	}
	return width
}

// draw returns at most height lines around the cursor, and where in them the
// cursor is.
func (e *editor) draw(c canvas, height int) (drawn []string, x, y int) {
	lines := e.lines(c)
	at := e.at(lines)
	first := min(max(0, at-height/2), max(0, len(lines)-height))
	for _, l := range lines[first:min(len(lines), first+max(1, height))] {
		drawn = append(drawn, c.cut(l.drawn, c.columns))
	}
	return drawn, min(e.column(c, lines[at]), max(0, c.columns-1)), at - first
}
