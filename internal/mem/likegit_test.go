package mem_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/agl/adapters/git"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A twin is a repository in memory and a real one, to which the same is done.
type twin struct {
	testing.TB
	script []byte // what is left of it
	said   []string

	mem  *mem.Repository
	git  *git.Repo
	home *gittest.Repo

	memTrees, gitTrees ports.Worktrees
	places             []*twinPlace

	commits []string          // in memory, in the order in which they came up
	real    map[string]string // of a commit or tree in memory: its id in git
	fake    map[string]string // and back
}

type twinPlace struct {
	ports.Place
	mem *mem.Workspace // nil: it is not open
	git ports.Workspace
}

var twinPaths = []string{
	"a.txt", "dir/b.txt", "dir/sub/c", "new.txt", "dir", "a.txt/x", "dir2/b.txt", "dir/b2.txt", "new dir/ü\n.txt", "-d", "*.txt", `"q"`,
	":(top)x", "A.TXT", ".gitignore", "dir/.git/config", "dir/sub", "",
}

var twinTexts = []string{
	"", "one\n", "two\n", "\x00\xff\r\n", "no newline",
	strings.Repeat("a line of a longer file\n", 9), strings.Repeat("a line of a longer file\n", 8) + "and another end\n",
	"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "a\r\nb\r\n",
}

var twinWords = []string{"because", "", " subject\n\nbody \n\n", "# it\n", "two\nlines — ü", `"quoted"`}

const twinLabel = "twin"

func newTwin(t testing.TB, script []byte) *twin {
	files := map[string]string{"a.txt": "one\n", "dir/b.txt": twinTexts[7], "dir/sub/c": twinTexts[5]}
	home := gittest.New(t, files)
	repo, err := git.Open(t.Context(), git.Options{
		Repo: home.Dir, Trees: filepath.Join(filepath.Dir(home.Dir), "trees"), SalvageDir: filepath.Join(filepath.Dir(home.Dir), "salvage"), Env: home.Env,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &twin{
		TB: t, script: script, git: repo, home: home, mem: mem.NewRepository(mem.NewClock(), files), real: map[string]string{}, fake: map[string]string{},
		places: []*twinPlace{
			{Place: ports.Place{Namespace: ports.Base, Branch: "agl/" + twinLabel}},
			{Place: ports.Place{Namespace: "kid", Branch: "agl/_work/" + twinLabel + "/kid"}},
		},
	}
	at, err := w.mem.Resolve(t.Context(), "main")
	real, realErr := w.git.Resolve(t.Context(), "main")
	w.sameError(err, realErr)
	w.commit(at, real)
	w.attach()
	return w
}

// next returns a number below n from the script, 0 when it is over.
func (w *twin) next(n int) int {
	if len(w.script) == 0 {
		return 0
	}
	b := w.script[0]
	w.script = w.script[1:]
	return int(b) % n
}

func pick[T any](w *twin, of []T) T { return of[w.next(len(of))] }

// do writes down what is done, for a failure.
func (w *twin) do(format string, args ...any) { w.said = append(w.said, fmt.Sprintf(format, args...)) }

func (w *twin) fail(format string, args ...any) {
	w.Helper()
	w.Fatalf("%s\nafter:\n%s", fmt.Sprintf(format, args...), strings.Join(w.said, "\n"))
}

func (w *twin) same(what string, inMem, inGit any) {
	w.Helper()
	if diff := cmp.Diff(inGit, inMem, cmpopts.EquateEmpty()); diff != "" {
		w.fail("%s (-git +memory):\n%s", what, diff)
	}
}

// sameError compares the kinds of two errors, and reports whether there are
// none.
func (w *twin) sameError(inMem, inGit error) bool {
	w.Helper()
	if (inMem == nil) != (inGit == nil) || ports.KindOf(inMem) != ports.KindOf(inGit) {
		w.fail("the errors differ:\nmemory: %v\n   git: %v", inMem, inGit)
	}
	return inMem == nil
}

// learn takes down that two ids are of the same thing.
func (w *twin) learn(inMem, inGit string) {
	w.Helper()
	real, known := w.real[inMem]
	fake, knownBack := w.fake[inGit]
	if known != knownBack || known && (real != inGit || fake != inMem) {
		w.fail("in memory it is %s, which is %q in git; there it is %s, which is %q in memory", inMem, real, inGit, fake)
	}
	if inMem != "" && !known {
		w.real[inMem], w.fake[inGit] = inGit, inMem
	}
}

// commit takes down that two commits are the same.
func (w *twin) commit(inMem, inGit string) {
	w.Helper()
	w.learn(inMem, inGit)
	if inMem != "" && !slices.Contains(w.commits, inMem) {
		w.commits = append(w.commits, inMem)
	}
}

func (w *twin) attach() {
	var err, realErr error
	w.memTrees, err = w.mem.Attach(w.Context(), twinLabel, nil)
	w.gitTrees, realErr = w.git.Attach(w.Context(), twinLabel, noLock{})
	w.sameError(err, realErr)
}

type noLock struct{}

func (noLock) Files() []*os.File { return nil }
func (noLock) Release() error    { return nil }

// at returns where a place's branch is, in memory.
func (w *twin) at(p *twinPlace) string {
	at, err := w.mem.Branch(w.Context(), p.Branch)
	real, realErr := w.git.Branch(w.Context(), p.Branch)
	if w.sameError(err, realErr) {
		w.commit(at, real)
	}
	return at
}

// some returns a commit: most often that of a place's branch.
func (w *twin) some(p *twinPlace) string {
	n := w.next(4 + len(w.commits))
	if at := w.at(p); n < 4 && at != "" {
		return at
	}
	return w.commits[max(n-4, 0)]
}

// play does what the script says, up to a number of things.
func (w *twin) play() {
	merging := w.next(3) == 1
	for range 30 {
		if len(w.script) == 0 {
			break
		}
		if merging {
			w.oneForMerges()
		} else {
			w.one()
		}
		for _, p := range w.places {
			w.at(p)
			if p.mem != nil {
				w.same("the files of "+p.Namespace, w.read(p.mem.Tree()), w.read(p.git.Tree()))
			}
		}
	}
	w.salvaged()
	for i, id := range w.commits {
		message, err := w.mem.Message(w.Context(), id)
		real, realErr := w.git.Message(w.Context(), w.real[id])
		if w.sameError(err, realErr) && !strings.HasPrefix(real, "salvage of ") && message != "begin" {
			w.same("a message", message, real)
		}
		if other := w.commits[len(w.commits)-1]; i < 4 {
			contains, err := w.mem.Contains(w.Context(), id, other)
			real, realErr := w.git.Contains(w.Context(), w.real[id], w.real[other])
			w.sameError(err, realErr)
			w.same("whether "+other+" contains "+id, contains, real)
		}
	}
}

func (w *twin) one() {
	p := pick(w, w.places)
	if p.mem == nil {
		w.open(p)
		return
	}
	switch w.next(16) {
	case 0, 1, 2, 3:
		w.write(p)
	case 4:
		w.remove(p)
	case 5:
		w.inspect(p)
	case 6, 7:
		w.commitAll(p)
	case 8, 9:
		w.putBack(p)
	case 10:
		w.move(p)
	case 11:
		w.keep(p)
	case 12:
		w.clear()
	case 13:
		w.open(p)
	case 14:
		w.merge(p)
	case 15:
		switch w.next(3) {
		case 0:
			w.drop()
		case 1:
			w.salvaged()
		case 2:
			w.reimport()
		}
	}
}

// oneForMerges is one for scripts that make branches apart from each other.
func (w *twin) oneForMerges() {
	p := pick(w, w.places)
	if p.mem == nil {
		w.open(p)
		return
	}
	switch w.next(7) {
	case 0, 1, 2:
		w.write(p)
	case 3:
		w.remove(p)
	case 4, 5:
		w.commitAll(p)
	case 6:
		w.merge(p)
	}
}

func (w *twin) open(p *twinPlace) {
	head := w.some(p)
	w.do("open %s at %.7s", p.Namespace, head)
	ws, err := w.memTrees.Open(w.Context(), p.Place, head)
	real, realErr := w.gitTrees.Open(w.Context(), p.Place, w.real[head])
	if w.sameError(err, realErr) {
		p.mem, p.git = ws.(*mem.Workspace), real
	}
}

func (w *twin) write(p *twinPlace) {
	path, text := pick(w, twinPaths), pick(w, twinTexts)
	w.do("write %q in %s: %.20q", path, p.Namespace, text)
	err := p.mem.WriteFile(w.Context(), path, []byte(text))
	if errors.Is(err, mem.ErrUnsupported) {
		return
	}
	w.sameError(err, p.git.WriteFile(w.Context(), path, []byte(text)))
}

func (w *twin) remove(p *twinPlace) {
	path := pick(w, twinPaths)
	w.do("remove %q in %s", path, p.Namespace)
	err := p.mem.Remove(w.Context(), path)
	if errors.Is(err, mem.ErrUnsupported) {
		return
	}
	w.sameError(err, p.git.Remove(w.Context(), path))
}

func (w *twin) inspect(p *twinPlace) {
	w.do("inspect %s", p.Namespace)
	changes, err := p.mem.Inspect(w.Context(), w.at(p))
	real, realErr := p.git.Inspect(w.Context(), w.real[w.at(p)])
	if w.sameError(err, realErr) {
		real.Head = w.fake[real.Head]
		w.same("the changes", changes, real)
	}
}

func (w *twin) commitAll(p *twinPlace) {
	head, old := w.some(p), w.at(p)
	spec := ports.CommitSpec{
		Head: head, Message: pick(w, twinWords), Identity: "Rob Robot <rob@example.com>",
		Date: time.Date(2024, 5, 6, 7, 8, w.next(2), 0, time.FixedZone("", 3600)),
	}
	moves := w.next(4) > 0
	w.do("commit %s on %.7s, %q, and move: %v", p.Namespace, head, spec.Message, moves)
	made, err := p.mem.Commit(w.Context(), spec)
	spec.Head = w.real[head]
	real, realErr := p.git.Commit(w.Context(), spec)
	if !w.sameError(err, realErr) {
		return
	}
	w.commit(made.ID, real.ID)
	w.learn(made.Tree, real.Tree)
	w.same("whether there was something to commit", !made.Empty, !real.Empty)
	w.same("how much there is to say", len(made.Notes), len(real.Notes))
	if moves {
		if now := w.at(p); now != "" {
			old = now
		}
		w.sameError(w.memTrees.Move(w.Context(), p.Branch, old, made.ID), w.gitTrees.Move(w.Context(), p.Branch, w.real[old], real.ID))
	}
}

func (w *twin) putBack(p *twinPlace) {
	head, reason := w.some(p), pick(w, twinWords)
	w.do("put %s back to %.7s", p.Namespace, head)
	done, err := p.mem.PutBack(w.Context(), head, reason)
	real, realErr := p.git.PutBack(w.Context(), w.real[head], reason)
	if w.sameError(err, realErr) {
		if (done.Salvage != nil) != (real.Salvage != nil) {
			w.fail("only one has something to salvage:\nmemory: %+v\n   git: %+v", done.Salvage, real.Salvage)
		}
		w.same("the notes", done.Notes, real.Notes)
		if done.Salvage != nil {
			w.salvage(*done.Salvage, *real.Salvage)
		}
	}
}

func (w *twin) salvage(s, real ports.Salvage) {
	w.Helper()
	w.commit(s.Commit, real.Commit)
	w.commit(s.Index, real.Index)
	for i, id := range real.Commits {
		real.Commits[i] = w.fake[id]
	}
	s.Commits = slices.Clone(s.Commits)
	slices.Sort(s.Commits)
	slices.Sort(real.Commits)
	if head, id, ok := cutLast(real.Reason, " not on top of "); ok {
		real.Reason = head + " not on top of " + w.fake[id]
	}
	real.Commit, real.Index, real.Made = s.Commit, s.Index, s.Made
	w.same("the salvage", s, real)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func (w *twin) salvaged() {
	w.do("list the salvage")
	list, err := w.mem.Salvaged(w.Context(), twinLabel)
	real, realErr := w.git.Salvaged(w.Context(), twinLabel)
	w.sameError(err, realErr)
	w.lists(list, real)
	for _, s := range list {
		dir := w.TempDir()
		err := w.mem.WriteSalvage(w.Context(), twinLabel, s.N, filepath.Join(dir, "mem"))
		realErr := w.git.WriteSalvage(w.Context(), twinLabel, s.N, filepath.Join(dir, "git"))
		if w.sameError(err, realErr) {
			w.same("the files of a salvage", w.read(os.DirFS(filepath.Join(dir, "mem"))), w.read(os.DirFS(filepath.Join(dir, "git"))))
		}
	}
}

func (w *twin) lists(list, real []ports.Salvage) {
	w.Helper()
	if len(list) != len(real) {
		w.fail("there are %d salvages in memory and %d in git: %+v %+v", len(list), len(real), list, real)
	}
	for i := range list {
		w.salvage(list[i], real[i])
	}
}

func (w *twin) drop() {
	n := w.next(4)
	w.do("drop salvage %d", n)
	w.sameError(w.mem.DropSalvage(w.Context(), twinLabel, n), w.git.DropSalvage(w.Context(), twinLabel, n))
}

func (w *twin) move(p *twinPlace) {
	old, to := w.some(p), w.some(p)
	w.do("move %s from %.7s to %.7s", p.Namespace, old, to)
	w.sameError(w.memTrees.Move(w.Context(), p.Branch, old, to), w.gitTrees.Move(w.Context(), p.Branch, w.real[old], w.real[to]))
}

func (w *twin) keep(p *twinPlace) {
	name, commit := pick(w, []string{"x", "y", "z.", "A_1"}), w.some(p)
	w.do("keep %.7s as %s", commit, name)
	w.sameError(w.memTrees.Keep(w.Context(), name, commit), w.gitTrees.Keep(w.Context(), name, w.real[commit]))
}

func (w *twin) clear() {
	branches, real := map[string]string{}, map[string]string{}
	for _, p := range w.places {
		branches[p.Branch] = w.some(p)
		real[p.Branch] = w.real[branches[p.Branch]]
	}
	w.do("clear %v", branches)
	cleared, err := w.memTrees.Clear(w.Context(), branches)
	realCleared, realErr := w.gitTrees.Clear(w.Context(), real)
	if !w.sameError(err, realErr) {
		return
	}
	for i, tip := range realCleared.Tips {
		realCleared.Tips[i].Commit = w.fake[tip.Commit]
	}
	w.same("the branches that were cleared", cleared.Branches, realCleared.Branches)
	w.same("where they were", cleared.Tips, realCleared.Tips)
	w.same("how many checkouts were removed", len(cleared.Worktrees), len(realCleared.Worktrees))
	w.lists(cleared.Salvage, realCleared.Salvage)
	for _, p := range w.places {
		p.mem, p.git = nil, nil
		there, err := w.memTrees.Exists(w.Context(), p.Namespace)
		realThere, realErr := w.gitTrees.Exists(w.Context(), p.Namespace)
		w.sameError(err, realErr)
		w.same("whether there is a checkout", there, realThere)
	}
}

// reimport goes on with a copy of the repository in memory.
func (w *twin) reimport() {
	w.do("export and import")
	doc, err := w.mem.Export()
	if err != nil {
		w.fail("%v", err)
	}
	if w.mem, err = mem.ImportRepository(mem.NewClock(), doc); err != nil {
		w.fail("%v", err)
	}
	w.attach()
	for _, p := range w.places {
		if p.mem != nil {
			ws, err := w.memTrees.Open(w.Context(), p.Place, w.at(p))
			if err != nil {
				w.fail("%v", err)
			}
			p.mem = ws.(*mem.Workspace)
		}
	}
}

func (w *twin) merge(p *twinPlace) {
	ours, theirs := w.some(w.places[0]), w.some(w.places[1])
	if p == w.places[1] {
		ours, theirs = theirs, ours
	}
	w.do("merge %.7s and %.7s", ours, theirs)
	m, err := w.mem.Merge(ours, theirs)
	if errors.Is(err, mem.ErrUnsupported) {
		return
	}
	if err != nil {
		w.fail("%v", err)
	}
	paths := make([]string, len(m.Conflicts))
	for i, c := range m.Conflicts {
		paths[i] = c.Path
		base, a, b := w.mem.Files(m.Base), w.mem.Files(ours), w.mem.Files(theirs)
		if differs(base, a, c.Path) && differs(base, b, c.Path) && differs(a, b, c.Path) {
			continue
		}
		w.fail("%s is in conflict (%s) and was not changed by both", c.Path, c.Kind)
	}
	tree, conflicts := w.mergeTree(w.real[ours], w.real[theirs])
	for _, path := range conflicts {
		if !slices.Contains(paths, path) {
			w.fail("git has a conflict at %q, and in memory there are %v", path, m.Conflicts)
		}
	}
	if len(paths) > 0 {
		return
	}
	want := map[string]string{}
	for path, text := range m.Files {
		want[path] = fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
	}
	got := map[string]string{}
	for line := range strings.SplitSeq(w.home.Git("ls-tree", "-r", "-z", tree), "\x00") {
		if head, path, ok := strings.Cut(line, "\t"); ok {
			got[path] = strings.Fields(head)[2]
		}
	}
	w.same("the merged files", want, got)
	w.learn(m.Tree, tree)
	date := time.Date(2024, 5, 6, 7, 8, 0, 0, time.UTC)
	id := w.mem.CommitMerge(m, ours, theirs, "merge\n", "Tess Ter <tess@example.com>", date)
	cmd := exec.Command("git", "commit-tree", tree, "-p", w.real[ours], "-p", w.real[theirs], "-m", "merge")
	cmd.Dir, cmd.Env = w.home.Dir, append(w.home.Env, "GIT_AUTHOR_DATE=@1714979280 +0000", "GIT_COMMITTER_DATE=@1714979280 +0000")
	out, err := cmd.Output()
	if err != nil {
		w.fail("%v", err)
	}
	if ours != theirs {
		w.commit(id, strings.TrimSpace(string(out)))
	}
}

func differs(a, b map[string]string, path string) bool {
	textA, inA := a[path]
	textB, inB := b[path]
	return inA != inB || textA != textB
}

// mergeTree has git merge two commits.
func (w *twin) mergeTree(ours, theirs string) (tree string, conflicts []string) {
	cmd := exec.Command("git", "merge-tree", "--write-tree", "-z", "--name-only", ours, theirs)
	cmd.Dir, cmd.Env = w.home.Dir, w.home.Env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		w.fail("git merge-tree: %v\n%s", err, stderr.String())
	}
	told, _, _ := strings.Cut(string(out), "\x00\x00")
	parts := strings.Split(strings.TrimRight(told, "\x00"), "\x00")
	return parts[0], parts[1:]
}

// read returns the files of a tree.
func (w *twin) read(tree fs.FS) map[string]string {
	w.Helper()
	files := map[string]string{}
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			files[path] = "a folder" // an empty one is a difference too
			return nil
		}
		data, err := fs.ReadFile(tree, path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		w.fail("%v", err)
	}
	for path, text := range files {
		if text == "a folder" {
			delete(files, path)
			if !hasBelow(files, path) && path != "." {
				files[path+"/"] = "an empty folder"
			}
		}
	}
	return files
}

func hasBelow(files map[string]string, dir string) bool {
	for path := range files {
		if strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

// FuzzTheFakeRepositoryIsLikeGit does the same to a repository in memory and
// to a real one, and compares whatever can be seen of them.
func FuzzTheFakeRepositoryIsLikeGit(f *testing.F) {
	for n := range uint64(6) {
		f.Add(randomScript(n))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		newTwin(boundTB{t, ctx}, script).play()
	})
}

// A boundTB is a test whose context has a deadline.
type boundTB struct {
	testing.TB
	ctx context.Context
}

func (t boundTB) Context() context.Context { return t.ctx }

// randomScript returns the n-th of many scripts. Bytes are a place, what to do
// there, and with what.
func randomScript(n uint64) []byte {
	random := rand.New(rand.NewPCG(n, n))
	script := make([]byte, 120)
	for i := range script {
		script[i] = byte(random.Uint32())
	}
	return script
}
