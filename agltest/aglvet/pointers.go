package aglvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// pointers knows what the variables of a package refer to, as far as that is
// seen from assignments, and which parameters are written through.
type pointers struct {
	*vet
	refers  map[*types.Var][]*types.Var // a variable to those whose storage, or what they refer to, it refers to
	fresh   map[*types.Var]bool         // it is also given what nobody else has
	written map[*types.Var]bool         // parameters, whose callers' variables change
}

// A target is a variable, or what its value refers to.
type target struct {
	obj     *types.Var
	through bool
}

func (v *vet) pointers() *pointers {
	p := &pointers{v, make(map[*types.Var][]*types.Var), make(map[*types.Var]bool), make(map[*types.Var]bool)}
	for _, file := range v.pass.Files {
		p.collect(file)
	}
	for known := -1; known < len(p.written); { // a function that passes its parameter to a writer is one
		known = len(p.written)
		for _, file := range v.pass.Files {
			p.eachWrite(file, func(_ ast.Expr, target *types.Var) {
				if !isPackageLevel(target) {
					p.written[target] = true
				}
			})
		}
	}
	for _, obj := range v.pass.TypesInfo.Defs {
		fn, ok := obj.(*types.Func)
		if !ok {
			continue
		}
		for i, param := range parameters(fn.Signature()) {
			if p.written[param] {
				v.fact(fn).Writes = append(v.fact(fn).Writes, i)
			}
		}
	}
	return p
}

// collect notes what the variables of a file are assigned.
func (p *pointers) collect(file *ast.File) {
	info := p.pass.TypesInfo
	note := func(name, value ast.Expr) {
		id, ok := name.(*ast.Ident)
		if !ok {
			return
		}
		obj, ok := info.ObjectOf(id).(*types.Var)
		if !ok || !refersTo(obj.Type()) || value != nil && info.Types[value].IsNil() {
			return
		}
		switch at := p.referent(value); {
		case at.obj == nil, !at.through && !isPackageLevel(at.obj): // a new value, or a local variable
			p.fresh[obj] = true
		default:
			p.refers[obj] = append(p.refers[obj], at.obj)
		}
	}
	assign := func(names, values []ast.Expr) {
		for i, name := range names {
			switch {
			case len(names) == len(values):
				note(name, values[i])
			case len(values) == 1 && i == 0: // v, ok := m[k]
				note(name, values[0])
			case len(values) == 1:
				note(name, nil)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			assign(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				names[i] = name
			}
			assign(names, n.Values)
		case *ast.RangeStmt: // its elements refer to what it refers to
			note(n.Key, n.X)
			note(n.Value, n.X)
		}
		return true
	})
}

// root returns what an assignment to x changes.
func (p *pointers) root(x ast.Expr) target {
	info := p.pass.TypesInfo
	through := false
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x, through = e.X, true
		case *ast.IndexExpr:
			x, through = e.X, through || !isArray(info.TypeOf(e.X))
		case *ast.SliceExpr:
			x, through = e.X, through || !isArray(info.TypeOf(e.X))
		case *ast.SelectorExpr:
			if sel := info.Selections[e]; sel == nil { // a qualified identifier
				x = e.Sel
			} else {
				x, through = e.X, through || sel.Indirect()
			}
		case *ast.Ident:
			obj, _ := info.ObjectOf(e).(*types.Var)
			return target{obj, through}
		default:
			return target{}
		}
	}
}

// referent returns what the value of x refers to: a pointer, a map, a slice.
// A new value refers to nothing that anybody else has.
func (p *pointers) referent(x ast.Expr) target {
	if x == nil {
		return target{}
	}
	switch e := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return p.root(e.X)
		}
		return target{}
	case *ast.SliceExpr:
		return p.root(e)
	}
	t := p.pass.TypesInfo.TypeOf(x)
	at := p.root(x)
	at.through = at.through || refersTo(t)
	return at
}

// targets tells the package-level variables and parameters behind a target.
func (p *pointers) targets(at target, tell func(*types.Var)) {
	if at.obj == nil {
		return
	}
	if isPackageLevel(at.obj) {
		tell(at.obj)
	}
	if !at.through {
		return
	}
	seen := make(map[*types.Var]bool)
	var follow func(*types.Var)
	follow = func(obj *types.Var) {
		if seen[obj] || p.fresh[obj] && !isPackageLevel(obj) {
			return
		}
		seen[obj] = true
		if isPackageLevel(obj) || obj.Kind() == types.ParamVar || obj.Kind() == types.RecvVar {
			tell(obj)
		}
		for _, next := range p.refers[obj] {
			follow(next)
		}
	}
	follow(at.obj)
}

// parameters returns those of a signature, a receiver first.
func parameters(sig *types.Signature) []*types.Var {
	params := slices.Collect(sig.Params().Variables())
	if sig.Recv() != nil {
		params = append([]*types.Var{sig.Recv()}, params...)
	}
	return params
}

func isArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// refersTo says that changing what a value of type t refers to is seen by
// others who have the value.
func refersTo(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice:
		return true
	}
	return false
}
