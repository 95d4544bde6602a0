package terminal

import (
	"fmt"
	"strings"

	"example.com/agl/ports"
)

// maxRows is how many rows of a table are drawn.
const maxRows = 1000

// screen returns the lines of what a workflow shows of itself.
func (c canvas) screen(s ports.Screen) []string {
	var lines []string
	if title := cleanLine(s.Title); title != "" {
		lines = append(lines, c.paint(strong, c.cut(title, c.columns)), "")
	}
	for _, block := range s.Body {
		switch block := block.(type) {
		case ports.Paragraph:
			lines = append(lines, c.wrapAll(cleanLines(string(block)), c.columns)...)
		case ports.Table:
			lines = append(lines, c.table(block)...)
		case ports.Progress:
			lines = append(lines, c.progress(block))
		}
	}
	return lines
}

func (c canvas) table(t ports.Table) []string {
	rows := make([][]string, 0, len(t.Rows)+1)
	if len(t.Header) > 0 {
		rows = append(rows, cells(t.Header))
	}
	for _, row := range t.Rows[:min(len(t.Rows), maxRows)] {
		rows = append(rows, cells(row))
	}
	lines := c.columnsOf(rows)
	if len(t.Header) > 0 {
		lines[0] = c.paint(strong, lines[0])
	}
	if more := len(t.Rows) - maxRows; more > 0 {
		lines = append(lines, c.paint(faint, fmt.Sprintf("… %d more rows", more)))
	}
	return lines
}

func cells(row []string) []string {
	clean := make([]string, len(row))
	for i, cell := range row {
		clean[i] = cleanLine(cell)
	}
	return clean
}

func (c canvas) progress(p ports.Progress) string {
	label := cleanLine(p.Label)
	if label != "" {
		label += "  "
	}
	if p.Total <= 0 {
		return fmt.Sprintf("%s%d", label, p.Done)
	}
	done := min(max(p.Done, 0), p.Total)
	count := fmt.Sprintf("  %d/%d", p.Done, p.Total)
	length := min(30, c.columns-c.width(label)-c.width(count))
	if length < 4 {
		return label + strings.TrimSpace(count)
	}
	full := int(float64(done) / float64(p.Total) * float64(length))
	return label + c.paint(good, strings.Repeat("█", full)) + c.paint(faint, strings.Repeat("░", length-full)) + count
}
