// Command quickstart shows in a few seconds what AGL is for. It makes a
// throw-away repository and runs the workflow fix on it, with a script in the
// place of the coding agents. It kills that run in the middle, starts it
// again, and shows what was bought, and how often.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/fix"
)

const (
	label   = "quickstart"
	request = "greet the world where no name is given"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == workArg {
		if err := work(context.Background(), os.Args[2], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(agl.ExitCode(err))
		}
		return
	}
	if err := show(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// show plays the whole of it.
func show(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "agl-quickstart-")
	if err != nil {
		return err
	}
	if err := makeRepository(ctx, dir); err != nil {
		return err
	}
	// In the process that is killed the second change takes a minute, so that
	// there is a middle to be killed in on the slowest machine.
	slow := strings.Replace(fix.Script, "sleep 400ms", "sleep 1m", 1)
	if err := os.WriteFile(script(dir), []byte(slow), 0o600); err != nil {
		return err
	}
	starts := make(map[step]int)

	fmt.Fprintf(out, "A process runs the workflow fix on the repository %s.\n\n", repository(dir))
	killed, err := watch(ctx, dir, out, starts, func(s step) bool { return s == step{"implementer", 2} })
	if err != nil {
		return err
	}
	if !killed {
		return fmt.Errorf("the run ended before it could be killed")
	}
	if err := os.WriteFile(script(dir), []byte(fix.Script), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe process was killed at this point. Another one is started, with the same call.\n\n")
	if _, err := watch(ctx, dir, out, starts, func(step) bool { return false }); err != nil {
		return err
	}

	fmt.Fprintf(out, "\nWhat was bought: every step once; the one that was under way when the process died was begun again.\n\n")
	if err := bought(ctx, dir, out, starts); err != nil {
		return err
	}
	log, err := git(ctx, repository(dir), "log", "--format=  %h %s", "agl/"+label)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe commits on the branch agl/%s:\n\n%s", label, log)
	fmt.Fprintf(out, `
Where to look next:

  examples/fix/fix.go             the workflow, a plain Go function
  examples/fix/fix.script.txtar   what the agents played
  go run ./examples/agl show %[2]s --repo %[1]s/repo --home %[1]s/home
  go run ./examples/agl clear %[2]s --repo %[1]s/repo --home %[1]s/home
  rm -r %[1]s
`, dir, label)
	return nil
}

// bought prints the journal of the run, and how often each step was begun.
func bought(ctx context.Context, dir string, out io.Writer, starts map[step]int) error {
	set, err := local.New(ctx, local.Options{Repo: repository(dir), Home: home(dir)})
	if err != nil {
		return err
	}
	engine, err := agl.New(set, nil)
	if err != nil {
		return err
	}
	defer engine.Close()
	journal, err := engine.Journal(ctx, label)
	if err != nil {
		return err
	}
	rows := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "  STEP\tBEGUN\tRECORDED\tTOKENS")
	var total int64
	recorded := make(map[string]int)
	for _, r := range journal.Records {
		recorded[r.Name]++
		s := step{r.Name, recorded[r.Name]}
		total += r.Usage.Tokens()
		fmt.Fprintf(rows, "  %s\t%d\tonce\t%d\n", s, starts[s], r.Usage.Tokens())
	}
	fmt.Fprintf(rows, "  \t\t\t%d\n", total)
	return rows.Flush()
}

func repository(dir string) string { return filepath.Join(dir, "repo") }
func home(dir string) string       { return filepath.Join(dir, "home") }
func script(dir string) string     { return filepath.Join(dir, "fix.script.txtar") }
