package porttest

import (
	"context"
	"strings"
	"testing"

	"example.com/agl/ports"
)

// HistoryOptions say how to get at the implementation to be graded. New is
// required.
type HistoryOptions struct {
	// New returns a repository whose trunk has one commit of files, and which
	// shares nothing with any other. Its Workspaces make the commits.
	New func(t testing.TB, files map[string]string) Repository
}

// History grades an implementation of ports.History. Each rule of its contract
// is a parallel subtest.
func History(t *testing.T, opts HistoryOptions) {
	t.Helper()
	grade(t, historyRules, opts.subject)
}

func (o HistoryOptions) subject(t testing.TB) *site { return newSite(t, o.New(t, firstFiles)) }

var historyRules = []rule[*site]{{
	"the default is the operator's branch",
	"Default returns the branch the operator's checkout is on, whatever a run does.",
	func(c *check, s *site) {
		s.step(c, ports.Base, s.open(c, ports.Base, s.base), s.base, "a.txt", "next\n")
		branch, err := s.History.Default(c.Context())
		c.must(err, "asking for the default")
		same(c, branch, s.Trunk, "the default")
	},
}, {
	"a revision names a commit",
	"Resolve returns the full id of the commit a revision names: a branch, HEAD, an id.",
	func(c *check, s *site) {
		next := s.step(c, ports.Base, s.open(c, ports.Base, s.base), s.base, "a.txt", "next\n")
		for rev, want := range map[string]string{
			s.Trunk: s.base, "refs/heads/" + s.Trunk: s.base, "HEAD": s.base, s.base: s.base,
			mainBranch: next, "refs/heads/" + mainBranch: next, next: next, next[:12]: next,
		} {
			got, err := s.History.Resolve(c.Context(), rev)
			c.must(err, "resolving "+rev)
			same(c, got, want, "what "+rev+" names")
		}
	},
}, {
	"a revision that names none is NotFound",
	"The error's Kind is NotFound if a revision names no commit.",
	func(c *check, s *site) {
		for _, rev := range []string{"no-such-branch", "agl/" + run + "/none", unknown, "deadbeef", "-n", "--all"} {
			got, err := s.History.Resolve(c.Context(), rev)
			c.kind(err, ports.NotFound, "resolving "+rev)
			same(c, got, "", "what it names")
		}
		_, err := s.History.Resolve(c.Context(), "")
		c.kind(err, ports.Invalid, "resolving nothing")
	},
}, {
	"a commit contains what it stands on",
	"Contains reports whether ancestor is reachable from descendant, or is it.",
	func(c *check, s *site) {
		ws, kid := s.open(c, ports.Base, s.base), s.open(c, "kid", s.base)
		first := s.step(c, ports.Base, ws, s.base, "a.txt", "first\n")
		second := s.step(c, ports.Base, ws, first, "a.txt", "second\n")
		aside := s.step(c, "kid", kid, s.base, "a.txt", "aside\n")
		for _, tc := range []struct {
			ancestor, descendant string
			want                 bool
		}{
			{s.base, s.base, true},
			{second, second, true},
			{s.base, second, true},
			{first, second, true},
			{s.base, aside, true},
			{second, first, false},
			{second, s.base, false},
			{aside, second, false},
			{first, aside, false},
		} {
			got, err := s.History.Contains(c.Context(), tc.ancestor, tc.descendant)
			c.must(err, "asking whether a commit contains another")
			if got != tc.want {
				c.Errorf("%s contains %s: got %v, want %v", tc.descendant, tc.ancestor, got, tc.want)
			}
		}
	},
}, {
	"a commit that is not there is NotFound",
	"A commit that is not in the repository is NotFound, wherever it is asked for.",
	func(c *check, s *site) {
		for _, pair := range [][2]string{{unknown, s.base}, {s.base, unknown}, {unknown, unknown}} {
			_, err := s.History.Contains(c.Context(), pair[0], pair[1])
			c.kind(err, ports.NotFound, "asking whether "+pair[1]+" contains "+pair[0])
		}
		_, err := s.History.Tree(c.Context(), unknown)
		c.kind(err, ports.NotFound, "asking for its tree")
		_, err = s.History.Message(c.Context(), unknown)
		c.kind(err, ports.NotFound, "asking for its message")
	},
}, {
	"a tree is its files",
	"Tree returns the id of a commit's tree: the same for the same files, another for others.",
	func(c *check, s *site) {
		ws := s.open(c, ports.Base, s.base)
		heads := []string{s.base}
		for _, text := range []string{"other\n", firstFiles["a.txt"], ""} {
			heads = append(heads, s.step(c, ports.Base, ws, heads[len(heads)-1], "a.txt", text))
		}
		heads = append(heads, s.step(c, ports.Base, ws, heads[3], "b.txt", "")) // the same contents at other paths
		trees := map[string]int{}
		for i, head := range heads {
			tree, err := s.History.Tree(c.Context(), head)
			c.must(err, "asking for a tree")
			if twin, ok := trees[tree]; ok && i != 2 || i == 2 && twin != 0 || tree == "" {
				c.Errorf("commit %d has tree %q, as commit %d; want the same tree for the same files alone", i, tree, twin)
			}
			trees[tree] = i
		}
		same(c, len(trees), 4, "how many trees five commits have, of which two hold the same")
	},
}, {
	"a message is told without its end",
	"Message returns a commit's message without trailing white space.",
	func(c *check, s *site) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "next\n")
		for _, message := range []string{
			"subject", "subject\n", "  indented\n\n\tbody  \n more \t\n\n", "\n\nlate", "# comment\n#", "ünïcode — 日本\r\n\r\n", "%H %s", "",
			"subject\n\n---\nSigned-off-by: X <x@example.com>\n", "encoding latin1\n\ngpgsig -\n", strings.Repeat("long ", 5000),
		} {
			made := s.commit(c, ws, s.base, message)
			got, err := s.History.Message(c.Context(), made.ID)
			c.must(err, "asking for a message")
			same(c, got, strings.TrimRight(message, " \t\r\n"), "the message")
		}
	},
}, {
	"a cancelled question has no kind",
	"A question under a cancelled context is answered, or fails with context.Canceled, which has no Kind.",
	func(c *check, s *site) {
		next := s.step(c, ports.Base, s.open(c, ports.Base, s.base), s.base, "a.txt", "next\n")
		ctx := over(c)
		for doing, ask := range map[string]func(context.Context) error{
			"Default":  func(ctx context.Context) error { _, err := s.History.Default(ctx); return err },
			"Resolve":  func(ctx context.Context) error { _, err := s.History.Resolve(ctx, mainBranch); return err },
			"Contains": func(ctx context.Context) error { _, err := s.History.Contains(ctx, s.base, next); return err },
			"Tree":     func(ctx context.Context) error { _, err := s.History.Tree(ctx, next); return err },
			"Message":  func(ctx context.Context) error { _, err := s.History.Message(ctx, next); return err },
		} {
			if err := ask(ctx); err != nil {
				c.isCancelled(err, doing)
			}
		}
	},
}}
