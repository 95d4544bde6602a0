// Package cli is a command line for a program's own workflows: argv in, exit
// code out. The whole of a program is
//
//	func main() {
//		cli.Program{Name: "shipit", Workflows: []agl.Definition{fix.Workflow}}.Main()
//	}
//
// Each workflow is a subcommand of run, and the fields of its parameters are
// its flags, by the tags of github.com/alecthomas/kong. A workflow that cannot
// be a command is disabled alone, and says why: because of a malformed tag, of
// a command among its parameters, or of a flag with one of these names, which
// are the command line's own:
//
//	--name -n  --from  --repo  --home  --script  --json  --quiet -q  --help -h
//	--rebuy  --retry
//
// Beside its own flags a workflow has --tokens, --build, --build-timeout,
// --instructions and --plain, each unless it has one of that name itself. They
// are about one call, as they are with resume, and win over the environment and
// the settings file.
//
// # Output
//
// What a command answers goes to standard output; progress, warnings and
// errors, one line each, go to standard error. Under --quiet there is no
// progress; that something was salvaged, and what else a person should know,
// is told all the same. With --json the answer is the JSON that docs/json.md
// describes, and standard error is for one object, {"error":{"kind","message"}}:
// there are no warnings ("salvage LABEL" lists what was kept).
//
// AGL_DEBUG=1 in the environment logs to standard error, with the stack of a
// panic; not with --json.
//
// Exit codes are those of agl.ExitCode, and 130 for a command whose context was
// cancelled.
// doctor exits with 6 if it found a problem. That an agent is not installed is one
// if it was named, or if there is no other.
package cli
