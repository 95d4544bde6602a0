package cli

import (
	"context"
	"fmt"
	"path/filepath"
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
		if c.Drop {
			return engine.DropSalvage(ctx, c.Label, c.N)
		}
		if c.To != "" {
			dir, err := filepath.Abs(c.To)
			if err != nil {
				return ports.Invalid.Errorf("", "the folder %q: %w", c.To, err)
			}
			return engine.WriteSalvage(ctx, c.Label, c.N, dir)
		}
		all, err := engine.Salvaged(ctx, c.Label)
		if err != nil {
			return err
		}
		return s.salvaged(all, c.N)
	})
}

// salvaged shows all salvage, or the n-th.
func (s *session) salvaged(all []ports.Salvage, n int) error {
	if n != 0 {
		var one []ports.Salvage
		for _, salvage := range all {
			if salvage.N == n {
				one = append(one, salvage)
			}
		}
		if one == nil {
			return ports.NotFound.Errorf("", "there is no salvage %d", n)
		}
		all = one
	}
	if s.globals.JSON {
		return s.answer(append([]ports.Salvage{}, all...))
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
