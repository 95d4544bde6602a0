// Package local puts AGL's adapters together for one developer's machine: the
// git repository they are in, records in a folder of their own, the shell for
// the build gate, Claude Code for the models of the provider claude, Codex for
// those of codex, and the Copilot CLI for those of copilot. It works without any
// configuration in every repository that has a commit.
//
// [New] returns the ports for runs, and [Examine] says what keeps one from
// beginning.
//
// # Settings
//
// Each setting is taken from the first of these that has it: [Options] (where
// the command line puts its flags), the environment, the project's settings
// file, the default.
//
//	Options       environment        project.toml   default
//	Home          AGL_HOME                          $XDG_STATE_HOME/agl, else ~/.local/state/agl
//	Trees         AGL_TREES          trees          <home>/trees
//	Build         AGL_BUILD          build          "": no build gate
//	BuildTimeout  AGL_BUILD_TIMEOUT  build_timeout  10m
//	Claude        AGL_CLAUDE                        claude, on PATH
//	Codex         AGL_CODEX                         codex, on PATH
//	Copilot       AGL_COPILOT                       copilot, on PATH
//
// Instructions has no variable and no key: whether agents are given what a
// repository says to them is decided for one engine, by who starts it.
//
// A variable that is set and empty is refused rather than guessed about; so is
// a key of the file that is not in this table, other than repo, which [Init]
// writes.
//
// # Where things are
//
//	<home>/projects/<name>/project.toml   settings, optional
//	<home>/projects/<name>/runs/<label>/  a run's records
//	<home>/projects/<name>/locks/         the locks of runs
//	<home>/projects/<name>/salvage/       nested repositories that were moved out of a checkout
//	<trees>/<name>/<label>/               a run's checkouts, outside the repository
//
// <name> is the name of the repository's folder and six hexadecimal digits of
// the real path of its common git directory, which linked worktrees share.
package local
