package porttest

import (
	"slices"
	"strings"
	"testing"

	"example.com/agl/ports"
)

// IntegratorOptions say how to get at the implementation to be graded. New is
// required.
type IntegratorOptions struct {
	// New returns a repository, with its Integrator, whose trunk has one commit
	// of files, and which shares nothing with any other.
	New func(t testing.TB, files map[string]string) Repository

	CrissCross bool // commits with several merge bases are merged
	Renames    bool // a file that one side renamed takes the other's changes
	Modes      bool // checkouts have executable files
	Ignored    bool // .gitignore is obeyed
}

// Integrator grades an implementation of ports.Integrator, and what its
// repository's Workspaces make of a checkout that holds a merge. Each rule of
// their contract is a parallel subtest.
func Integrator(t *testing.T, opts IntegratorOptions) {
	t.Helper()
	grade(t, integratorRules(), opts.subject)
}

// landsite is what the rules of Integrator are checked on.
type landsite struct {
	*site
	opts IntegratorOptions
}

func (o IntegratorOptions) subject(t testing.TB) *landsite {
	r := o.New(t, firstFiles)
	if r.Integrator == nil {
		t.Fatal("IntegratorOptions.New returned a Repository without an Integrator")
	}
	return &landsite{newSite(t, r), o}
}

func integratorRules() []rule[*landsite] {
	return slices.Concat(mergeRules, conflictRules, heldRules, resolveRules, settleRules, snapshotRules, mergeCommitRules, concludeRules, endRules, crashRules, landingRules)
}

// A landing is one of a namespace's commits into the checkout of another.
type landing struct {
	*landsite
	ws   ports.Workspace // the checkout that it is landed in
	into string          // its namespace
	spec ports.MergeSpec
}

// landing returns that of a commit of a namespace into the checkout ws of
// another, which is at head.
func (s *landsite) landing(ws ports.Workspace, into, head, namespace, theirs string) *landing {
	return &landing{s, ws, into, ports.MergeSpec{Head: head, Theirs: theirs, Branch: place(namespace).Branch, Into: place(into).Branch}}
}

// diverge returns the landing of "kid" into the run's own, each of which has
// made one commit from the first: pairs of path and content, or "gone" for a
// path that it removes.
func (s *landsite) diverge(c *check, ours, theirs []string) *landing {
	ws := s.open(c, ports.Base, s.base)
	head := s.change(c, ports.Base, ws, s.base, ours...)
	kid := s.change(c, "kid", s.open(c, "kid", s.base), s.base, theirs...)
	return s.landing(ws, ports.Base, head, "kid", kid)
}

// gone is the content of a file that change removes.
const gone = "gone"

// change is step, which also removes files.
func (s *landsite) change(c *check, namespace string, ws ports.Workspace, head string, files ...string) string {
	var written []string
	for i := 0; i < len(files); i += 2 {
		if files[i+1] == gone {
			s.remove(c, ws, files[i])
		} else {
			written = append(written, files[i], files[i+1])
		}
	}
	if len(files) == 0 {
		return head
	}
	return s.step(c, namespace, ws, head, written...)
}

// apart is the landing of changes that do not meet; together they are merged.
func (s *landsite) apart(c *check) *landing {
	return s.diverge(c,
		[]string{"a.txt", "ours\n", "ours.txt", "of ours\n"},
		[]string{"dir/sub/c.bin", "\x00theirs", "dir/new.txt", "of theirs", "empty", gone})
}

var mergedFiles = without(with(firstFiles, "a.txt", "ours\n", "ours.txt", "of ours\n", "dir/sub/c.bin", "\x00theirs", "dir/new.txt", "of theirs"), "empty")

// What the two sides of clash change.
var (
	clashOfOurs   = []string{"a.txt", "ours\n", "new.txt", "new of ours\n", "dir/b.txt", gone, "ours.txt", "of ours\n"}
	clashOfTheirs = []string{"a.txt", "theirs\n", "new.txt", "new of theirs\n", "dir/b.txt", "two\nfour\n", "theirs.txt", "of theirs\n"}
)

// clash is the landing of changes that meet in three files.
func (s *landsite) clash(c *check) *landing { return s.diverge(c, clashOfOurs, clashOfTheirs) }

var clashes = []ports.ConflictPath{
	{Path: "a.txt", Kind: ports.ConflictContent}, {Path: "dir/b.txt", Kind: ports.ConflictDeleteModify}, {Path: "new.txt", Kind: ports.ConflictAddAdd},
}

// answer resolves the conflicts of clash as a person would, and does more.
var answer = []string{"a.txt", "both\r\n\x00\xff", "new.txt", "> <<<<<<< of both\n", "theirs.txt", "changed too\n", "added by hand", "x"}

// resolvedFiles are the files then.
var resolvedFiles = with(without(firstFiles, "dir/b.txt"), append([]string{"ours.txt", "of ours\n"}, answer...)...)

// typed writes that resolution into the checkout.
func (l *landing) typed(c *check) {
	l.write(c, l.ws, answer...)
	l.remove(c, l.ws, "dir/b.txt")
}

// answer writes that resolution into the checkout, and takes it.
func (l *landing) answer(c *check) ports.Merge {
	l.typed(c)
	return l.taken(c)
}

// taken takes that resolution, or ends the rule.
func (l *landing) taken(c *check) ports.Merge {
	c.Helper()
	m := l.resolve(c, clashes)
	if len(m.Conflicts) != 0 || m.Tree == "" {
		c.Fatalf("the resolution is not taken: %+v", m)
	}
	return m
}

// merge merges, or ends the rule.
func (l *landing) merge(c *check) ports.Merge {
	c.Helper()
	m, err := l.Integrator.Merge(c.Context(), l.ws, l.spec)
	c.must(err, "merging")
	if m.Blocked || (m.Tree == "") != (len(m.Conflicts) > 0) {
		c.Fatalf("merging: it has a tree or conflicts, and nothing is in the way: %+v", m)
	}
	return m
}

// merged merges what does not meet, or ends the rule.
func (l *landing) merged(c *check) ports.Merge {
	c.Helper()
	m := l.merge(c)
	if len(m.Conflicts) > 0 {
		c.Fatalf("merging: there are conflicts: %+v", m.Conflicts)
	}
	return m
}

// held fails the rule unless the checkout holds this of the merge.
func (l *landing) held(c *check, want ports.Hold, when string) {
	c.Helper()
	got, err := l.Integrator.Held(c.Context(), l.ws, l.spec)
	c.must(err, "asking what is held")
	if got != want {
		c.Errorf("%s: the checkout holds %q, want %q", when, got, want)
	}
}

// resolve takes the resolution, or ends the rule.
func (l *landing) resolve(c *check, were []ports.ConflictPath) ports.Merge {
	c.Helper()
	m, err := l.Integrator.Resolve(c.Context(), l.ws, l.spec, were)
	c.must(err, "taking the resolution")
	return m
}

// commit makes the merge commit, or ends the rule.
func (l *landing) commit(c *check, m ports.Merge) ports.Commit {
	c.Helper()
	made, err := l.Integrator.Commit(c.Context(), l.spec, m.Tree, spec(l.spec.Head, m.Message))
	c.must(err, "committing the merge")
	return made
}

// move moves the branch to the merge's commit, or ends the rule.
func (l *landing) move(c *check, commit string) {
	c.Helper()
	c.must(l.run.Move(c.Context(), l.spec.Into, l.spec.Head, commit), "moving the branch")
}

// conclude ends the merge, or the rule.
func (l *landing) conclude(c *check, commit string) ports.PutBack {
	c.Helper()
	done, err := l.Integrator.Conclude(c.Context(), l.ws, commit, "concluded")
	c.must(err, "concluding")
	return done
}

// land lands what was merged and returns the commit.
func (l *landing) land(c *check, m ports.Merge) string {
	c.Helper()
	made := l.commit(c, m)
	l.move(c, made.ID)
	l.conclude(c, made.ID)
	return made.ID
}

// reopen is the landing as another process finds it.
func (l *landing) reopen(c *check) *landing {
	c.Helper()
	c.needs(l.Reopen != nil, "Repository.Reopen")
	r, err := l.Reopen()
	c.must(err, "opening the repository again")
	s := &landsite{newSite(c, r), l.opts}
	at, err := s.Workspaces.Branch(c.Context(), l.spec.Into)
	c.must(err, "reading the branch")
	again := *l
	again.landsite, again.ws = s, s.open(c, l.into, at)
	return &again
}

// unchanged returns a function that fails the rule unless files, branches,
// hold and salvage are as they are now.
func (l *landing) unchanged(c *check) func(when string) {
	c.Helper()
	type state struct {
		files        map[string]string
		changes      ports.Changes
		ours, theirs string
		salvage      []int
		hold         ports.Hold
	}
	now := func() state {
		var s state
		var err error
		s.files = readAll(c, l.ws.Tree())
		s.changes = l.inspect(c, l.ws, l.spec.Head)
		s.ours, err = l.Workspaces.Branch(c.Context(), l.spec.Into)
		c.must(err, "reading a branch")
		s.theirs, err = l.Workspaces.Branch(c.Context(), l.spec.Branch)
		c.must(err, "reading a branch")
		s.salvage = numbers(l.salvaged(c))
		s.hold, err = l.Integrator.Held(c.Context(), l.ws, l.spec)
		c.must(err, "asking what is held")
		return s
	}
	was := now()
	return func(when string) { same(c, now(), was, "files, branches, salvage and hold after "+when) }
}

// paths returns the paths of conflicts.
func paths(conflicts []ports.ConflictPath) []string {
	var list []string
	for _, p := range conflicts {
		list = append(list, p.Path)
	}
	return list
}

// kinds returns conflicts without their notes, which are an implementation's
// own.
func kinds(conflicts []ports.ConflictPath) []ports.ConflictPath {
	list := slices.Clone(conflicts)
	for i := range list {
		list[i].Note = ""
	}
	return list
}

// commented reports whether a line of a message is a comment.
func commented(message string) bool {
	return slices.ContainsFunc(strings.Split(message, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
}
