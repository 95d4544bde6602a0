package mem_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A line is a run's own checkout, in which commits are made one after another.
type line struct {
	*testing.T
	repo  *mem.Repository
	trees ports.Worktrees
	ws    *mem.Workspace
	place ports.Place
	head  string
}

// begin opens the checkout of a namespace at a commit; "": the first.
func begin(t *testing.T, repo *mem.Repository, namespace, head string) *line {
	t.Helper()
	if head == "" {
		var err error
		head, err = repo.Resolve(t.Context(), "main")
		require.NoError(t, err)
	}
	trees, err := repo.Attach(t.Context(), "job", nil)
	require.NoError(t, err)
	place := ports.Place{Namespace: namespace, Branch: "agl/_work/job/" + namespace}
	ws, err := trees.Open(t.Context(), place, head)
	require.NoError(t, err)
	return &line{t, repo, trees, ws.(*mem.Workspace), place, head}
}

// commit writes files ("": removes them), and commits and moves.
func (l *line) commit(files ...string) string {
	l.Helper()
	for i := 0; i < len(files); i += 2 {
		require.NoError(l, l.ws.Remove(l.Context(), files[i]))
		if files[i+1] != "" {
			require.NoError(l, l.ws.WriteFile(l.Context(), files[i], []byte(files[i+1])))
		}
	}
	made, err := l.ws.Commit(l.Context(), ports.CommitSpec{
		Head: l.head, Message: l.place.Namespace + ": " + strings.ReplaceAll(strings.Join(files, " "), "\x00", "NUL"), Identity: "A <a@example.com>", Date: time.Unix(1e9, 0),
	})
	require.NoError(l, err)
	require.NoError(l, l.trees.Move(l.Context(), l.place.Branch, l.head, made.ID))
	l.head = made.ID
	return made.ID
}

func newRepository(files map[string]string) *mem.Repository {
	return mem.NewRepository(mem.NewClock(), files)
}

func TestWhatMemoryCannotTellFromGitIsRefused(t *testing.T) {
	t.Parallel()
	ws := begin(t, newRepository(map[string]string{"README": "x", "dir/file": "x", "Gone": "x"}), "kid", "").ws
	require.NoError(t, ws.Remove(t.Context(), "Gone"))
	for _, path := range []string{
		".gitignore", "deep/.gitattributes", ".gitmodules", ".git", ".git/config", "a/.git/HEAD", ".GIT/config", "a/.Git", "git~1/x",
		".git /x", ".git./x", ".git:stream", ".g\u200cit/config", ".GITIGNORE", `a\b`, "not \xff UTF-8", strings.Repeat("long/", 300) + "x",
		"readme", "Dir/other", "dir/FILE", "gone",
	} {
		err := ws.WriteFile(t.Context(), path, nil)
		require.ErrorIs(t, err, mem.ErrUnsupported, "%q", path)
		require.ErrorIs(t, err, ports.Invalid)
		require.ErrorContains(t, err, "use Options.Git")
	}
	for _, path := range []string{".github/workflows/ci.yml", ".gitkeep", "git", "a.git/x", "-x", "ü", "a b", "Gone", "x\ny", ".gitignore.md", "con"} {
		require.NoError(t, ws.WriteFile(t.Context(), path, nil), "%q", path)
	}
}

func TestWhatNoFileSystemTakesIsAnError(t *testing.T) {
	t.Parallel()
	ws := begin(t, newRepository(map[string]string{"file": "x", "dir/sub/file": "x"}), "kid", "").ws
	for _, path := range []string{
		"", ".", "..", "../x", "/x", "a//b", "a/", "a/./b", "a/../b", "nul\x00", strings.Repeat("x", 256),
		"dir", "dir/sub", "file/x", "dir/sub/file/x/y",
	} {
		err := ws.WriteFile(t.Context(), path, nil)
		require.ErrorIs(t, err, ports.Invalid, "%q", path)
		require.NotErrorIs(t, err, mem.ErrUnsupported, "%q", path)
	}
	require.NoError(t, ws.Remove(t.Context(), "dir/sub/file"))
	require.NoError(t, ws.Remove(t.Context(), "file"))
	require.NoError(t, ws.WriteFile(t.Context(), "dir", nil), "a folder goes with its last file, as git has it")
	require.NoError(t, ws.WriteFile(t.Context(), "file/x", nil))
}

func TestFilesThatCannotBeInARepositoryAreToldByItsCheck(t *testing.T) {
	t.Parallel()
	repo := newRepository(map[string]string{"a": "x", ".gitattributes": "* text", "b": "x", "b/c": "x"})
	err := repo.Check(t.Context())
	require.ErrorIs(t, err, mem.ErrUnsupported)
	require.ErrorContains(t, err, "b/c")
	require.NoError(t, newRepository(nil).Check(t.Context()))
}

func TestRevisionsThatAreExpressionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, rev := range []string{"main~1", "HEAD^", "main@{1}", ":/begin"} {
		_, err := newRepository(nil).Resolve(t.Context(), rev)
		require.ErrorIs(t, err, mem.ErrUnsupported, rev)
	}
}

func TestMerging(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line like many another\n", 10)
	base := []string{"a", "1", "b", "2", "dir/long", long, "dir/other", "x"}
	for name, tc := range map[string]struct {
		ours, theirs []string
		want         map[string]string // beside the base's; "": gone
		conflicts    []ports.ConflictPath
		unsupported  string
	}{
		"nothing changed":           {},
		"one side each":             {ours: []string{"a", "ours"}, theirs: []string{"b", "theirs", "new", "n"}, want: map[string]string{"a": "ours", "b": "theirs", "new": "n"}},
		"removed on one side":       {theirs: []string{"a", ""}, ours: []string{"b", "ours"}, want: map[string]string{"a": "", "b": "ours"}},
		"changed alike":             {ours: []string{"a", "same", "b", "", "n", "n"}, theirs: []string{"a", "same", "b", "", "n", "n"}, want: map[string]string{"a": "same", "b": "", "n": "n"}},
		"changed differently":       {ours: []string{"a", "ours"}, theirs: []string{"a", "theirs"}, want: map[string]string{"a": "ours"}, conflicts: []ports.ConflictPath{{Path: "a", Kind: "content"}}},
		"added differently":         {ours: []string{"n", "ours"}, theirs: []string{"n", "theirs"}, want: map[string]string{"n": "ours"}, conflicts: []ports.ConflictPath{{Path: "n", Kind: "add/add"}}},
		"removed by us":             {ours: []string{"a", ""}, theirs: []string{"a", "theirs"}, want: map[string]string{"a": "theirs"}, conflicts: []ports.ConflictPath{{Path: "a", Kind: "delete/modify"}}},
		"removed by them":           {ours: []string{"a", "ours"}, theirs: []string{"a", ""}, want: map[string]string{"a": "ours"}, conflicts: []ports.ConflictPath{{Path: "a", Kind: "delete/modify"}}},
		"several":                   {ours: []string{"a", "ours", "b", ""}, theirs: []string{"b", "theirs", "a", "theirs"}, want: map[string]string{"a": "ours", "b": "theirs"}, conflicts: []ports.ConflictPath{{Path: "a", Kind: "content"}, {Path: "b", Kind: "delete/modify"}}},
		"renamed, untouched":        {ours: []string{"dir/long", "", "moved", long}, theirs: []string{"a", "theirs"}, want: map[string]string{"dir/long": "", "moved": long, "a": "theirs"}},
		"renamed and touched":       {ours: []string{"dir/long", "", "moved", long}, theirs: []string{"dir/long", long + "more\n"}, unsupported: "dir/long may have been renamed to moved"},
		"touched and renamed":       {theirs: []string{"dir/long", "", "moved", long + "more\n"}, ours: []string{"dir/long", "short"}, unsupported: "renamed"},
		"renamed and removed":       {ours: []string{"dir/long", "", "moved", long}, theirs: []string{"dir/long", ""}, unsupported: "renamed"},
		"into a renamed folder":     {ours: []string{"dir/long", "", "d2/long", long, "dir/other", "", "d2/other", "x"}, theirs: []string{"dir/new", "new"}, unsupported: "renamed"},
		"removed and another added": {ours: []string{"dir/long", "", "moved", "quite another thing\n"}, theirs: []string{"dir/long", long + "more\n"}, want: map[string]string{"dir/long": long + "more\n", "moved": "quite another thing\n"}, conflicts: []ports.ConflictPath{{Path: "dir/long", Kind: "delete/modify"}}},
		"a file where a folder is":  {ours: []string{"n", "ours"}, theirs: []string{"n/file", "theirs"}, unsupported: "clash"},
		"names that differ in case": {ours: []string{"n", "ours"}, theirs: []string{"N", "theirs"}, unsupported: "case"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := newRepository(nil)
			first := begin(t, repo, "first", "").commit(base...)
			ours, theirs := begin(t, repo, "ours", first), begin(t, repo, "theirs", first)
			ours.commit(tc.ours...)
			theirs.commit(tc.theirs...)
			got, err := repo.Merge(ours.head, theirs.head)
			if tc.unsupported != "" {
				require.ErrorIs(t, err, mem.ErrUnsupported)
				require.ErrorContains(t, err, tc.unsupported)
				return
			}
			require.NoError(t, err)
			want := repo.Files(first)
			for path, text := range tc.want {
				if want[path] = text; text == "" {
					delete(want, path)
				}
			}
			if diff := cmp.Diff(want, got.Files); diff != "" {
				t.Errorf("the merged files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.conflicts, got.Conflicts); diff != "" {
				t.Errorf("the conflicts (-want +got):\n%s", diff)
			}
			require.Equal(t, first, got.Base)
		})
	}
}

func TestMergingAnAncestorGivesTheOther(t *testing.T) {
	t.Parallel()
	repo := newRepository(map[string]string{"a": "1"})
	l := begin(t, repo, "kid", "")
	first, second := l.head, l.commit("a", "2")
	tree, err := repo.Tree(t.Context(), second)
	require.NoError(t, err)
	for _, pair := range [][2]string{{first, second}, {second, first}, {second, second}} {
		m, err := repo.Merge(pair[0], pair[1])
		require.NoError(t, err)
		require.Equal(t, tree, m.Tree)
	}
	_, err = repo.Merge(second, strings.Repeat("0", 40))
	require.ErrorIs(t, err, ports.NotFound)
}

func TestACrissCrossIsRefused(t *testing.T) {
	t.Parallel()
	repo := newRepository(nil)
	a, b := begin(t, repo, "a", ""), begin(t, repo, "b", "")
	a.commit("a", "1")
	b.commit("b", "1")
	m, err := repo.Merge(a.head, b.head)
	require.NoError(t, err)
	one := repo.CommitMerge(m, a.head, b.head, "one", "A <a@example.com>", time.Unix(1e9, 0))
	two := repo.CommitMerge(m, b.head, a.head, "two", "A <a@example.com>", time.Unix(1e9, 0))
	_, err = repo.Merge(one, two)
	require.ErrorIs(t, err, mem.ErrUnsupported)
	m, err = repo.Merge(one, a.head)
	require.NoError(t, err)
	require.Equal(t, a.head, m.Base)
}

func TestAPowerCutLosesWhatNoCommitHas(t *testing.T) {
	t.Parallel()
	repo := newRepository(map[string]string{"a": "1"})
	l := begin(t, repo, "kid", "")
	require.NoError(t, l.ws.WriteFile(t.Context(), "a", []byte("salvaged")))
	_, err := l.ws.PutBack(t.Context(), l.head, "before")
	require.NoError(t, err)
	made := l.commit("a", "2")
	require.NoError(t, l.trees.Keep(t.Context(), "kept", made))
	require.NoError(t, l.ws.WriteFile(t.Context(), "a", []byte("lost")))
	require.NoError(t, l.ws.WriteFile(t.Context(), "new", []byte("lost")))
	tree := l.ws.Tree()
	repo.PowerCut()
	changes, err := l.ws.Inspect(t.Context(), made)
	require.NoError(t, err)
	require.True(t, changes.Clean(made), "%+v", changes)
	data, err := fs.ReadFile(tree, "a")
	require.NoError(t, err)
	require.Equal(t, "2", string(data))
	require.True(t, repo.Reachable(made))
	list, err := repo.Salvaged(t.Context(), "job")
	require.NoError(t, err)
	require.Len(t, list, 1)
}

func TestCommitsAreListedFromTheOldest(t *testing.T) {
	t.Parallel()
	repo := newRepository(map[string]string{"a": "1"})
	a, b := begin(t, repo, "a", ""), begin(t, repo, "b", "")
	base := a.head
	first := a.commit("a", "2", "new", "x")
	second := a.commit("a", "", "dir/b", "x")
	aside := b.commit("c", "x")
	m, err := repo.Merge(second, aside)
	require.NoError(t, err)
	merge := repo.CommitMerge(m, second, aside, "merge", "A <a@example.com>", time.Unix(1e9, 0))
	commits, err := repo.Commits(base, merge)
	require.NoError(t, err)
	var ids []string
	var paths [][]string
	for _, c := range commits {
		ids = append(ids, c.ID)
		paths = append(paths, c.Paths)
	}
	require.Equal(t, []string{first, second, aside, merge}, ids)
	require.Equal(t, [][]string{{"a", "new"}, {"a", "dir/b"}, {"c"}, {"c"}}, paths)
	require.Equal(t, "a: a 2 new x", commits[0].Message)
	all, err := repo.Commits("", first)
	require.NoError(t, err)
	require.Len(t, all, 2)
	_, err = repo.Commits(base, strings.Repeat("0", 40))
	require.ErrorIs(t, err, ports.NotFound)
}

func TestARepositoryIsTheSameAfterItWasExported(t *testing.T) {
	t.Parallel()
	repo := newRepository(map[string]string{"a": "1", "bin": "\xff\x00", "empty": ""})
	l := begin(t, repo, "kid", "")
	require.NoError(t, l.ws.WriteFile(t.Context(), "a", []byte("salvaged")))
	_, err := l.ws.PutBack(t.Context(), l.head, "before — ü")
	require.NoError(t, err)
	l.commit("a", "2", "new", "\xff")
	require.NoError(t, l.trees.Keep(t.Context(), "kept", l.head))
	require.NoError(t, l.ws.WriteFile(t.Context(), "a", []byte("dirty")))
	doc, err := repo.Export()
	require.NoError(t, err)
	copied, err := mem.ImportRepository(mem.NewClock(), doc)
	require.NoError(t, err)
	again, err := copied.Export()
	require.NoError(t, err)
	require.True(t, bytes.Equal(doc, again))

	k := begin(t, copied, "kid", l.head)
	data, err := fs.ReadFile(k.ws.Tree(), "a")
	require.NoError(t, err)
	require.Equal(t, "dirty", string(data))
	require.NoError(t, k.ws.WriteFile(t.Context(), "a", []byte("of the copy alone")))
	data, err = fs.ReadFile(l.ws.Tree(), "a")
	require.NoError(t, err)
	require.Equal(t, "dirty", string(data))
	list, err := copied.Salvaged(t.Context(), "job")
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.ErrorIs(t, k.trees.Keep(t.Context(), "kept", list[0].Commit), ports.Conflicted)
}

func FuzzImportedRepositories(f *testing.F) {
	repo := newRepository(map[string]string{"a": "1"})
	doc, err := repo.Export()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Add([]byte(`{"blobs":{},"trees":{"x":{"a":"gone"}},"commits":{"x":{"tree":"y"}}}`))
	f.Add([]byte(`{}`))
	f.Add(bytes.Repeat([]byte("["), 20_000))
	f.Fuzz(func(t *testing.T, doc []byte) {
		repo, err := mem.ImportRepository(mem.NewClock(), doc)
		if err != nil {
			require.ErrorIs(t, err, ports.Unexpected)
			return
		}
		again, err := repo.Export()
		require.NoError(t, err)
		_, err = mem.ImportRepository(mem.NewClock(), again)
		require.NoError(t, err)
	})
}

func TestAClearedCheckoutIsGone(t *testing.T) {
	t.Parallel()
	l := begin(t, newRepository(map[string]string{"a": "1"}), "kid", "")
	_, err := l.trees.Clear(t.Context(), map[string]string{l.place.Branch: l.head})
	require.NoError(t, err)
	require.ErrorIs(t, l.ws.WriteFile(t.Context(), "a", nil), ports.NotFound)
	_, err = l.ws.PutBack(t.Context(), l.head, "late")
	require.ErrorIs(t, err, ports.NotFound)
}

// What git takes for a rename, here seen to be one: it decides by that what
// memory would merge by path.
func TestARenameThatGitWouldSeeIsRefused(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a line of a file that moves\n", 20)
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	for name, c := range map[string]struct {
		file         string
		ours, theirs []string
	}{
		"of a folder above the file's": {text, []string{"old/sub/a", "", "new/sub/a", text}, []string{"old/b", "added\n"}},
		"with other ends of lines":     {crlf, []string{"old/sub/a", "", "other", text}, []string{"old/sub/a", crlf + "more\r\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := newRepository(map[string]string{"old/sub/a": c.file, "k": "k"})
			ours, theirs := begin(t, repo, "ours", "").commit(c.ours...), begin(t, repo, "theirs", "").commit(c.theirs...)
			for _, sides := range [][2]string{{ours, theirs}, {theirs, ours}} {
				_, err := repo.Merge(sides[0], sides[1])
				require.ErrorIs(t, err, mem.ErrUnsupported)
			}
		})
	}
	repo := newRepository(map[string]string{"old/sub/a": text, "old/stays": "x", "k": "k"})
	ours, theirs := begin(t, repo, "ours", "").commit("old/sub/a", "", "new/sub/a", text), begin(t, repo, "theirs", "").commit("old/b", "added\n")
	m, err := repo.Merge(ours, theirs)
	require.NoError(t, err, "the folder is still there")
	require.Empty(t, m.Conflicts)
}

func TestARefIsFoundByTheEndOfItsName(t *testing.T) {
	t.Parallel()
	repo := newRepository(map[string]string{"a": "a"})
	want, err := repo.Resolve(t.Context(), "main")
	require.NoError(t, err)
	for _, rev := range []string{"heads/main", "refs/heads/main"} {
		got, err := repo.Resolve(t.Context(), rev)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
