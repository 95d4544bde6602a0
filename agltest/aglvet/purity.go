package aglvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

const (
	recordIt = "record it with run.Do(ctx, agl.Func(…))"
	passIt   = "make it a parameter of the workflow or a local variable, or " + recordIt
)

// An effect is what a function does that it must not do in a workflow function.
type effect struct {
	What   string   // "time.Now reads the clock"
	Advice string   // what to do about it
	Via    []string // from the function that is called to the one that does it
	pos    token.Pos
}

// A node is a function, with the literals in it that are not recorded, or the
// initializer of a package-level variable.
type node struct {
	name    string
	root    bool // it takes a *agl.Run
	effects []effect
	uses    []reference
}

// A reference is a use of a function or package-level variable.
type reference struct {
	obj types.Object
	pos token.Pos
}

// graph is who uses whom in one package.
type graph struct {
	*vet
	assigned map[*types.Var]token.Pos
	nodes    map[types.Object]*node
	roots    []*node

	// called are the variables of function types that are used in any other
	// way than inside recorded functions. A parameter that is not among them
	// makes its function a recorder of what is passed there.
	called map[types.Object]bool
	// decls has the declaration of each function, for its parameters.
	decls map[types.Object]*ast.FuncDecl
	// status are the local variables whose values are made of run.Status().
	status map[*types.Var]bool
}

// purity reports what a workflow function does that a resume would see
// differently, and fills the facts for importers.
func (v *vet) purity() {
	g := &graph{
		vet: v, assigned: v.assigned(), called: make(map[types.Object]bool), decls: make(map[types.Object]*ast.FuncDecl),
		status: make(map[*types.Var]bool),
	}
	g.statusVariables()
	for _, file := range v.pass.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok && decl.Body != nil {
				g.decls[v.pass.TypesInfo.Defs[decl.Name]] = decl
			}
		}
	}
	for known := -1; known < len(g.called); { // calling one recorder less may unmake others
		known = len(g.called)
		g.build()
	}
	for fn, decl := range g.decls {
		fn := fn.(*types.Func)
		if records := g.recordsOf(decl); len(records) > 0 {
			v.fact(fn).Records = records
		}
		if effects := g.summary(g.nodes[fn]); len(effects) > 0 {
			v.fact(fn).Effects = effects
		}
	}
	for obj, n := range g.nodes {
		obj, ok := obj.(*types.Var)
		if !ok {
			continue
		}
		fact := varFact{Name: obj.Name(), Effects: g.summary(n)}
		if pos, ok := g.assigned[obj]; ok {
			fact.Assigned = v.line(pos)
		}
		if fact.Assigned != "" || len(fact.Effects) > 0 {
			v.facts.vars[obj] = &fact
		}
	}
	g.reportRoots()
}

// build makes the nodes of every function and variable of the package.
func (g *graph) build() {
	g.nodes, g.roots = make(map[types.Object]*node), nil
	for _, file := range g.pass.Files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				fn := g.pass.TypesInfo.Defs[decl.Name].(*types.Func)
				if decl.Body == nil {
					continue
				}
				n := g.node(fn, nameOf(fn), takesRun(fn.Signature()))
				if !isRecorded(fn.Type()) {
					g.walk(n, decl.Body)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.ValueSpec); ok && decl.Tok == token.VAR {
						g.buildVariables(spec)
					}
				}
			}
		}
	}
}

func (g *graph) buildVariables(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		n := g.node(g.pass.TypesInfo.Defs[name], name.Name, false)
		switch {
		case len(spec.Values) == len(spec.Names):
			g.walk(n, spec.Values[i])
		case len(spec.Values) == 1: // all from one call
			g.walk(n, spec.Values[0])
		}
	}
}

func (g *graph) node(obj types.Object, name string, root bool) *node {
	n := &node{name: name, root: root}
	if obj != nil {
		g.nodes[obj] = n
	}
	if root {
		g.roots = append(g.roots, n)
	}
	return n
}

// walk adds to n what happens in a piece of its syntax.
func (g *graph) walk(n *node, syntax ast.Node) {
	info := g.pass.TypesInfo
	ast.Inspect(syntax, func(x ast.Node) bool {
		g.decides(n, x)
		switch x := x.(type) {
		case *ast.FuncLit:
			t := info.TypeOf(x).(*types.Signature)
			switch {
			case isRecorded(t):
				return false
			case takesRun(t):
				g.walk(g.node(nil, n.name, true), x.Body)
				return false
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE && len(x.Lhs) == len(x.Rhs) {
				for i, value := range x.Rhs {
					name, _ := x.Lhs[i].(*ast.Ident)
					g.walkValue(n, name, value)
				}
				return false
			}
		case *ast.ValueSpec:
			if len(x.Names) == len(x.Values) {
				for i, value := range x.Values {
					g.walkValue(n, x.Names[i], value)
				}
				return false
			}
		case *ast.CallExpr:
			records := g.records(typeutil.StaticCallee(info, x))
			if len(records) == 0 {
				return true
			}
			g.walk(n, x.Fun)
			for i, arg := range x.Args {
				if _, made := ast.Unparen(arg).(*ast.CallExpr); made || !slices.Contains(records, i) {
					g.walk(n, arg)
				}
			}
			return false
		case *ast.Ident:
			g.use(n, info.Uses[x], x.Pos())
		}
		return true
	})
}

// walkValue adds to n what the value of a new variable does. A literal that
// only recorded functions call does nothing.
func (g *graph) walkValue(n *node, name *ast.Ident, value ast.Expr) {
	_, literal := value.(*ast.FuncLit)
	if obj := g.pass.TypesInfo.Defs[name]; !literal || obj == nil || g.called[obj] {
		g.walk(n, value)
	}
}

// use adds one use of an object to n.
func (g *graph) use(n *node, obj types.Object, pos token.Pos) {
	switch o := obj.(type) {
	case *types.Func:
		obj = o.Origin()
	case *types.Var:
		if _, ok := o.Type().Underlying().(*types.Signature); ok {
			g.called[o] = true
		}
		if o.IsField() || !isPackageLevel(o) {
			return
		}
	default:
		return
	}
	if obj.Pkg() == nil || obj.Pkg().Path() == aglPath || isRecorded(obj.Type()) {
		return
	}
	if what := does(obj); what != "" {
		n.effects = append(n.effects, effect{What: obj.Pkg().Name() + "." + nameOf(obj) + " " + what, Advice: recordIt, pos: pos})
		return
	}
	n.uses = append(n.uses, reference{obj, pos})
}

// records returns the parameters of fn that it calls in recorded functions only.
func (g *graph) records(fn *types.Func) []int {
	if fn == nil {
		return nil
	}
	if decl := g.decls[fn.Origin()]; decl != nil {
		return g.recordsOf(decl)
	}
	return g.known(fn.Origin()).Records
}

func (g *graph) recordsOf(decl *ast.FuncDecl) []int {
	var records []int
	i := 0
	for _, field := range decl.Type.Params.List {
		for _, name := range field.Names {
			obj := g.pass.TypesInfo.Defs[name]
			if obj != nil && !g.called[obj] {
				if _, ok := obj.Type().Underlying().(*types.Signature); ok {
					records = append(records, i)
				}
			}
			i++
		}
		if len(field.Names) == 0 {
			i++
		}
	}
	return records
}

// outside returns the effects of using an object that is no function of this
// package: they are reported where it is used.
func (g *graph) outside(ref reference) []effect {
	var effects []effect
	switch obj := ref.obj.(type) {
	case *types.Func:
		effects = g.known(obj).Effects
	case *types.Var:
		fact := g.knownVar(obj)
		if n := g.nodes[obj]; n != nil {
			fact.Effects = g.summary(n)
		}
		if pos, ok := g.assigned[obj]; ok {
			fact.Assigned = g.line(pos)
		}
		if effects = fact.Effects; fact.Assigned != "" {
			effects = []effect{{What: "package variable " + obj.Name() + ", which " + fact.Assigned + " assigns, is used", Advice: passIt}}
		}
	}
	return effects
}

// summary returns what using n does, with the way there, for those who report
// it where they use n.
func (g *graph) summary(n *node) []effect {
	if n.root {
		return nil // it is a part of a workflow itself, and reported where it is
	}
	var found []effect
	told := make(map[string]bool)
	g.visit(n, make(map[*node]bool), func(e effect) {
		if !told[e.What] {
			told[e.What] = true
			found = append(found, e)
		}
	})
	return found
}

// reportRoots reports the effects of every workflow function, each where it
// happens in this package.
func (g *graph) reportRoots() {
	seen := make(map[*node]bool)
	told := make(map[token.Pos]bool)
	for _, root := range g.roots {
		g.visit(root, seen, func(e effect) {
			if told[e.pos] {
				return
			}
			told[e.pos] = true
			via := ""
			if len(e.Via) > 1 {
				via = " (" + strings.Join(e.Via, " → ") + ")"
			}
			g.report(e.pos, "%s in a workflow function%s, which is called again on every resume: %s", e.What, via, e.Advice)
		})
	}
}

// visit calls tell with the effects of n and of all that it uses, breadth
// first, so that each comes with a shortest way. It leaves out what is ignored.
func (g *graph) visit(n *node, seen map[*node]bool, tell func(effect)) {
	type step struct {
		n   *node
		via []string
	}
	seen[n] = true
	for todo := []step{{n, []string{g.qualify(n)}}}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		for _, e := range at.n.effects {
			if e.Via = at.via; !g.ignored(e.pos) {
				tell(e)
			}
		}
		for _, ref := range at.n.uses {
			if g.ignored(ref.pos) {
				continue
			}
			next := g.nodes[ref.obj]
			if _, ok := ref.obj.(*types.Func); ok && next != nil {
				if !next.root && !seen[next] {
					seen[next] = true
					todo = append(todo, step{next, append(slices.Clone(at.via), g.qualify(next))})
				}
				continue
			}
			for _, e := range g.outside(ref) {
				e.Via, e.pos = slices.Concat(at.via, e.Via), ref.pos
				tell(e)
			}
		}
	}
}

func (g *graph) qualify(n *node) string { return g.pass.Pkg.Name() + "." + n.name }
