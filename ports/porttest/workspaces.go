package porttest

import (
	"slices"
	"testing"
)

// WorkspacesOptions say how to get at the implementation to be graded. New is
// required.
type WorkspacesOptions struct {
	// New returns a repository whose trunk has one commit of files, and which
	// shares nothing with any other.
	New func(t testing.TB, files map[string]string) Repository

	Modes    bool // checkouts have executable files
	Symlinks bool // checkouts have symbolic links
	Ignored  bool // .gitignore is obeyed
	Nested   bool // checkouts may have repositories in them
}

// Workspaces grades an implementation of ports.Workspaces, with its Worktrees
// and each Workspace. Each rule of their contract is a parallel subtest.
func Workspaces(t *testing.T, opts WorkspacesOptions) {
	t.Helper()
	grade(t, workspaceRules(), opts.subject)
}

// worksite is what the rules of Workspaces are checked on.
type worksite struct {
	*site
	opts WorkspacesOptions
}

func (o WorkspacesOptions) subject(t testing.TB) *worksite {
	return &worksite{newSite(t, o.New(t, firstFiles)), o}
}

func workspaceRules() []rule[*worksite] {
	return slices.Concat(openRules, writeRules, inspectRules, commitRules, putBackRules, salvageRules, branchRules, clearRules, contextRulesOfWorkspaces, guardRules)
}
