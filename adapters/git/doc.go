// Package git keeps a run's worktrees, branches and history in a git
// repository, over the git binary. It implements [ports.Workspaces] and
// [ports.History].
//
// What a repository's configuration, an agent in a checkout, or another
// process could do to AGL's own git calls is settled in one place, [Repo.run]:
// the environment, the overrides, the deadline, the process group. Discovery
// is used once, in [Open]; from then on every call names the git directory, and
// on a checkout also the work tree, because an agent can redirect both.
//
// AGL's own commits are unsigned and run no hooks: the build gate is where a
// project's checks belong.
package git
