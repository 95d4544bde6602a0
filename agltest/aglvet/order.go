package aglvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// reportMapOrder reports verbs in the order of a map, on a Run from outside of
// the loop. A worktree for each key is fine: its records are its own.
func (s *stepping) reportMapOrder() {
	type loop struct {
		stmt *ast.RangeStmt
		told map[place]bool
	}
	var loops []loop
	for _, file := range s.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if stmt, ok := n.(*ast.RangeStmt); ok && s.isMapOrdered(stmt.X) {
				loops = append(loops, loop{stmt, make(map[place]bool)})
			}
			return true
		})
	}
	within := func(l loop, pos token.Pos) bool { return l.stmt.Body.Pos() <= pos && pos < l.stmt.Body.End() }
	for _, fn := range s.fns {
		for instr := range instructions(fn) {
			for _, u := range s.uses(instr) {
				for _, l := range loops {
					if within(l, instr.Pos()) && !within(l, position(u.at.root)) && !l.told[u.at] {
						l.told[u.at] = true
						s.report(s.start(instr), "%s is stepped in the order of a map, which differs each time: range over its sorted keys (slices.Sorted(maps.Keys(m)))", s.describe(u.at))
					}
				}
			}
		}
	}
}

// isMapOrdered says that a range over x has no fixed order.
func (s *stepping) isMapOrdered(x ast.Expr) bool {
	t := s.pass.TypesInfo.TypeOf(x)
	if t == nil {
		return false
	}
	if _, ok := t.Underlying().(*types.Map); ok {
		return true
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := s.pass.TypesInfo.Uses[sel.Sel].(*types.Func)
	switch {
	case !ok || fn.Pkg() == nil:
		return false
	case fn.Pkg().Path() == "maps":
		return slices.Contains([]string{"All", "Keys", "Values"}, fn.Name())
	case fn.Pkg().Path() == "slices" && fn.Name() == "Collect":
		return s.isMapOrdered(call.Args[0])
	}
	return false
}

// reportSelectOrder reports a select of which more than one case steps a Run
// from outside of it: which is ready first differs each time.
func (s *stepping) reportSelectOrder() {
	for _, file := range s.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if stmt, ok := n.(*ast.SelectStmt); ok {
				s.reportSelect(stmt)
			}
			return true
		})
	}
}

func (s *stepping) reportSelect(stmt *ast.SelectStmt) {
	first := make(map[place]ast.Stmt) // the case that steps a Run
	for _, clause := range stmt.Body.List {
		for _, fn := range s.fns {
			for instr := range instructions(fn) {
				if instr.Pos() < clause.Pos() || instr.Pos() >= clause.End() {
					continue
				}
				for _, u := range s.uses(instr) {
					made := position(u.at.root)
					switch {
					case stmt.Pos() <= made && made < stmt.End():
					case first[u.at] == nil:
						first[u.at] = clause
					case first[u.at] != clause:
						s.report(stmt.Pos(), "%s is stepped by more than one case of this select, and which is ready first differs each time: receive from all, then step in a fixed order", s.describe(u.at))
						return
					}
				}
			}
		}
	}
}
