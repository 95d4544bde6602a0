package aglvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// assigned returns the package-level variables that this package assigns
// outside their declarations and init functions, with the first place of each.
// What tests replace for a while is not assigned, and loggers only write.
func (v *vet) assigned() map[*types.Var]token.Pos {
	found := make(map[*types.Var]token.Pos)
	for _, file := range v.pass.Files {
		test := v.inTest(file.Pos())
		add := func(x ast.Expr) {
			obj := v.packageVar(x)
			if obj == nil || isLogger(obj.Type()) || test && !v.declaredInTest(obj) {
				return
			}
			if _, ok := found[obj]; !ok {
				found[obj] = x.Pos()
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
					if n.Value != nil {
						add(n.Value)
					}
				}
			case *ast.CallExpr:
				for _, x := range v.changedBy(n) {
					add(x)
				}
			}
			return true
		})
	}
	return found
}

// changedBy returns what a call may assign: an argument whose address it gets,
// what delete, clear and copy change, and an atomic value that it changes.
func (v *vet) changedBy(call *ast.CallExpr) []ast.Expr {
	info := v.pass.TypesInfo
	switch fn := typeutil.Callee(info, call).(type) {
	case *types.Builtin:
		switch fn.Name() {
		case "delete", "clear", "copy":
			return call.Args[:1]
		}
	case *types.Func:
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || fn.Signature().Recv() == nil || fn.Pkg() == nil {
			break
		}
		atomic := fn.Pkg().Path() == "sync/atomic" || fn.Pkg().Path() == "sync" && isNamed(info.TypeOf(sel.X), "sync", "Map")
		if atomic && fn.Name() != "Load" && fn.Name() != "Range" {
			return []ast.Expr{sel.X}
		}
	}
	var changed []ast.Expr
	for _, arg := range call.Args {
		addr, ok := ast.Unparen(arg).(*ast.UnaryExpr)
		if ok && addr.Op == token.AND && !isNamed(info.TypeOf(addr.X), "sync", "Mutex", "RWMutex", "Once", "WaitGroup", "Pool", "Cond") {
			changed = append(changed, addr.X)
		}
	}
	return changed
}

// packageVar returns the package-level variable that an assignment to x
// changes, itself or in part, or nil.
func (v *vet) packageVar(x ast.Expr) *types.Var {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SelectorExpr:
			if v.pass.TypesInfo.Selections[e] == nil { // a qualified identifier
				x = e.Sel
			} else {
				x = e.X
			}
		case *ast.Ident:
			if obj, ok := v.pass.TypesInfo.Uses[e].(*types.Var); ok && isPackageLevel(obj) {
				return obj
			}
			return nil
		default:
			return nil
		}
	}
}

func (v *vet) declaredInTest(obj types.Object) bool {
	return obj.Pkg() == v.pass.Pkg && v.inTest(obj.Pos())
}

func isLogger(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && (isNamed(p.Elem(), "log/slog", "Logger") || isNamed(p.Elem(), "log", "Logger"))
}
