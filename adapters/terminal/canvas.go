package terminal

import (
	"sort"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// A canvas is what lines are made for: how wide they may be, how the terminal
// counts columns, and whether it has colours.
type canvas struct {
	columns int
	method  ansi.Method // how wide the terminal draws a cluster of several characters
	plain   bool        // no colours (https://no-color.org)
	dark    bool        // what is drawn on
}

// A tone is how a text is drawn.
type tone int

const (
	plain tone = iota
	strong
	faint
	good
	bad
	warning
	accent
)

// styles has the style of each tone on a light background, and on a dark one.
var styles = map[tone][2]lipgloss.Style{
	plain:   {},
	strong:  pair("", "", lipgloss.NewStyle().Bold(true)),
	faint:   pair("#6a6a6a", "#8a8a8a", lipgloss.NewStyle()),
	good:    pair("#00701a", "#5fd787", lipgloss.NewStyle()),
	bad:     pair("#b00020", "#ff6c6c", lipgloss.NewStyle()),
	warning: pair("#8a5a00", "#e5c07b", lipgloss.NewStyle()),
	accent:  pair("#0050a0", "#6cb6ff", lipgloss.NewStyle().Bold(true)),
}

func pair(light, dark string, base lipgloss.Style) [2]lipgloss.Style {
	if light == "" {
		return [2]lipgloss.Style{base, base}
	}
	return [2]lipgloss.Style{base.Foreground(lipgloss.Color(light)), base.Foreground(lipgloss.Color(dark))}
}

// paint returns a text of one line in a tone.
func (c canvas) paint(t tone, s string) string {
	if c.plain || t == plain || s == "" {
		return s
	}
	style := styles[t][0]
	if c.dark {
		style = styles[t][1]
	}
	return style.Render(s)
}

func (c canvas) width(s string) int { return c.method.StringWidth(s) }

// first returns the first cluster of a text, which is not empty, and how many
// columns it takes.
func (c canvas) first(s string) (cluster string, columns int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1], c.width(s[:1])
	}
	cluster, _ = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return cluster, c.width(cluster) // the library's own cutting and wrapping counts some clusters otherwise than its width does
}

// cut returns a line of at most so many columns, with "…" where something was
// cut.
func (c canvas) cut(s string, columns int) string {
	switch {
	case columns <= 0:
		return ""
	case c.width(s) <= columns:
		return s
	}
	var b strings.Builder
	for room := columns - 1; s != ""; {
		if end := strings.IndexByte(s, 'm') + 1; end > 0 && strings.HasPrefix(s, "\x1b[") { // of paint
			b.WriteString(s[:end])
			s = s[end:]
			continue
		}
		cluster, w := c.first(s)
		s = s[len(cluster):]
		if w <= room {
			b.WriteString(cluster)
			room -= w
		} else if room >= 0 {
			b.WriteString("…")
			room = -1
		}
	}
	return b.String()
}

// pad returns a line of exactly so many columns, as far as clusters of two allow
// it.
func (c canvas) pad(s string, columns int) string {
	s = c.cut(s, columns)
	return s + strings.Repeat(" ", max(0, columns-c.width(s)))
}

// wrap returns a line without colours as lines that fit. It breaks at spaces, or
// where there are none, anywhere.
func (c canvas) wrap(s string, columns int) []string {
	var lines []string
	for {
		at, width, space, after := 0, 0, -1, 0 // what fits, and the last space in it
		for at < len(s) {
			cluster, w := c.first(s[at:])
			if cluster == " " {
				space, after = at, at+1
			}
			if width += w; width > columns {
				break
			}
			at += len(cluster)
		}
		if at == len(s) {
			return append(lines, s)
		}
		if strings.TrimSpace(s[:max(0, space)]) == "" {
			space, after = at, at
		}
		if after == 0 { // not even one cluster fits
			cluster, _ := c.first(s)
			space, after = len(cluster), len(cluster)
		}
		lines = append(lines, c.cut(strings.TrimRight(s[:space], " "), columns))
		s = s[after:]
	}
}

// wrapAll is wrap for each of several lines.
func (c canvas) wrapAll(lines []string, columns int) []string {
	var all []string
	for _, line := range lines {
		all = append(all, c.wrap(line, columns)...)
	}
	return all
}

// columnsOf returns cells side by side, each as wide as the widest of its
// column. Where that does not fit, the widest columns are cut.
func (c canvas) columnsOf(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], c.width(cell))
		}
	}
	c.fit(widths)
	lines := make([]string, len(rows))
	for r, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			switch {
			case widths[i] == 0:
			case i == len(row)-1:
				b.WriteString(c.cut(cell, widths[i]))
			default:
				b.WriteString(c.pad(cell, widths[i]) + strings.Repeat(" ", gap))
			}
		}
		lines[r] = c.cut(strings.TrimRight(b.String(), " "), c.columns)
	}
	return lines
}

const (
	gap       = 2 // between the columns of a table
	narrowest = 4 // what a column of a table is not made narrower than
)

// fit makes the widest columns of a table narrower, until it fits or none is
// worth having at that.
func (c canvas) fit(widths []int) {
	room, widest := c.columns+gap, 0
	for _, w := range widths {
		if w > 0 {
			room -= gap
		}
		widest = max(widest, w)
	}
	total := func(most int) int {
		sum := 0
		for _, w := range widths {
			sum += min(w, most)
		}
		return sum
	}
	most := max(narrowest, sort.Search(widest, func(i int) bool { return total(i+1) > room }))
	spare := room - total(most)
	for i, w := range widths {
		widths[i] = min(w, most)
		if w > most && spare > 0 {
			widths[i]++
			spare--
		}
	}
}
