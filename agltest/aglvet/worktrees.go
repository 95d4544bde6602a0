package aglvet

import (
	"go/ast"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// reportWorktrees reports worktrees that are opened in a loop under one name:
// names are unique in the whole run, whatever Run they are opened from.
func (s *stepping) reportWorktrees(fn *ssa.Function) {
	for instr := range instructions(fn) {
		site, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		callee, _ := s.function(site.Common().Value)
		obj := object(callee)
		if obj == nil || !isVerb(obj) || obj.Name() != "Worktree" {
			continue
		}
		args := site.Common().Args // the name is the last, also of a method value
		if _, ok := args[len(args)-1].(*ssa.Const); ok && s.loops(instr.Block()) {
			s.report(s.start(instr), "this opens a worktree of the same name in each round of a loop, and the second time is Invalid: names are unique in the whole run, put what differs into this one")
		}
	}
}

// loops says that a block is executed again: it is in a loop, or in a literal,
// the body of a range over a function among them, that is made in one or is one.
func (s *stepping) loops(block *ssa.BasicBlock) bool {
	for {
		if slices.ContainsFunc(block.Succs, func(next *ssa.BasicBlock) bool { return reaches(next, block) }) {
			return true
		}
		fn := block.Parent()
		if _, ok := fn.Syntax().(*ast.RangeStmt); ok && slices.ContainsFunc(fn.Blocks, func(b *ssa.BasicBlock) bool {
			ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
			return ok && goesOn(fn, ret) && reaches(block, b)
		}) {
			return true
		}
		made := s.made[fn]
		if made == nil {
			return false
		}
		block = made.Block()
	}
}
