// Package cli is a command line for a program's own workflows: argv in, exit
// code out. The whole of a program is
//
//	func main() {
//		cli.Program{Name: "shipit", Workflows: []agl.Definition{fix.Workflow}}.Main()
//	}
//
// Each workflow is a subcommand of run, and the fields of its parameters are
// its flags, by the tags of github.com/alecthomas/kong.
//
// # Output
//
// What a command answers goes to standard output; progress, and errors, one
// line each, go to standard error. With --json the answer is the JSON that
// docs/json.md describes, there is no progress, and an error is
// {"error":{"kind","message"}}. Exit codes are those of agl.ExitCode, and 130
// for a command whose context was cancelled.
package cli
