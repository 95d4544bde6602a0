package aglvet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// assigned returns the package-level variables that this package assigns
// outside their declarations and init functions, with the first place of each,
// and notes in the facts which functions write through their parameters. What
// tests replace for a while is not assigned, and loggers only write.
func (v *vet) assigned() map[*types.Var]token.Pos {
	p := v.pointers()
	found := make(map[*types.Var]token.Pos)
	for _, file := range v.pass.Files {
		test := v.inTest(file.Pos())
		p.eachWrite(file, func(at ast.Expr, target *types.Var) {
			if !isPackageLevel(target) || isLogger(target.Type()) || test && !v.declaredInTest(target) {
				return
			}
			if _, ok := found[target]; !ok {
				found[target] = at.Pos()
			}
		})
	}
	return found
}

// eachWrite tells each variable that a file's code changes, itself or what it
// refers to, outside of init functions.
func (p *pointers) eachWrite(file *ast.File, tell func(at ast.Expr, target *types.Var)) {
	add := func(x ast.Expr) {
		if x != nil {
			p.targets(p.root(x), func(target *types.Var) { tell(x, target) })
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Recv != nil || n.Name.Name != "init"
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				add(x)
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				add(n.Key)
				add(n.Value)
			}
		case *ast.CallExpr:
			for _, x := range p.changedBy(n) {
				p.targets(p.referent(x), func(target *types.Var) { tell(x, target) })
			}
		}
		return true
	})
}

func (v *vet) declaredInTest(obj types.Object) bool {
	return obj.Pkg() == v.pass.Pkg && v.inTest(obj.Pos())
}

func isLogger(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && (isNamed(p.Elem(), "log/slog", "Logger") || isNamed(p.Elem(), "log", "Logger"))
}
