package aglvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// changedBy returns the operands of a call whose referents it changes: what
// delete, clear and copy change, what functions of this module write through
// their parameters, and what others are known to.
func (p *pointers) changedBy(call *ast.CallExpr) []ast.Expr {
	info := p.pass.TypesInfo
	switch fn := typeutil.Callee(info, call).(type) {
	case *types.Builtin:
		switch fn.Name() {
		case "delete", "clear", "copy":
			return call.Args[:1]
		}
	case *types.Func:
		fn = fn.Origin()
		switch recv := p.receiver(call, fn); {
		case fn.Pkg() == nil:
		case fn.Pkg() == p.pass.Pkg && !isInterfaceMethod(fn):
			return p.writtenOf(fn.Signature(), call, recv)
		case p.inModule(fn.Pkg()) && fn.Pkg().Path() != aglPath && !isInterfaceMethod(fn):
			return operands(fn.Signature(), call, recv, func(i int) bool { return slices.Contains(p.known(fn).Writes, i) })
		default:
			return p.changedOutside(fn, call, recv)
		}
	default: // a literal, or a variable whose type is that of its literal
		if sig, ok := info.TypeOf(call.Fun).(*types.Signature); ok {
			return p.writtenOf(sig, call, nil)
		}
	}
	return nil
}

func (p *pointers) writtenOf(sig *types.Signature, call *ast.CallExpr, recv ast.Expr) []ast.Expr {
	params := parameters(sig)
	return operands(sig, call, recv, func(i int) bool { return p.written[params[i]] })
}

// operands returns those of a call, with its receiver if it is a method, whose
// parameter is wanted.
func operands(sig *types.Signature, call *ast.CallExpr, recv ast.Expr, wanted func(i int) bool) []ast.Expr {
	args := call.Args
	if recv != nil {
		args = append([]ast.Expr{recv}, args...)
	}
	var found []ast.Expr
	for i, arg := range args {
		if last := len(parameters(sig)) - 1; last >= 0 && wanted(min(i, last)) {
			found = append(found, arg)
		}
	}
	return found
}

// receiver returns what a call of a method is called on, as the pointer that the
// method gets, if it gets one.
func (p *pointers) receiver(call *ast.CallExpr, fn *types.Func) ast.Expr {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || fn.Signature().Recv() == nil {
		return nil
	}
	if s := p.pass.TypesInfo.Selections[sel]; s == nil || s.Kind() != types.MethodVal {
		return nil // its receiver is its first argument
	}
	if _, pointer := fn.Signature().Recv().Type().(*types.Pointer); pointer && !refersTo(p.pass.TypesInfo.TypeOf(sel.X)) {
		return &ast.UnaryExpr{OpPos: sel.X.Pos(), Op: token.AND, X: sel.X}
	}
	return sel.X
}

// changedOutside is the same for a function of another module, by its name:
// most get a pointer to read what is there.
func (p *pointers) changedOutside(fn *types.Func, call *ast.CallExpr, recv ast.Expr) []ast.Expr {
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(fn.Name(), prefix) })
	}
	switch path := fn.Pkg().Path(); {
	case path == "sync/atomic", path == "sync" && strings.HasPrefix(nameOf(fn), "Map."):
		if begins("Load", "Range") {
			return nil
		}
		if recv != nil {
			return []ast.Expr{recv}
		}
	case path == "errors" && fn.Name() == "As", path == aglPath && fn.Name() == "Into":
	case begins("Unmarshal", "Decode", "Scan", "Sscan", "Fscan", "Read", "Load", "Parse", "MustParse"):
	case strings.HasSuffix(fn.Name(), "Var"), strings.HasSuffix(fn.Name(), "VarP"): // of flags
	default:
		return nil
	}
	var found []ast.Expr
	for _, arg := range call.Args {
		if t := p.pass.TypesInfo.TypeOf(arg); t != nil {
			if _, pointer := t.Underlying().(*types.Pointer); pointer {
				found = append(found, arg)
			}
		}
	}
	return found
}

// inModule says that a package is one of this module, whose code is looked at.
func (v *vet) inModule(pkg *types.Package) bool {
	return v.module != "" && (pkg.Path() == v.module || strings.HasPrefix(pkg.Path(), v.module+"/"))
}

func isInterfaceMethod(fn *types.Func) bool {
	return fn.Signature().Recv() != nil && types.IsInterface(fn.Signature().Recv().Type())
}
