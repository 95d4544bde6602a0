//go:build linux

package killtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An attack is what an agent does to the repository, in the shell, in its
// checkout. VICTIM is a repository of somebody else's, MARKER a file that a
// planted program would make, REPO the operator's checkout, COMMON its .git.
type attack struct {
	does []string
	code int      // the command's
	says []string // on standard error
	then outcome
}

type outcome int

const (
	committed outcome = iota // the agent's work is in the branch
	salvaged                 // it can be fetched
	stopped                  // it is where it was, and is committed by a resume once the harm is undone
	gone                     // the agent itself removed it
)

const conflict = `git checkout -q -b theirs && echo theirs >README.md && git commit -qam theirs && git checkout -q agl/t && echo ours >README.md && git commit -qam ours`

const plant = `for h in pre-commit post-commit reference-transaction post-index-change post-checkout; do printf '#!/bin/sh\ntouch "$MARKER"\n' >"$D/$h"; chmod +x "$D/$h"; done`

var attacks = map[string]attack{
	"core.worktree":             {[]string{`git config core.worktree "$VICTIM"`}, 4, []string{"core.worktree"}, stopped},
	"a worktree's own settings": {[]string{`git config extensions.worktreeConfig true`, `git config --worktree core.worktree "$VICTIM"`}, 4, []string{"core.worktree"}, stopped},
	"a common folder elsewhere": {[]string{`echo "$VICTIM/.git" >"$(git rev-parse --git-dir)/commondir"`}, 4, []string{"commondir"}, stopped},
	"programs": {
		[]string{
			`git config filter.evil.clean 'touch "$MARKER"; cat' && echo '* filter=evil' >.gitattributes`,
			`git config filter.bad.process 'touch "$MARKER"' && echo '* filter=bad' >"$COMMON/info/attributes"`,
			`D="$COMMON/hooks"; ` + plant,
			`mkdir hooks && D=$PWD/hooks && ` + plant + ` && git config core.hooksPath "$D"`,
			`git config core.fsmonitor 'touch "$MARKER"; false'`,
			`printf '[core]\n\tfsmonitor = touch "$MARKER"\n' >planted && git config include.path "$PWD/planted"`,
			`echo '*.txt' >>"$COMMON/info/exclude"`,
			`echo "$VICTIM/.git/objects" >"$COMMON/objects/info/alternates"`,
		},
		4,
		[]string{
			"filter.evil.clean", "filter.bad.process", "info/attributes", "hooks/post-commit", "core.hookspath",
			"core.fsmonitor", "include.path", "info/exclude", "alternates",
		},
		stopped,
	},
	"links in git's way": {
		[]string{
			`ln -sf "$REPO/.git/index" "$(git rev-parse --git-dir)/index"`,
			`ln -sf "$VICTIM/tool.sh" "$(git rev-parse --git-dir)/logs/HEAD"`,
			`ln -sf "$VICTIM/tool.sh" "$COMMON/logs/refs/heads/agl/t"`,
			`cd "$COMMON/objects" && for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do test -e $i$i || ln -s "$VICTIM" $i$i; done`,
		},
		4,
		[]string{"index is a link", "logs/HEAD is a link", ".git/objects/"},
		stopped,
	},

	".git is a repository":         {[]string{`rm .git && git init -q && git add -A && git commit -qm mine`}, 6, []string{".git"}, salvaged},
	".git points elsewhere":        {[]string{`echo "gitdir: $VICTIM/.git" >.git`}, 6, []string{".git"}, salvaged},
	".git is a link":               {[]string{`rm .git && ln -s "$VICTIM/.git" .git`}, 6, []string{".git"}, salvaged},
	"the checkout is a link":       {[]string{`mv "$PWD" "$PWD.away" && ln -s "$VICTIM" "$PWD"`}, 6, []string{"_base"}, gone},
	"the checkout is gone":         {[]string{`rm -rf "$PWD"`}, 6, []string{"_base"}, gone},
	"the branch is the operator's": {[]string{`git symbolic-ref refs/heads/agl/t refs/heads/main`}, 0, nil, committed},
	"HEAD is detached":             {[]string{`git checkout -q --detach && git add -A && git commit -qm own`}, 0, []string{"HEAD"}, committed},
	"another branch":               {[]string{`git checkout -q -b mine && git add -A && git commit -qm own`}, 0, []string{"HEAD"}, committed},
	"an unfinished merge":          {[]string{conflict + `; git merge theirs; true`}, 6, []string{"merge", "unfinished"}, salvaged},
	"an unfinished rebase":         {[]string{conflict + `; git rebase theirs; true`}, 6, []string{"rebase", "unfinished"}, salvaged},
	"an unfinished cherry-pick":    {[]string{conflict + `; git cherry-pick theirs; true`}, 6, []string{"cherry-pick", "unfinished"}, salvaged},
	"a worktree of its own":        {[]string{`git worktree add -q -b own "$VICTIM.own" && echo kept >"$VICTIM.own/kept"`}, 0, nil, committed},
	"a process that goes on":       {[]string{`setsid sh -c 'trap "" TERM; while :; do echo late >>late.log; sleep 0.01; done' >/dev/null 2>&1 & true`}, 0, nil, committed},
}

const workText = "what the agent wrote\n"

// TestAnAgentThatAttacksTheRepositoryReachesNothingElse plays every attack.
func TestAnAgentThatAttacksTheRepositoryReachesNothingElse(t *testing.T) {
	t.Parallel()
	for name, a := range attacks {
		t.Run(name, func(t *testing.T) {
			takeTurn(t)
			s := newSandbox(t, "")
			victim := newRepository(t)
			require.NoError(t, os.WriteFile(filepath.Join(victim, "untracked"), []byte("the victim's\n"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(victim, "README.md"), []byte("changed, not committed\n"), 0o600))
			marker := filepath.Join(s.dir, "planted-program-ran")
			s.env = append(s.env, "VICTIM="+victim, "MARKER="+marker, "REPO="+s.repo, "COMMON="+s.gitDir())
			s.script = filepath.Join(s.dir, "attack.txtar")
			require.NoError(t, os.WriteFile(s.script, []byte(a.script()), 0o600))
			undo := s.rememberSettings()
			victims, operators := digest(t, victim, nil), s.operatorsCheckout()
			unhurt := func() {
				t.Helper()
				if diff := cmp.Diff(victims, digest(t, victim, nil)); diff != "" {
					t.Errorf("the victim changed (-was +is):\n%s", diff)
				}
				if diff := cmp.Diff(operators, s.operatorsCheckout()); diff != "" {
					t.Errorf("the operator's checkout changed (-was +is):\n%s", diff)
				}
				assert.NoFileExists(t, marker, "a planted program ran")
				for _, p := range processes("AGL_RUN=" + s.nonce()) {
					t.Errorf("process %d of the run is left", p.Pid)
				}
			}

			r := s.agl("run", "lone", "-n", label, "--script", s.script)
			assert.Equal(t, a.code, r.code, "%s", r)
			for _, text := range a.says {
				assert.Contains(t, r.stderr, text)
			}
			unhurt()
			switch a.then {
			case committed:
				assert.Equal(t, workText, s.inBranch("work.txt"))
			case salvaged:
				assert.Equal(t, []string{workText}, s.inSalvage("work.txt"))
			case stopped:
				assert.Equal(t, workText, read(filepath.Join(s.checkout(), "work.txt")))
				undo()
				r = s.agl("resume", label, "--script", s.script)
				require.Zero(t, r.code, "%s", r)
				assert.Equal(t, workText, s.inBranch("work.txt"))
				unhurt()
			}
			if own := victim + ".own/kept"; exists(own) {
				assert.Equal(t, "kept\n", read(own))
			}
		})
	}
}

// script is a file of adapters/script that plays the attack.
func (a attack) script() string {
	var b strings.Builder
	b.WriteString("-- writer --\nwrite work.txt work\n")
	for _, line := range a.does {
		fmt.Fprintf(&b, "exec %s\n", line)
	}
	b.WriteString("-- work --\n" + workText)
	return b.String()
}

// operatorsCheckout tells the operator's files, HEAD and index.
func (s *sandbox) operatorsCheckout() []string {
	s.t.Helper()
	lines := digest(s.t, s.repo, func(name string) bool { return name == ".git" })
	for _, name := range []string{"HEAD", "index", "refs/heads/main"} {
		lines = append(lines, fmt.Sprintf("%s: %q", name, read(filepath.Join(s.gitDir(), name))))
	}
	return lines
}

// rememberSettings returns what undoes an attack on the repository's settings.
func (s *sandbox) rememberSettings() (undo func()) {
	files := map[string]string{}
	for _, name := range []string{"config", "info/exclude"} {
		files[name] = read(filepath.Join(s.gitDir(), name))
	}
	return func() {
		for name, content := range files {
			require.NoError(s.t, os.WriteFile(filepath.Join(s.gitDir(), name), []byte(content), 0o600))
		}
		hooks, err := filepath.Glob(filepath.Join(s.gitDir(), "hooks", "*"))
		require.NoError(s.t, err)
		admins, err := filepath.Glob(filepath.Join(s.gitDir(), "worktrees", "*"))
		require.NoError(s.t, err)
		for _, hook := range hooks {
			if !strings.HasSuffix(hook, ".sample") {
				require.NoError(s.t, os.Remove(hook))
			}
		}
		for _, admin := range admins {
			require.NoError(s.t, os.RemoveAll(filepath.Join(admin, "config.worktree")))
			require.NoError(s.t, os.WriteFile(filepath.Join(admin, "commondir"), []byte("../..\n"), 0o600))
		}
		walk(s.t, s.gitDir(), func(_, path string, d os.DirEntry) bool {
			if d.Type()&os.ModeSymlink != 0 {
				require.NoError(s.t, os.Remove(path))
			}
			return false
		})
		for _, name := range []string{"config.worktree", "info/attributes", "objects/info/alternates"} {
			require.NoError(s.t, os.RemoveAll(filepath.Join(s.gitDir(), name)))
		}
	}
}

// inBranch returns a file as it is in the run's branch.
func (s *sandbox) inBranch(name string) string {
	s.t.Helper()
	return s.realGit(s.repo, "show", "refs/heads/agl/"+label+":"+name) + "\n"
}

// inSalvage returns a file as the run's salvages hold it.
func (s *sandbox) inSalvage(name string) []string {
	s.t.Helper()
	var found []string
	for n := 1; ; n++ {
		dir := filepath.Join(s.dir, fmt.Sprintf("salvage-%d", n))
		if r := s.agl("salvage", label, itoa(n), "--to", dir); r.code != 0 {
			assert.Equal(s.t, 3, r.code, "%s", r)
			return found
		}
		walk(s.t, dir, func(at, path string, d os.DirEntry) bool {
			if filepath.Base(at) == name {
				found = append(found, read(path))
			}
			return false
		})
	}
}
