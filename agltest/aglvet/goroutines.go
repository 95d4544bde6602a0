package aglvet

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// reportGoroutines reports the goroutines of fn that step a Run while somebody
// else does: what is reached from the start of one, before anything waits, is
// under way beside it.
func (s *stepping) reportGoroutines(fn *ssa.Function) {
	for instr := range instructions(fn) {
		for _, u := range s.uses(instr) {
			if !u.launch {
				continue
			}
			if clash := s.beside(fn, instr, u.at); clash != nil {
				what := "other goroutines of the same loop do"
				if clash != instr {
					what = s.line(s.start(clash)) + " does"
				}
				s.report(s.start(instr), "this goroutine steps %s while %s, and the order of verbs on one Run must be fixed: "+
					"give each goroutine a Run of its own by run.Worktree, or wait for it first", s.describe(u.at), what)
				break
			}
		}
	}
}

// beside returns an instruction that steps the Run at a place, and may be
// executed after launch without anything between that waits; nil if there is none.
func (s *stepping) beside(fn *ssa.Function, launch ssa.Instruction, at place) ssa.Instruction {
	seen := make(map[*ssa.BasicBlock]bool)
	var from func(b *ssa.BasicBlock, instrs []ssa.Instruction) ssa.Instruction
	from = func(b *ssa.BasicBlock, instrs []ssa.Instruction) ssa.Instruction {
		for _, instr := range instrs {
			if v, ok := instr.(ssa.Value); ok && v == at.root {
				return nil // another Run from here
			}
			for _, u := range s.uses(instr) {
				if u.at == at && !u.deferred {
					return instr
				}
			}
			if s.isWait(instr) {
				return nil
			}
			if _, ok := instr.(*ssa.RunDefers); ok {
				return s.deferredBeside(fn, launch, at)
			}
			if ret, ok := instr.(*ssa.Return); ok && goesOn(fn, ret) && !seen[fn.Blocks[0]] {
				seen[fn.Blocks[0]] = true
				return from(fn.Blocks[0], fn.Blocks[0].Instrs)
			}
		}
		for _, next := range b.Succs {
			if seen[next] {
				continue
			}
			seen[next] = true
			if found := from(next, next.Instrs); found != nil {
				return found
			}
		}
		return nil
	}
	block := launch.Block()
	return from(block, block.Instrs[slices.Index(block.Instrs, launch)+1:])
}

// deferredBeside is the same for what fn deferred on a path with launch: the
// last comes first.
func (s *stepping) deferredBeside(fn *ssa.Function, launch ssa.Instruction, at place) ssa.Instruction {
	for _, instr := range slices.Backward(slices.Collect(instructions(fn))) {
		d, ok := instr.(*ssa.Defer)
		if !ok || d == launch || !reaches(d.Block(), launch.Block()) && !reaches(launch.Block(), d.Block()) {
			continue
		}
		if s.waitsIn(d.Common()) {
			return nil
		}
		if slices.ContainsFunc(s.uses(d), func(u use) bool { return u.at == at }) {
			return d
		}
	}
	return nil
}

func reaches(from, to *ssa.BasicBlock) bool {
	seen := make(map[*ssa.BasicBlock]bool)
	for todo := []*ssa.BasicBlock{from}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == to {
			return true
		}
		if !seen[todo[0]] {
			seen[todo[0]] = true
			todo = append(todo, todo[0].Succs...)
		}
	}
	return false
}

// goesOn says that fn is the body of a loop over an iterator and ret asks for
// the next round.
func goesOn(fn *ssa.Function, ret *ssa.Return) bool {
	if _, ok := fn.Syntax().(*ast.RangeStmt); !ok || len(ret.Results) != 1 {
		return false
	}
	c, ok := ret.Results[0].(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Bool && constant.BoolVal(c.Value)
}

// isLauncher says that fn starts a goroutine with the function it gets.
func isLauncher(fn *types.Func) bool {
	if fn.Name() != "Go" && fn.Name() != "TryGo" || fn.Signature().Recv() == nil || fn.Pkg() == nil {
		return false
	}
	path := fn.Pkg().Path()
	return path == "sync" || path == "golang.org/x/sync/errgroup"
}

// isWait says that instr may wait for goroutines: a receive, a select, a call
// of something named Wait, of a function that waits, or of one that gets what
// there is to wait on.
func (s *stepping) isWait(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		return instr.Op == token.ARROW
	case *ssa.Select:
		return true
	case *ssa.Call:
		return s.waitsIn(instr.Common())
	}
	return false
}

// waitsIn is the same for a call.
func (s *stepping) waitsIn(call *ssa.CallCommon) bool {
	if call.IsInvoke() {
		return call.Method.Name() == "Wait"
	}
	if _, ok := call.Value.(*ssa.Builtin); ok {
		return false
	}
	fn, _ := s.function(call.Value)
	obj := object(fn)
	switch {
	case fn != nil && s.waits[fn], obj != nil && (obj.Name() == "Wait" || s.known(obj).Waits):
		return true
	case obj != nil && obj.Signature().Recv() != nil && obj.Pkg() != nil && obj.Pkg() != s.pass.Pkg:
		return false // group.Go, group.Add, …
	}
	return slices.ContainsFunc(call.Args, func(arg ssa.Value) bool {
		t := arg.Type()
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		_, channel := t.Underlying().(*types.Chan)
		return channel || isNamed(t, "sync", "WaitGroup") || isNamed(t, "golang.org/x/sync/errgroup", "Group")
	})
}

// instructions ranges over fn's code.
func instructions(fn *ssa.Function) iter.Seq[ssa.Instruction] {
	return func(yield func(ssa.Instruction) bool) {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if !yield(instr) {
					return
				}
			}
		}
	}
}

// position returns where a value is made.
func position(v ssa.Value) token.Pos {
	if e, ok := v.(*ssa.Extract); ok {
		return e.Tuple.Pos()
	}
	return v.Pos()
}

// start returns where to report a call: where it begins, if that is the line of
// its arguments.
func (s *stepping) start(instr ssa.Instruction) token.Pos {
	return cmp.Or(s.calls[instr.Pos()], instr.Pos())
}

// describe names what is at a place.
func (s *stepping) describe(at place) string {
	name := s.names[at.root]
	switch v := at.root.(type) {
	case *ssa.Parameter, *ssa.Global:
		name = v.Name()
	case *ssa.Alloc:
		name = v.Comment
	}
	return cmp.Or(name, "a Run") + at.path
}
