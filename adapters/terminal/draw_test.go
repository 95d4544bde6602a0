package terminal

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/questions"
	"example.com/agl/ports"
)

func TestTextFromOutsideIsMadeHarmless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                              "plain",
		"a\x1b[31mb\x07\x00\x7f":             "a�[31mb���",
		"\u009b31m":                          "�31m",
		"\xff\xc3":                           "��",
		"a\u202eb\u2066c\u200bd\u00ad\ufeff": "a�b�c�d��",
		"a\tb\r\nc\vd":                       "a b c d",
		"👩\u200d🚀 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈": "👩\u200d🚀 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈",
		"a\u200db 👩\u200da":                  "a�b 👩�a",
		"می\u200cخواهم क्\u200dष":            "می\u200cخواهم क्\u200dष",
		"e" + strings.Repeat("\u0301", 1000): "e" + strings.Repeat("\u0301", maxMarks),
		"\u3164":                             "�",
		"\U000e0041":                         "�",
		"👩\u200d":                            "👩�",
	} {
		require.Equal(t, want, cleanLine(text), "%q", text)
	}
	require.Equal(t, []string{"a   b", "", "c"}, cleanLines("a\tb\r\n\nc \n\n"))
	require.Len(t, cleanLine(strings.Repeat("x", maxText)), maxLine+len("…"))
	require.Equal(t, "FAIL \x1b[2Jx \x1b[", withoutColours("\x1b[1;31mFAIL\x1b[m \x1b[2Jx \x1b["))
}

// nasty are texts that break columns elsewhere.
var nasty = []string{
	"", " ", "plain text of some words", strings.Repeat("x", 300), "日本語のテキスト", "e\u0301\u0301\u0301 combining", "👩\u200d👩\u200d👧\u200d👦 family 👩🏽\u200d🚀",
	"🏳\ufe0f\u200d🌈🇩🇪🇩", "שלום עולם مرحبا", "می\u200cخواهم", "\x1b]0;x\x07\x1b[2J\u202e", "a\tb\tc", "\xff\xfe\xc3", "\u200b\u200d\ufeff", "한국어 \u1100\u1161\u11a8", "①②③ ±×÷ αβγ",
	"one\ntwo\r\nthree\n\n\nfour", "\u0301\u0301 begins with a mark", "🤷\u200d♂\ufe0f", strings.Repeat("宽", 200), "\ue0b0 \U0010fffd",
}

// A scene is everything that can be drawn, of a few texts.
func scene(texts []string, writing bool) *model {
	at := func(i int) string { return texts[i%len(texts)] }
	status := ports.Status{
		Run:   ports.RunInfo{Label: at(0), Workflow: at(1), State: ports.State(at(2)), Created: time.Unix(0, 0)},
		Usage: ports.Usage{Input: 123_456, Cost: 1.5}, Notes: []string{at(3), at(4)},
	}
	for i := range 6 {
		parent := ""
		if i > 0 {
			parent = at(i - 1)
		}
		status.Namespaces = append(status.Namespaces, ports.NamespaceStatus{
			Namespace: at(i), Parent: parent, Verb: ports.KindStep, Name: at(i + 2), Ordinal: i, Activity: at(i + 3), Waiting: at(i + 4),
			Landing: ports.LandingState(at(i + 5)), Verdict: &ports.Verdict{Passed: i%2 == 0, Command: at(i + 1), Note: at(i), Output: at(i + 2)},
		})
	}
	w := &watch{run: ports.Watched{
		Status: func() ports.Status { return status },
		View: func(ports.Status) (ports.Screen, bool) {
			return ports.Screen{Title: at(0), Body: []ports.Block{
				ports.Paragraph(at(1)),
				ports.Table{Header: []string{at(2), at(3)}, Rows: [][]string{{at(4), at(5), at(6)}, {}, {at(7)}}},
				ports.Progress{Label: at(8), Done: 7, Total: 3},
				ports.Progress{Label: at(8), Done: -1, Total: 3},
				ports.Progress{Label: at(8), Done: 1 << 62, Total: 1 << 62},
				ports.Progress{Done: 3},
			}}, true
		},
	}}
	tree := &watch{run: ports.Watched{Status: w.run.Status}}
	now := time.Unix(5000, 0)
	q := ports.Question{Run: at(0), Namespace: at(1), From: at(2), Text: strings.ToValidUTF8(at(3), "?"), Options: texts, Free: true}
	m := &model{
		queue: questions.New(nil), canvas: canvas{dark: true}, frames: []*frame{w.next(now), tree.next(now)}, gates: true,
		asking: newAsking(questions.Shown{ID: 1, Question: q, More: 3}),
	}
	m.asking.problem = at(4)
	if writing {
		m.asking.writing = true
		m.asking.edit.insert(strings.Join(texts, "\n"))
		m.asking.edit.cursor = len(m.asking.edit.text) / 2
	}
	return m
}

// fits checks what is drawn of a model at a size.
func fits(t *testing.T, m *model, columns, height int) {
	t.Helper()
	for _, method := range []ansi.Method{ansi.WcWidth, ansi.GraphemeWidth} {
		m.canvas.method = method
		m.Update(tea.WindowSizeMsg{Width: columns, Height: height})
		content := m.View().Content
		require.True(t, utf8.ValidString(content), "%q", content)
		drawn := strings.Split(content, "\n")
		require.Len(t, drawn, height)
		for _, line := range drawn {
			require.LessOrEqual(t, method.StringWidth(line), columns, "%q", line)
			for _, r := range ansi.Strip(line) {
				require.False(t, unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r), "%q", line)
			}
		}
		if m.cursor != nil {
			require.True(t, 0 <= m.cursor.x && m.cursor.x < columns && 0 <= m.cursor.y && m.cursor.y < height, "the cursor at %v", *m.cursor)
		}
	}
}

// Case F9.
func TestNoLineIsWiderThanTheScreen(t *testing.T) {
	t.Parallel()
	scenes := []*model{scene(nasty, false), scene(nasty, true)}
	for columns := 1; columns <= 200; columns++ {
		m := scenes[columns%2]
		m.aside, m.help, m.stops = columns%3 == 0, columns%7 == 0, columns%5%2
		fits(t, m, columns, []int{24, 60, 5, 2, 1}[columns%5])
	}
}

func FuzzNoLineIsWiderThanTheScreen(f *testing.F) {
	for i, text := range nasty {
		f.Add(text, nasty[(i+1)%len(nasty)], uint8(i*10), uint8(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, one, two string, columns, height uint8, writing bool) {
		if len(one)+len(two) > 1<<12 {
			return
		}
		m := scene([]string{one, two, one + two}, writing)
		m.aside = height%3 == 0
		fits(t, m, max(1, int(columns)), max(1, int(height)))
	})
}

func FuzzAnEditorNeverLosesItsPlace(f *testing.F) {
	for _, text := range nasty {
		f.Add(text, "lrudhebxwk", uint8(10))
	}
	keys := map[byte]string{
		'l': "left", 'r': "right", 'u': "up", 'd': "down", 'h': "home", 'e': "end", 'b': "backspace", 'x': "delete", 'w': "ctrl+w", 'k': "ctrl+k", 'n': "ctrl+j",
	}
	codes := map[string]tea.KeyPressMsg{
		"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "home": {Code: tea.KeyHome},
		"end": {Code: tea.KeyEnd}, "backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl},
		"ctrl+k": {Code: 'k', Mod: tea.ModCtrl}, "ctrl+j": {Code: 'j', Mod: tea.ModCtrl},
	}
	f.Fuzz(func(t *testing.T, text, pressed string, columns uint8) {
		if len(text)+len(pressed) > 1<<11 {
			return
		}
		c := canvas{columns: max(1, int(columns))}
		e := editor{}
		e.insert(text)
		require.Equal(t, len(e.text), e.cursor)
		for i := range len(pressed) {
			e.key(codes[keys[pressed[i]]], c)
			require.True(t, 0 <= e.cursor && e.cursor <= len(e.text))
			lines := e.lines(c)
			next := 0
			for n, l := range lines { // they are the whole of the text
				require.True(t, l.start == next || l.start == next+1 && e.text[next] == '\n', "line %d of %v", n, lines)
				next = l.end
			}
			require.Equal(t, len(e.text), next)
			at := e.at(lines)
			require.True(t, lines[at].start <= e.cursor && e.cursor <= lines[at].end)
			drawn, x, y := e.draw(c, 3)
			require.True(t, 0 <= x && x < c.columns && 0 <= y && y < len(drawn), "the cursor at %d, %d of %q", x, y, drawn)
		}
	})
}

func TestTheCursorMovesByWhatAPersonTakesForALetter(t *testing.T) {
	t.Parallel()
	e, c := editor{}, canvas{columns: 80}
	e.insert("e\u0301👩\u200d🚀x")
	for _, want := range []int{5, 2, 0} {
		e.key(tea.KeyPressMsg{Code: tea.KeyLeft}, c)
		require.Equal(t, want, e.cursor)
	}
	e.key(tea.KeyPressMsg{Code: tea.KeyEnd}, c)
	e.key(tea.KeyPressMsg{Code: tea.KeyBackspace}, c)
	e.key(tea.KeyPressMsg{Code: tea.KeyBackspace}, c)
	require.Equal(t, "e\u0301", string(e.text))
}

// Each field of a status is a reason to draw, or it would be drawn too late.
func TestAStatusThatDiffersInAnythingIsAnother(t *testing.T) {
	t.Parallel()
	var check func(t *testing.T, path string, v reflect.Value, same func() bool)
	check = func(t *testing.T, path string, v reflect.Value, same func() bool) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		switch v.Interface().(type) {
		case time.Time:
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		default:
			switch v.Kind() {
			case reflect.Struct:
				for i := range v.NumField() {
					check(t, path+"."+v.Type().Field(i).Name, v.Field(i), same)
				}
				return
			case reflect.String:
				v.SetString("another")
			case reflect.Int, reflect.Int64:
				v.SetInt(7)
			case reflect.Float64:
				v.SetFloat(7)
			case reflect.Bool:
				v.SetBool(true)
			case reflect.Slice:
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			case reflect.Pointer:
				v.Set(reflect.New(v.Type().Elem()))
			default:
				t.Fatalf("%s: what is another %s?", path, v.Type())
			}
		}
		require.False(t, same(), "%s", path)
		v.Set(was)
		require.True(t, same(), "%s", path)
	}
	var a, b ports.Status
	check(t, "Status", reflect.ValueOf(&b).Elem(), func() bool { return sameStatus(&a, &b) })
	var c, d ports.NamespaceStatus
	check(t, "NamespaceStatus", reflect.ValueOf(&d).Elem(), func() bool { return sameNamespace(c, d) })
}

func TestWhatWaitsForOneThatWaitsForAPersonWaitsForThem(t *testing.T) {
	t.Parallel()
	got := waiting([]ports.NamespaceStatus{
		{Namespace: "a", Waiting: "b"},
		{Namespace: "b", Waiting: "c"},
		{Namespace: "c", Asking: []ports.Question{{}}},
		{Namespace: "d", Waiting: "e"},
		{Namespace: "e", Waiting: "d"},
		{Namespace: "f", Waiting: "nobody"},
		{Namespace: "g"},
	})
	require.Equal(t, []bool{true, true, true, false, false, false, false}, got)
}

func TestATreeIsDrawnBelowItsParents(t *testing.T) {
	t.Parallel()
	namespaces := []ports.NamespaceStatus{
		{Namespace: ports.Base},
		{Namespace: "a", Parent: ports.Base},
		{Namespace: "b", Parent: ports.Base},
		{Namespace: "aa", Parent: "a"},
		{Namespace: "ab", Parent: "a"},
		{Namespace: "orphan", Parent: "gone"},
	}
	var drawn []string
	for _, l := range limbs(namespaces) {
		drawn = append(drawn, l.prefix+namespaces[l.at].Namespace)
	}
	require.Equal(t, []string{ports.Base, "├ a", "│ ├ aa", "│ └ ab", "└ b", "orphan"}, drawn)
}

func TestTextIsWrappedAtItsSpaces(t *testing.T) {
	t.Parallel()
	c := canvas{method: ansi.GraphemeWidth}
	for text, want := range map[string][]string{
		"one two three": {"one two", "three"}, "": {""}, "exactly8": {"exactly8"}, "exactly8 two": {"exactly8", "two"},
		"morethan8": {"morethan", "8"}, "a morethan8": {"a", "morethan", "8"}, "日本語日本語": {"日本語日", "本語"}, "  in by two": {"  in by", "two"},
		"         nine": {"", " nine"},
	} {
		require.Equal(t, want, c.wrap(text, 8), "%q", text)
	}
	require.Equal(t, []string{"…", "a"}, c.wrap("日a", 1))
}

func TestTheColumnsOfATableAreAsWideAsTheirCells(t *testing.T) {
	t.Parallel()
	got := canvas{columns: 12, plain: true, method: ansi.GraphemeWidth}.table(ports.Table{
		Header: []string{"A", "B"}, Rows: [][]string{{"日本", "x"}, {"👩\u200d🚀", "y", "too wide"}, {"é", ""}},
	})
	require.Equal(t, []string{"A     B", "日本  x", "👩\u200d🚀    y  to…", "é"}, got)
	many := make([][]string, maxRows+5)
	require.Contains(t, slices.Concat(canvas{columns: 80, plain: true}.table(ports.Table{Rows: many})), "… 5 more rows")
}

func TestALongCellTakesNoOtherColumnsPlace(t *testing.T) {
	t.Parallel()
	c := canvas{columns: 40, plain: true, method: ansi.GraphemeWidth}
	long := strings.Repeat("long ", 60)
	require.Equal(t, []string{
		"FILE               WHY             STATE",
		"long long long l…  short           done",
		"a                  it is all here  open",
	}, c.table(ports.Table{Header: []string{"FILE", "WHY", "STATE"}, Rows: [][]string{{long, "short", "done"}, {"a", "it is all here", "open"}}}))
	require.Equal(t, []string{"long long long lon…  long long long lon…"}, c.table(ports.Table{Rows: [][]string{{long, long}}}))
	c.columns = 10
	require.Equal(t, []string{"lon…  lon…"}, c.table(ports.Table{Rows: [][]string{{long, long, "x", long}}}), "of columns of which nothing would be left the first are drawn")
}

func TestWhatANamespaceIsAtIsWholeWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	c := canvas{columns: 100, plain: true, method: ansi.GraphemeWidth}
	got := c.tree(&frame{since: make([]time.Duration, 1), status: ports.Status{Namespaces: []ports.NamespaceStatus{{
		Namespace: "a", Verb: ports.KindAnswer, Name: "Which dialect does the archive speak, of all of them?", Asking: []ports.Question{{}},
	}}}})
	require.Equal(t, []string{"a  asks Which dialect does the archive speak, of all of them?  waits for a person"}, got)
}

func TestOfManyOptionsTheBoardIsLeftAThird(t *testing.T) {
	t.Parallel()
	q := ports.Question{Text: "Which?"}
	for i := range 50 {
		q.Options = append(q.Options, "option "+strconv.Itoa(i))
	}
	for _, c := range []struct{ namespaces, board int }{{30, 7}, {3, 4}} { // a board may need less; one line is the run's
		namespaces := make([]ports.NamespaceStatus, c.namespaces)
		m := &model{
			queue: questions.New(nil), asking: newAsking(questions.Shown{ID: 1, Question: q}),
			frames: []*frame{{status: ports.Status{Namespaces: namespaces}, since: make([]time.Duration, c.namespaces)}},
		}
		m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
		drawn := strings.Split(ansi.Strip(m.View().Content), "\n")
		rule := slices.Index(drawn, strings.Repeat("─", 80))
		require.Equal(t, c.board, len(drawn)-1-rule-1, "%s", m.View().Content)
	}
}
