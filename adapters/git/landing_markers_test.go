package git_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

func TestMarkersThatAreLeftKeepAResolutionFromBeingOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, want string }{
		"nothing was done":            {"", "line 5"},
		"the first was left":          {"1\n<<<<<<< HEAD\n", "line 2"},
		"the last was left":           {"THEIRS", "line 1"},
		"with line ends of Windows":   {"1\r\n<<<<<<< HEAD\r\n2\r\n", "line 2"},
		"an underline is none":        {"title\n=======\n", ""},
		"they are of another command": {"<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\n", "line 1"},
		"a common ancestor was left":  {"||||||| base\n", "line 1"},
		"an indented one is none":     {" <<<<<<< HEAD\n", ""},
		"an operator is none":         {"<<<<<<<< x\n<<<<<<<x\n", ""},
		"the file was removed":        {absent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, m := quarrel(t)
			switch c.a {
			case "":
			case "THEIRS":
				l.write(l.path("a.txt"), ">>>>>>> "+l.spec.Theirs+"\n")
			case absent:
				require.NoError(t, os.Remove(l.path("a.txt")))
			default:
				l.write(l.path("a.txt"), c.a)
			}
			got := l.resolve(m.Conflicts)
			if c.want == "" {
				require.Empty(t, got.Conflicts)
				l.land(got)
				return
			}
			require.Equal(t, []ports.ConflictPath{{Path: "a.txt", Kind: ports.ConflictMarkers, Note: c.want}}, got.Conflicts)
			require.Empty(t, got.Tree)
			require.NotEmpty(t, l.git(l.ws.Dir(), "ls-files", "-u"))
			l.write(l.path("a.txt"), "done\n")
			l.land(l.resolve(m.Conflicts))
		})
	}
}

// What is looked at is what would be committed, however the file is written.
func TestMarkersThatAttributesChangeAreFound(t *testing.T) {
	t.Parallel()
	utf16 := func(text string) string {
		var b strings.Builder
		for _, c := range []byte(text) {
			b.Write([]byte{c, 0})
		}
		return b.String()
	}
	plain := func(text string) string { return text }
	for name, c := range map[string]struct {
		attribute string
		encoded   func(string) string
	}{
		"in UTF-16":               {"working-tree-encoding=UTF-16LE", utf16},
		"behind a filter":         {"filter=hide", strings.NewReplacer("<", "(", ">", ")").Replace},
		"shorter than usual":      {"conflict-marker-size=3", plain},
		"of a single character":   {"conflict-marker-size=1", plain},
		"longer than usual":       {"conflict-marker-size=40", plain},
		"in a file of a bad name": {"text", plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{".gitattributes": "a* " + c.attribute + "\n"})
			w.git(w.dir, "config", "filter.hide.smudge", "tr '<>' '()'")
			w.git(w.dir, "config", "filter.hide.clean", "tr '()' '<>'")
			path := "a.txt"
			if name == "in a file of a bad name" {
				path = "a \"\n\xff\\b"
			}
			l := meetIn(w, t, map[string]string{path: c.encoded("> quoted\nours\n")}, map[string]string{path: c.encoded("> quoted\ntheirs\n")}, nil)
			m := l.merge()
			require.Equal(t, map[string]string{path: ports.ConflictAddAdd}, kinds(m.Conflicts))
			l.write(l.path(path), l.read(l.path(path))+c.encoded("more\n")) // so that somebody has touched it
			require.Equal(t, map[string]string{path: ports.ConflictMarkers}, kinds(l.resolve(m.Conflicts).Conflicts))
			l.write(l.path(path), c.encoded("> quoted\nboth\n"))
			made, _ := l.land(l.resolve(m.Conflicts))
			require.Equal(t, "> quoted\nboth", l.git(l.dir, "show", made.ID+":"+path))
		})
	}
}

func TestLinesLikeMarkersThatASideHasAreNone(t *testing.T) {
	t.Parallel()
	doc := "title\n=======\n<<<<<<< HEAD\n>>>>>>> x\n"
	l := meet(t, map[string]string{"doc": doc + lines, "size": "s\n", ".gitattributes": "size conflict-marker-size=30\n"},
		map[string]string{"doc": doc + "o\n", "size": "o\n"}, map[string]string{"doc": doc + "t\n", "size": "t\n"})
	m := l.merge()
	require.Len(t, m.Conflicts, 2)
	l.write(l.path("doc"), doc+"both\n")
	require.Equal(t, map[string]string{"size": ports.ConflictMarkers}, kinds(l.resolve(m.Conflicts).Conflicts))
	l.write(l.path("size"), "both\n=======\n")
	l.land(l.resolve(m.Conflicts))
}
