package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"example.com/agl/internal/questions"
)

// A model is what is on the screen. The program calls it from one goroutine.
type model struct {
	queue     *questions.Queue
	interrupt func(again bool)
	suspend   tea.Cmd
	fell      func(panicked any)

	canvas  canvas
	height  int
	frames  []*frame
	asking  *asking   // nil while nothing is asked
	left    time.Time // when another question was last on the screen; zero: never
	aside   bool      // the board is looked at although something is asked
	help    bool
	gates   bool
	scroll  int
	stops   int // how often ctrl-c was pressed
	content string
	cursor  *spot
}

// What the model is told.
type (
	framesMsg []*frame // the runs are to be drawn anew
	queueMsg  struct{} // the questions have changed
)

func (m *model) Init() tea.Cmd { return tea.RequestBackgroundColor }

func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() { // the library would print a stack over the screen
		if r := recover(); r != nil {
			m.fell(r)
			next, cmd = m, tea.Quit
		}
	}()
	return m, m.update(msg)
}

func (m *model) update(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.canvas.columns, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.canvas.dark = msg.IsDark()
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore && (msg.Value == ansi.ModeSet || msg.Value == ansi.ModeReset || msg.Value == ansi.ModePermanentlySet) {
			m.canvas.method = ansi.GraphemeWidth // as the library decides it
		}
	case framesMsg:
		m.frames = msg
	case queueMsg:
		m.swap()
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.takes() {
			m.asking.paste(msg.Content)
			m.queue.Keep(m.asking.id, m.asking.draft())
		}
	default:
		return nil
	}
	m.draw()
	return cmd
}

// swap puts the question on the screen that belongs there.
func (m *model) swap() {
	s, ok := m.queue.Shown()
	if ok && m.asking != nil && m.asking.id == s.ID {
		m.asking.more = s.More
		return
	}
	if m.asking != nil {
		m.left = time.Now().Add(time.Second / framesPerSecond) // by then the other is drawn
	}
	m.asking, m.aside = nil, false
	if ok {
		m.asking = newAsking(s)
	}
}

// takes reports whether what is typed now is meant for the question. The queue
// knows when it came first, and the model when the person can have seen that.
func (m *model) takes() bool {
	return m.asking != nil && !m.aside && !m.help && m.queue.Takes(m.asking.id) &&
		(m.left.IsZero() || time.Since(m.left) >= questions.Guard)
}

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	typing := m.asking != nil && !m.aside && (m.asking.writing || m.asking.filters())
	switch key := k.String(); {
	case key == "ctrl+c":
		m.stops++
		again := m.stops > 1
		return func() tea.Msg { m.interrupt(again); return nil }
	case key == "ctrl+z":
		return m.suspend
	case key == "f1", key == "?" && (m.help || !typing):
		m.help, m.scroll = !m.help, 0
	case m.help && (key == "esc" || key == "enter"):
		m.help = false
	case key == "tab" && m.asking != nil && !m.help:
		m.aside = !m.aside
	case m.asking == nil, m.aside, m.help:
		m.look(key)
	case m.takes():
		answer, done := m.asking.key(k, m.canvas)
		if done {
			m.answer(answer)
			break
		}
		m.queue.Keep(m.asking.id, m.asking.draft())
	}
	return nil
}

// answer gives the person's answer to the question on the screen.
func (m *model) answer(answer string) {
	if err := m.queue.Answer(m.asking.id, answer); err != nil {
		m.asking.problem = err.Error()
		return
	}
	m.swap()
}

// look does what a key says about the board.
func (m *model) look(key string) {
	switch key {
	case "up", "k":
		m.scroll--
	case "down", "j":
		m.scroll++
	case "pgup":
		m.scroll -= max(1, m.height-3)
	case "pgdown", "space":
		m.scroll += max(1, m.height-3)
	case "home":
		m.scroll = 0
	case "end":
		m.scroll = 1 << 30
	case "g":
		m.gates = !m.gates
	}
}

// helpText says which keys do what.
var helpText = []string{
	"On the board:",
	"  ↑ ↓ j k, pgup pgdn, home end   scroll",
	"  g   the last lines of the gates that fail",
	"  tab   to the question, and back to the board",
	"In a question:",
	"  ↑ ↓ j k, 1-9   choose; enter answers",
	"  of many options: what is typed filters them; esc shows all",
	"  a text: enter sends it, alt+enter or ctrl+j begins a new line; esc back to the options",
	"  pgup pgdn   scroll a long question",
	"A question that has just come on the screen takes no key for a moment.",
	"ctrl+c   stop in order; again: at once",
	"ctrl+z   suspend",
	"? or f1   this help, and back",
}

// draw makes what is on the screen.
func (m *model) draw() {
	if m.canvas.columns <= 0 || m.height <= 0 {
		return
	}
	m.cursor = nil
	drawn := m.stopping()
	room := max(1, m.height-1-len(drawn))
	var lines []string
	var keys string
	switch {
	case m.help:
		lines, keys = m.window(m.canvas.wrapAll(helpText, m.canvas.columns), room)
		keys += "? back"
	case m.asking != nil && !m.aside:
		lines = m.question(room)
		keys = m.asking.keys()
		if m.cursor != nil {
			m.cursor.y += len(drawn)
		}
	default:
		lines, keys = m.window(m.board(), room)
		keys += "? help · g gates · ↑↓ scroll · ctrl+c stop"
		if m.asking != nil {
			keys = "a question waits: tab · " + keys
		}
	}
	m.content = m.finish(append(drawn, lines...), keys)
}

// stopping returns the lines that say what a run that is to stop is at.
func (m *model) stopping() []string {
	if m.stops == 0 {
		return nil
	}
	text := "stopping in order; ctrl+c again stops at once"
	if at := waited(m.frames); at != "" {
		text += "; waits for " + at
	}
	const most = 3
	lines := m.canvas.wrap(text, m.canvas.columns)
	lines = lines[:min(len(lines), most)]
	for i := range lines {
		lines[i] = m.canvas.paint(warning, lines[i])
	}
	return lines
}

// window returns the lines that fit, as they are scrolled, and which they are
// where that is not all of them.
func (m *model) window(lines []string, room int) (fit []string, which string) {
	m.scroll = max(0, min(m.scroll, len(lines)-room))
	end := min(len(lines), m.scroll+room)
	if end-m.scroll < len(lines) {
		which = fmt.Sprintf("lines %d-%d of %d · ", m.scroll+1, end, len(lines))
	}
	return lines[m.scroll:end], which
}

// question returns the lines of the question, and below it as much of the board
// as there is room for.
func (m *model) question(room int) []string {
	height := room
	board := m.board()
	if len(board) > 0 && room > 12 {
		height -= 1 + min(len(board), room/3)
	}
	lines, cursor := m.canvas.question(m.asking, height)
	m.cursor = cursor
	if room -= len(lines) + 1; room > 0 && len(board) > 0 {
		lines = append(lines, m.canvas.paint(faint, strings.Repeat("─", m.canvas.columns)))
		lines = append(lines, board[:min(len(board), room)]...)
	}
	return lines
}

// finish returns the whole screen, with the keys in its last line. No line is
// wider than the screen, whatever it was made of.
func (m *model) finish(drawn []string, keys string) string {
	c := m.canvas
	if m.height > 1 {
		drawn = drawn[:min(len(drawn), m.height-1)]
		for len(drawn) < m.height-1 {
			drawn = append(drawn, "")
		}
		drawn = append(drawn, c.paint(faint, c.cut(keys, c.columns)))
	}
	drawn = drawn[:min(len(drawn), m.height)]
	for i := range drawn {
		drawn[i] = c.cut(drawn[i], c.columns)
	}
	if m.cursor != nil && m.cursor.y >= min(len(drawn), max(1, m.height-1)) {
		m.cursor = nil
	}
	return strings.Join(drawn, "\n")
}

// board returns the lines of the runs.
func (m *model) board() []string {
	var all []string
	for i, f := range m.frames {
		if i > 0 {
			all = append(all, "")
		}
		all = append(all, m.canvas.run(f, m.gates)...)
	}
	return slices.Clip(all)
}

func (m *model) View() tea.View {
	v := tea.NewView(m.content)
	v.AltScreen = true
	if m.cursor != nil {
		v.Cursor = tea.NewCursor(m.cursor.x, m.cursor.y)
	}
	return v
}
