package terminal

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/agl/internal/questions"
	"example.com/agl/ports"
)

// long is how many options are too many to choose among by number: then what
// is typed filters them.
const long = 10

// nothingTyped is what a person is told who sends nothing.
const nothingTyped = "type an answer first"

// An asking is the question on the screen, and what has been done about it.
type asking struct {
	id      questions.ID
	q       ports.Question
	text    []string // of the question, clean
	labels  []string // of the options, clean
	edit    editor
	writing bool // a text of one's own is being given
	filter  string
	option  int // the selected one, of those that the filter leaves
	scroll  int // how many lines of the question are scrolled away
	more    int // how many wait behind it
	problem string
}

func newAsking(s questions.Shown) *asking {
	a := &asking{
		id: s.ID, q: s.Question, text: cleanLines(s.Question.Text), more: s.More,
		edit: editor{[]rune(s.Draft.Text), s.Draft.Cursor}, writing: s.Draft.Writing,
		filter: s.Draft.Filter, option: s.Draft.Option, scroll: s.Draft.Scroll,
	}
	for _, option := range s.Question.Options {
		a.labels = append(a.labels, cleanLine(option))
	}
	if len(a.labels) == 0 {
		a.writing = true
	}
	return a
}

// draft returns what has been done about the question.
func (a *asking) draft() questions.Draft {
	return questions.Draft{
		Text: string(a.edit.text), Cursor: a.edit.cursor, Writing: a.writing,
		Filter: a.filter, Option: a.option, Scroll: a.scroll,
	}
}

// filters reports whether what is typed filters the options.
func (a *asking) filters() bool { return !a.writing && len(a.labels) >= long }

// left returns the options that the filter leaves, by their places.
func (a *asking) left() []int {
	var left []int
	filter := strings.ToLower(a.filter)
	for i, label := range a.labels {
		if strings.Contains(strings.ToLower(label), filter) {
			left = append(left, i)
		}
	}
	return left
}

// entries returns how many entries the list has: the options that the filter
// leaves, and the one for a text of one's own.
func (a *asking) entries() int {
	n := len(a.left())
	if a.q.Free {
		n++
	}
	return n
}

// key does what a key says. done is true when answer is the person's answer.
func (a *asking) key(k tea.KeyPressMsg, c canvas) (answer string, done bool) {
	a.problem = ""
	switch key := k.String(); {
	case key == "pgup":
		a.scroll = max(0, a.scroll-5)
	case key == "pgdown":
		a.scroll += 5
	case a.writing && key == "enter":
		if text := string(a.edit.text); strings.TrimSpace(text) != "" {
			return text, true
		}
		a.problem = nothingTyped
	case a.writing && key == "esc":
		a.writing = len(a.labels) == 0
	case a.writing:
		a.edit.key(k, c)
	case key == "enter":
		return a.pick()
	case key == "up", key == "k" && !a.filters():
		a.option--
	case key == "down", key == "j" && !a.filters():
		a.option++
	case key == "home":
		a.option = 0
	case key == "end":
		a.option = a.entries() - 1
	case key == "esc":
		a.filter, a.option = "", 0
	case key == "backspace" && a.filter != "":
		runes := []rune(a.filter)
		a.filter, a.option = string(runes[:len(runes)-1]), 0
	case a.filters():
		a.narrow(k.Text)
	case len(key) == 1 && '1' <= key[0] && key[0] <= '9' && int(key[0]-'0') <= a.entries():
		a.option = int(key[0] - '1')
	}
	a.option = max(0, min(a.option, a.entries()-1))
	return "", false
}

// paste types a text that was pasted.
func (a *asking) paste(text string) {
	a.problem = ""
	switch {
	case a.writing:
		a.edit.insert(text)
	case a.filters():
		a.narrow(text)
	}
}

// narrow adds to the filter.
func (a *asking) narrow(text string) {
	if text = clean(text, false); text != "" {
		a.filter, a.option = ports.Clip(a.filter+text, 200), 0
	}
}

// pick takes the selected entry.
func (a *asking) pick() (answer string, done bool) {
	left := a.left()
	switch {
	case a.option < len(left):
		return a.q.Options[left[a.option]], true
	case a.q.Free:
		a.writing = true
	}
	return "", false
}

// who returns who asks.
func (a *asking) who() string {
	parts := []string{cleanLine(a.q.Run), place(a.q.Namespace), cleanLine(a.q.From)}
	text := "question"
	for _, part := range parts {
		if part != "" {
			text += " · " + part
		}
	}
	return text
}

// keys returns which keys do what.
func (a *asking) keys() string {
	switch {
	case a.writing && len(a.labels) > 0:
		return "enter sends · alt+enter or ctrl+j new line · esc back to the options · tab board · f1 help"
	case a.writing:
		return "enter sends · alt+enter or ctrl+j new line · tab board · f1 help"
	case a.filters():
		return "↑↓ choose · enter answers · type to filter · tab board · f1 help"
	default:
		return "↑↓ jk 1-9 choose · enter answers · tab board · ? help"
	}
}

// A spot is where the cursor is drawn.
type spot struct{ x, y int }

// question returns the lines of a question, at most height, and where the
// cursor is if there is one.
func (c canvas) question(a *asking, height int) (lines []string, cursor *spot) {
	head := c.cut(a.who(), c.columns)
	if a.more > 0 {
		more := fmt.Sprintf("  (%d more)", a.more)
		head = c.cut(a.who(), c.columns-c.width(more)) + more
	}
	if height > 2 {
		lines = append(lines, c.paint(accent, c.cut(head, c.columns)))
		height--
	}
	text := c.wrapAll(a.text, c.columns)
	want := a.entries()
	if a.writing {
		want = len(a.edit.lines(c))
	}
	if a.filters() {
		want++
	}
	if a.problem != "" {
		height--
	}
	room := max(1, height-len(text)) // for the controls
	if room < want {
		room = max(min(want, max(1, height*2/3)), room)
	}
	lines = append(lines, c.window(a, text, max(0, height-room))...)
	if len(lines)+min(want, room) < height && height > 6 {
		lines = append(lines, "")
		room--
	}
	if a.problem != "" {
		lines = append(lines, c.paint(bad, c.cut(cleanLine(a.problem), c.columns)))
	}
	if a.writing {
		drawn, x, y := a.edit.draw(c, max(1, min(room, want)))
		cursor = &spot{x, len(lines) + y}
		return append(lines, drawn...), cursor
	}
	return append(lines, c.options(a, max(1, room))...), nil
}

// window returns the lines of a question's text that fit, as it is scrolled.
func (c canvas) window(a *asking, text []string, height int) []string {
	if len(text) <= height {
		a.scroll = 0
		return text
	}
	if height <= 1 {
		return text[:height]
	}
	height--
	a.scroll = min(a.scroll, len(text)-height)
	lines := append([]string(nil), text[a.scroll:a.scroll+height]...)
	hint := fmt.Sprintf("pgup pgdn: lines %d-%d of %d", a.scroll+1, a.scroll+height, len(text))
	return append(lines, c.paint(faint, c.cut(hint, c.columns)))
}

// options returns the lines of the options, around the selected one.
func (c canvas) options(a *asking, height int) []string {
	var lines []string
	left := a.left()
	if a.filters() && height > 1 {
		lines = append(lines, c.cut(fmt.Sprintf("filter: %s▏ %d of %d", a.filter, len(left), len(a.labels)), c.columns))
		height--
	}
	n := a.entries()
	if n == 0 {
		return append(lines, c.paint(faint, c.cut("no option has that", c.columns)))
	}
	first := min(max(0, a.option-height/2), max(0, n-height))
	for i := first; i < min(n, first+height); i++ {
		label := "in your own words…"
		if i < len(left) {
			label = a.labels[left[i]]
		}
		if !a.filters() {
			label = fmt.Sprintf("%d %s", i+1, label)
		}
		if i == a.option {
			lines = append(lines, c.paint(strong, c.cut("❯ "+label, c.columns)))
		} else {
			lines = append(lines, c.cut("  "+label, c.columns))
		}
	}
	return lines
}
