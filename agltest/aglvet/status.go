package aglvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// decides adds to n the uses of run.Status() in what decides how a workflow
// goes on: conditions and inputs of verbs.
func (g *graph) decides(n *node, x ast.Node) {
	switch x := x.(type) {
	case *ast.IfStmt:
		g.decidedBy(n, x.Cond)
	case *ast.ForStmt:
		g.decidedBy(n, x.Cond)
	case *ast.SwitchStmt:
		g.decidedBy(n, x.Tag)
	case *ast.CaseClause:
		for _, e := range x.List {
			g.decidedBy(n, e)
		}
	case *ast.CallExpr:
		if fn, ok := typeutil.Callee(g.pass.TypesInfo, x).(*types.Func); ok && fn.Pkg() != nil && fn.Pkg().Path() == aglPath && fn.Name() == "In" {
			for _, arg := range x.Args {
				g.decidedBy(n, arg)
			}
		}
	}
}

func (g *graph) decidedBy(n *node, x ast.Expr) {
	if pos := g.fromStatus(x); pos.IsValid() {
		n.effects = append(n.effects, effect{What: "run.Status(), which differs each time, decides what is done", Advice: "use what its verbs returned", pos: pos})
	}
}

// fromStatus returns where an expression uses run.Status(), or a variable whose
// value is made of it.
func (g *graph) fromStatus(x ast.Expr) token.Pos {
	pos := token.NoPos
	if x == nil {
		return pos
	}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			switch obj := g.pass.TypesInfo.Uses[n].(type) {
			case *types.Var:
				if g.status[obj] {
					pos = n.Pos()
				}
			case *types.Func:
				if recv := obj.Signature().Recv(); recv != nil && isPointerTo(recv.Type(), "Run") && obj.Name() == "Status" {
					pos = n.Pos()
				}
			}
		}
		return !pos.IsValid()
	})
	return pos
}

// statusVariables finds the local variables that are made of run.Status().
// Errors are none: of something that was only shown or written.
func (g *graph) statusVariables() {
	note := func(name, value ast.Expr) {
		id, ok := name.(*ast.Ident)
		if !ok || !g.fromStatus(value).IsValid() {
			return
		}
		obj, ok := g.pass.TypesInfo.ObjectOf(id).(*types.Var)
		if ok && !isPackageLevel(obj) && !types.Identical(obj.Type(), types.Universe.Lookup("error").Type()) {
			g.status[obj] = true
		}
	}
	for known := -1; known < len(g.status); {
		known = len(g.status)
		for _, file := range g.pass.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for i, name := range n.Lhs {
						if len(n.Lhs) == len(n.Rhs) {
							note(name, n.Rhs[i])
						}
					}
				case *ast.RangeStmt:
					note(n.Key, n.X)
					note(n.Value, n.X)
				case *ast.ValueSpec:
					for i, name := range n.Names {
						if len(n.Names) == len(n.Values) {
							note(name, n.Values[i])
						}
					}
				}
				return true
			})
		}
	}
}
