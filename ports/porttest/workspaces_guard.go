package porttest

import (
	"encoding/json"
	"errors"
	"path/filepath"

	"example.com/agl/ports"
)

var contextRulesOfWorkspaces = []rule[*worksite]{{
	"a cancelled call changes nothing",
	"A call under a cancelled context returns context.Canceled, which has no Kind, and changes nothing.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.salvage(c, ws, s.base, "a.txt", "lost\n")
		s.write(c, ws, "a.txt", "made\n")
		made := s.commit(c, ws, s.base, "made").ID
		s.write(c, ws, "a.txt", "changed\n")
		ctx := over(c)
		_, err := s.run.Open(ctx, place("kid"), s.base)
		c.isCancelled(err, "Open")
		c.isCancelled(s.run.Move(ctx, mainBranch, s.base, made), "Move")
		c.isCancelled(s.run.Keep(ctx, "kept", made), "Keep")
		_, err = s.run.Clear(ctx, map[string]string{mainBranch: s.base})
		c.isCancelled(err, "Clear")
		c.isCancelled(ws.WriteFile(ctx, "a.txt", nil), "WriteFile")
		c.isCancelled(ws.Remove(ctx, "a.txt"), "Remove")
		_, err = ws.PutBack(ctx, s.base, "because")
		c.isCancelled(err, "PutBack")
		_, err = ws.Commit(ctx, spec(s.base, "cancelled"))
		c.isCancelled(err, "Commit")
		_, err = ws.Inspect(ctx, s.base)
		c.isCancelled(err, "Inspect")
		c.isCancelled(s.Workspaces.WriteSalvage(ctx, run, 1, filepath.Join(c.TempDir(), "out")), "WriteSalvage")
		c.isCancelled(s.Workspaces.DropSalvage(ctx, run, 1), "DropSalvage")
		_, err = s.Workspaces.Salvaged(ctx, run)
		c.isCancelled(err, "Salvaged")
		s.exists(c, ports.Base, true)
		s.exists(c, "kid", false)
		s.branch(c, mainBranch, s.base)
		s.branch(c, place("kid").Branch, "")
		s.holds(c, ws, with(firstFiles, "a.txt", "changed\n"))
		same(c, numbers(s.salvaged(c)), []int{1}, "the salvage")
		s.putBack(c, ws, s.base)
		s.clean(c, ws, s.base)
	},
}, {
	"a cancelled question is answered or cancelled",
	"A question under a cancelled context is answered, or fails with context.Canceled, which has no Kind.",
	func(c *check, s *worksite) {
		ctx := over(c)
		ask := func(doing string, err error) {
			if err != nil {
				c.isCancelled(err, doing)
			}
		}
		_, err := s.Workspaces.Branch(ctx, mainBranch)
		ask("Branch", err)
		_, err = s.run.Exists(ctx, ports.Base)
		ask("Exists", err)
		_, err = s.run.Identity(ctx)
		ask("Identity", err)
		ask("Check", s.Workspaces.Check(ctx))
	},
}}

var guardRules = []rule[*worksite]{{
	"a guard is of its own form",
	"Guard returns JSON, and Verify finds no difference while nothing has changed that it is about: files, commits, branches are none.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		guard, err := ws.Guard(c.Context())
		c.must(err, "taking a guard")
		if !json.Valid(guard) {
			c.Errorf("the guard is %s; want JSON", guard)
		}
		s.step(c, ports.Base, ws, s.base, "a.txt", "next\n")
		s.open(c, "kid", s.base)
		s.putBack(c, ws, s.base)
		c.must(ws.Verify(c.Context(), guard), "comparing with the guard")
		c.must(ws.Verify(c.Context(), nil), "comparing with nothing")
		again := s.open(c, ports.Base, s.base)
		c.must(again.Verify(c.Context(), guard), "comparing with the guard after opening again")
	},
}, {
	"tampering is found",
	"A difference is a *TamperedError, which says what changed; when it is undone there is none.",
	func(c *check, s *worksite) {
		c.needs(s.Tamper != nil, "Repository.Tamper")
		ws := s.open(c, ports.Base, s.base)
		guard, err := ws.Guard(c.Context())
		c.must(err, "taking a guard")
		undo, err := s.Tamper(ws)
		c.must(err, "tampering")
		err = ws.Verify(c.Context(), guard)
		var tampered *ports.TamperedError
		if !errors.As(err, &tampered) || len(tampered.Changes) == 0 {
			c.Errorf("want a *TamperedError with changes, got %v", err)
		}
		c.must(ws.Verify(c.Context(), nil), "comparing with nothing")
		c.must(undo(), "undoing it")
		c.must(ws.Verify(c.Context(), guard), "comparing when it is undone")
	},
}}
