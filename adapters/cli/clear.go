package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.com/agl"
	"example.com/agl/ports"
)

type clearCmd struct {
	Label string `arg:"" help:"The run."`
}

func (c *clearCmd) run(ctx context.Context, s *session) error {
	return s.with(ctx, func(engine *agl.Engine) error {
		cleared, err := engine.Clear(ctx, c.Label)
		if err != nil {
			return err
		}
		if s.globals.JSON {
			return s.answer(cleared)
		}
		var b strings.Builder
		rows := table(&b)
		for _, tip := range cleared.Tips {
			fmt.Fprintf(rows, "removed\t%s\twas at %s\n", tip.Branch, tip.Commit)
		}
		for _, salvage := range cleared.Salvage {
			fmt.Fprintf(rows, "kept\tsalvage %d\t%s\n", salvage.N, salvagePlace(salvage))
		}
		rows.Flush()
		fmt.Fprintf(&b, "cleared %s\n", cleared.Label)
		return s.print("%s", b.String())
	})
}

// salvagePlace says where a salvage is: its ref and commit, and the folders
// nested repositories went to.
func salvagePlace(s ports.Salvage) string {
	var parts []string
	if s.Ref != "" {
		parts = append(parts, s.Ref+" at "+s.Commit)
	}
	return line(strings.Join(append(parts, s.Nested...), ", "), 1000)
}

type salvageCmd struct {
	Label string `arg:"" help:"The run."`
	N     int    `arg:"" optional:"" help:"One salvage, by its number."`
	Drop  bool   `xor:"what" help:"Give salvage N up for good."`
	To    string `xor:"what" placeholder:"DIR" help:"Write what salvage N holds into DIR, which must be absent or empty."`
}

func (c *salvageCmd) run(ctx context.Context, s *session) error {
	if c.N == 0 && (c.Drop || c.To != "") {
		return ports.Invalid.Errorf("", "name the salvage to write out or drop: %s salvage %s N", s.program.Name, c.Label)
	}
	return s.with(ctx, func(engine *agl.Engine) error {
		all, err := engine.Salvaged(ctx, c.Label)
		if err != nil {
			return err
		}
		if c.N == 0 {
			return s.list(all)
		}
		i := slices.IndexFunc(all, func(salvage ports.Salvage) bool { return salvage.N == c.N })
		if i < 0 {
			return ports.NotFound.Errorf("", "run %s has no salvage %d; list what it has", c.Label, c.N)
		}
		one, did := all[i], ""
		switch {
		case c.Drop:
			if err := engine.DropSalvage(ctx, c.Label, c.N); err != nil {
				return err
			}
			did = fmt.Sprintf("dropped salvage %d of %s\n", c.N, c.Label)
		case c.To != "":
			dir, err := filepath.Abs(c.To)
			if err != nil {
				return ports.Invalid.Errorf("", "the folder %q: %w", c.To, err)
			}
			if err := engine.WriteSalvage(ctx, c.Label, c.N, dir); err != nil {
				return err
			}
			did = fmt.Sprintf("wrote all files of salvage %d of %s to %s, %s among them\n", c.N, c.Label, dir, counted(int64(one.Paths), "changed path"))
		}
		switch {
		case s.globals.JSON:
			return s.answer(all[i : i+1])
		case did != "":
			return s.print("%s", did)
		}
		return s.print("%s", salvageText(one))
	})
}

// list shows all salvage.
func (s *session) list(all []ports.Salvage) error {
	if s.globals.JSON {
		return s.answer(all)
	}
	if len(all) == 0 {
		return s.print("nothing was salvaged\n")
	}
	var b strings.Builder
	rows := table(&b)
	fmt.Fprintln(rows, "N\tWORKTREE\tWHEN\tPATHS\tWHY\tWHERE")
	for _, salvage := range all {
		fmt.Fprintf(rows, "%d\t%s\t%s\t%d\t%s\t%s\n",
			salvage.N, salvage.Namespace, stamp(salvage.Made), salvage.Paths, line(salvage.Reason, 60), salvagePlace(salvage))
	}
	rows.Flush()
	return s.print("%s", b.String())
}

// salvageText is one salvage for a person.
func salvageText(s ports.Salvage) string {
	var b strings.Builder
	rows := table(&b)
	row := func(name string, values ...string) {
		for _, value := range values {
			if value != "" {
				fmt.Fprintf(rows, "%s\t%s\n", name, line(value, 1000))
				name = ""
			}
		}
	}
	row("salvage", fmt.Sprint(s.N))
	row("worktree", s.Namespace)
	row("made", stamp(s.Made))
	row("why", s.Reason)
	row("paths", fmt.Sprint(s.Paths))
	row("ref", s.Ref)
	row("commit", s.Commit)
	row("staged", s.Index)
	row("commits", s.Commits...)
	row("moved to", s.Nested...)
	row("not kept", s.Notes...)
	rows.Flush()
	return b.String()
}
