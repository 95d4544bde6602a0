package git

import (
	"bytes"
	"crypto/sha1"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func FuzzAnyNameGoesThroughFastImport(f *testing.F) {
	for _, name := range []string{"a", "\"", `\`, "\n", "\xff", " x ", "\x01\x7f\t\r", `\"\n\303`, ":1", "inline", "é"} {
		f.Add(name)
	}
	b := newBench(f, map[string]string{"a": "1"})
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "\x00/") || dotGit(name) {
			return
		}
		var in bytes.Buffer
		s := newImportStream(&in)
		mark, err := s.blob(1, strings.NewReader("x"))
		require.NoError(t, err)
		commit := s.commit("refs/fuzz/x", "m", time.Unix(1, 0), b.head)
		s.remove("a")
		s.put(modeFile, mark, name)
		s.put(modeFile, mark, "dir/"+name)
		s.remove("dir/" + name)
		s.put(modeExec, mark, name+"-dir/"+name)
		s.tell(commit)
		require.NoError(t, s.done())
		cmd := exec.Command("git", "fast-import", "--quiet", "--force", "--date-format=raw")
		cmd.Dir, cmd.Env, cmd.Stdin = b.main, b.env, &in
		out, err := cmd.Output()
		require.NoError(t, err, "%q", name)
		got, err := b.repo.listTree(t.Context(), strings.TrimSpace(string(out)))
		require.NoError(t, err)
		const x = "c1b0730e0133447badcfd47fd144e254807b06e1"
		require.Equal(t, fileTree{name: {mode: modeFile, id: x}, name + "-dir/" + name: {mode: modeExec, id: x}}, got)
	})
}

func FuzzAMessageIsReadAsItWasWritten(f *testing.F) {
	f.Add("the step failed", "app", "a note", 3)
	f.Add("AGL-Salvage: 1\n\nAGL-Paths: x", "\xff\n", "", -1)
	f.Fuzz(func(t *testing.T, reason, nested, note string, paths int) {
		want := salvageRecord{
			parents: []string{"0123", "4567", "89ab"}, namespace: "_base", reason: reason, made: time.Unix(1700000000, 123e6).UTC(),
			paths: paths, sides: []string{"index stage 2"}, strays: []string{"89ab"}, nested: []string{nested, "x"}, notes: []string{note},
		}
		got := salvageRecord{parents: want.parents}
		require.NoError(t, got.readMessage(want.message("job")))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(salvageRecord{})); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
		_ = (&salvageRecord{}).readMessage(reason + "\n\n" + note) // whatever it is, it does not panic
	})
}

func FuzzLineEnds(f *testing.F) {
	f.Add("a\r\nb\r\n", 2)
	f.Add("\r\r\n\n\r", 1)
	f.Fuzz(func(t *testing.T, text string, chunk int) {
		chunk = max(1, min(chunk, 100))
		l := &lineEnds{out: sha1.New()}
		for rest := text; rest != ""; {
			n := min(chunk, len(rest))
			_, err := l.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		l.flush()
		want := sha1.Sum([]byte(strings.ReplaceAll(text, "\r\n", "\n")))
		require.Equal(t, want[:], l.out.Sum(nil))
		require.Equal(t, int64(strings.Count(text, "\r\n")), l.crlf)
		require.Equal(t, int64(strings.Count(text, "\n")), l.lf)
	})
}
