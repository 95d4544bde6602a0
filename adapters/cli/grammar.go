package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"example.com/agl"
	"example.com/agl/ports"
)

// globals are the flags that every command takes, before or after its name.
type globals struct {
	Repo   string `placeholder:"DIR" help:"A folder in the repository; the working directory by default."`
	Home   string `placeholder:"DIR" help:"Where AGL keeps its records; an absolute path. The environment's AGL_HOME by default."`
	Script string `placeholder:"FILE" help:"Let the agent that plays this file stand in for every model."`
	JSON   bool   `name:"json" help:"Answer in JSON, and errors too; no progress and no warnings."`
	Quiet  bool   `short:"q" help:"No progress; warnings and errors alone."`
}

// A grammar is the command line of one program, for one call.
type grammar struct {
	Globals globals `embed:""`

	Run        runCmd        `cmd:"" help:"Start a run of a workflow, whose flags follow its name."`
	Resume     resumeCmd     `cmd:"" help:"Go on with a run that was stopped, killed, or failed."`
	Plan       planCmd       `cmd:"" help:"Show what resume would do; nothing is started."`
	Show       showCmd       `cmd:"" help:"Show a run and its steps; TIME is without the commit and the record that follow a step."`
	Runs       runsCmd       `cmd:"" help:"List the runs of this repository."`
	Questions  questionsCmd  `cmd:"" help:"List the questions that wait for a person's answer."`
	Answer     answerCmd     `cmd:"" help:"Answer a question of a run, whether it runs now or is resumed later."`
	Clear      clearCmd      `cmd:"" help:"Remove a run's checkouts, branches and records; what was salvaged stays."`
	Salvage    salvageCmd    `cmd:"" help:"List, write out or drop what a run kept before it put a checkout back."`
	Workflows  workflowsCmd  `cmd:"" help:"List the workflows of this program, or describe one."`
	Doctor     doctorCmd     `cmd:"" help:"Look into what a run needs: git, the repository, and each agent's program, channel and login."`
	Init       initCmd       `cmd:"" help:"Write this repository's settings file, or follow a repository that moved."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands in a shell."`
	Version    versionCmd    `cmd:"" help:"Print the program's version."`

	program   Program
	workflows []*workflow
}

// runCmd holds what every workflow's command takes; the workflows themselves
// are added to it.
type runCmd struct {
	Name string `short:"n" required:"" placeholder:"LABEL" help:"The run's label: what resume, show and clear call it, and its branch, agl/LABEL."`
	From string `placeholder:"REF" help:"The commit to begin at; the branch that is checked out by default."`
	kong.Plugins
}

// newGrammar returns the grammar of a program. Workflows that cannot be on a
// command line are left out of it.
func newGrammar(p Program) *grammar {
	g := &grammar{program: p, workflows: workflowsOf(p)}
	for _, w := range g.workflows {
		if w.problem == "" {
			g.Run.Plugins = append(g.Run.Plugins, w.plugin())
		}
	}
	return g
}

// kong returns the parser of the grammar.
func (g *grammar) kong(stdout io.Writer, exit func(int)) (*kong.Kong, error) {
	k, err := kong.New(
		g,
		kong.Name(g.program.Name),
		kong.Description("Runs workflows of coding agents on a git repository, and goes on with them after whatever happens."),
		kong.Writers(stdout, stdout),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.PostBuild(g.addExamples),
	)
	if err != nil {
		return nil, ports.Internal.Errorf("build the command line", "%w", err)
	}
	return k, nil
}

// parse returns the command that args name, or nil if they asked for help,
// which has then been written.
func (g *grammar) parse(args []string, stdout io.Writer) (command, error) {
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "--version":
		args = []string{"version"}
	}
	if name, ok := workflowArg(args); ok {
		if err := g.available(name); err != nil {
			return nil, err
		}
	}
	helped := false
	k, err := g.kong(stdout, func(int) { helped = true })
	if err != nil {
		return nil, err
	}
	kctx, err := k.Parse(args)
	switch {
	case helped:
		return nil, nil
	case err != nil:
		return nil, g.usage(err)
	}
	for node := kctx.Selected(); node != nil; node = node.Parent {
		if cmd, ok := node.Target.Addr().Interface().(command); ok {
			return cmd, nil
		}
	}
	return nil, g.usage(fmt.Errorf("no command in %q", strings.Join(args, " ")))
}

// usage makes an error of the parser's one that says where the help is. What
// is missing is said at once, and first that it is the workflow.
func (g *grammar) usage(err error) error {
	help, what := g.program.Name, ports.Printable(err.Error())
	if parse, ok := err.(*kong.ParseError); ok && parse.Context != nil {
		node := parse.Context.Selected()
		if node != nil {
			help = node.FullPath()
		}
		switch missing := missingFlags(parse.Context); {
		case parse.Context.Error != nil: // it understood not even the words
		case node != nil && node.Depth() == 0 && node.Name == "run":
			what = "name the workflow to run: " + g.has()
		case len(missing) > 0:
			what = "missing flags: " + strings.Join(missing, ", ")
		}
	}
	return ports.Invalid.Errorf("", "%s; see %s --help", what, help)
}

// missingFlags returns the flags that the commands in a call need and do not
// have. Of flags of which one will do, the parser tells.
func missingFlags(call *kong.Context) []string {
	var missing []string
	for _, flag := range call.Flags() {
		if flag.Required && !flag.Set && len(flag.Xor)+len(flag.And)+len(flag.LastWins) == 0 {
			missing = append(missing, flag.Summary())
		}
	}
	return missing
}

// available says why a workflow cannot be started, if so.
func (g *grammar) available(name string) error {
	for _, w := range g.workflows {
		switch {
		case w.name != name:
		case w.problem != "":
			return ports.Invalid.Errorf("", "workflow %q is disabled: %s", name, w.problem)
		default:
			return nil
		}
	}
	return ports.NotFound.Errorf("", "no workflow %q; %s", name, g.has())
}

// has says which workflows the program has.
func (g *grammar) has() string {
	var names []string
	for _, w := range g.workflows {
		names = append(names, w.name)
	}
	if names == nil {
		return "this program has none"
	}
	return "this program has " + strings.Join(names, ", ")
}

// definition returns the workflow of a name.
func (s *session) definition(name string) (agl.Definition, error) {
	var names []string
	for _, def := range s.program.Workflows {
		if def.Spec().Name == name {
			return def, nil
		}
		names = append(names, def.Spec().Name)
	}
	return nil, ports.NotFound.Errorf("", "the run is of workflow %q, which this program does not have; it has %s", name, strings.Join(names, ", "))
}

// workflowArg returns the argument in the workflow's place in "run WORKFLOW",
// if there is one. All flags that can come before it are run's own and the
// globals.
func workflowArg(args []string) (string, bool) {
	run := false
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return "", false
		case takesValue(arg):
			i++
		case strings.HasPrefix(arg, "-"):
		case run:
			return arg, true
		case arg == "run":
			run = true
		default:
			return "", false
		}
	}
	return "", false
}

func takesValue(flag string) bool {
	switch flag {
	case "--repo", "--home", "--script", "--name", "-n", "--from", "--tokens", "--build", "--build-timeout", "--instructions":
		return true
	}
	return false
}

// hasJSON reports whether args ask for JSON, for errors that come before args
// are understood.
func hasJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// addExamples gives every command's help its example.
func (g *grammar) addExamples(k *kong.Kong) error {
	workflow, call := "WORKFLOW", "WORKFLOW -n issue-12"
	for _, node := range k.Model.Children {
		for _, child := range node.Children { // those of run
			workflow, call = child.Name, child.Name+" -n issue-12"+requiredFlags(child)
			child.Detail = "Example:\n\n    " + g.program.Name + " run " + call
		}
	}
	words := strings.NewReplacer("PROGRAM", g.program.Name, "WORKFLOW", workflow, "CALL", call, "\n", "\n    ")
	for _, node := range k.Model.Children {
		node.Detail = "Example:\n\n    " + words.Replace(examples[node.Name])
	}
	return nil
}

func requiredFlags(node *kong.Node) string {
	var b strings.Builder
	for _, flag := range node.Flags {
		if flag.Required {
			fmt.Fprintf(&b, " %s", flag.Summary())
		}
	}
	for _, arg := range node.Positional {
		if arg.Required {
			fmt.Fprintf(&b, " %s", arg.Summary())
		}
	}
	return b.String()
}

// examples are what each command's help shows.
var examples = map[string]string{
	"run":        "PROGRAM run CALL",
	"resume":     "PROGRAM resume issue-12",
	"plan":       "PROGRAM plan issue-12",
	"show":       "PROGRAM show issue-12\nPROGRAM show issue-12 --json | jq '.records[].usage'",
	"runs":       "PROGRAM runs --json",
	"questions":  "PROGRAM questions issue-12",
	"answer":     "PROGRAM answer issue-12 3fa9c107be yes\nPROGRAM answer issue-12 3fa9 - <reasons.txt",
	"clear":      "PROGRAM clear issue-12",
	"salvage":    "PROGRAM salvage issue-12\nPROGRAM salvage issue-12 1 --to /tmp/what-was-there\nPROGRAM salvage issue-12 1 --drop",
	"workflows":  "PROGRAM workflows WORKFLOW",
	"doctor":     "PROGRAM doctor\nPROGRAM doctor claude --json",
	"init":       "PROGRAM init --build 'go test ./...'\nPROGRAM init --moved /where/the/repository/was",
	"completion": "PROGRAM completion bash >~/.local/share/bash-completion/completions/PROGRAM",
	"version":    "PROGRAM version",
}
