package aglvet

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A place is what holds a Run: a value, or a field of one. A variable and what
// is in it are one place.
type place struct {
	root ssa.Value // a parameter, a variable, a result, …; never a captured variable, but what was captured
	path string    // of fields
}

// maxPath bounds how deep in fields a Run is looked for: a function that walks
// a list calls itself with one more each time.
const maxPath = 4

// A param is a parameter's place, for callers: Index counts a receiver too.
type param struct {
	Index int
	Path  string
}

// A use is an instruction that steps a Run, or starts a goroutine that does.
type use struct {
	at       place
	launch   bool
	deferred bool
}

// stepping knows which function of a package steps which Run.
type stepping struct {
	*vet
	fns   []*ssa.Function
	steps map[*ssa.Function][]place // that are more than its own
	waits map[*ssa.Function]bool
	made  map[*ssa.Function]*ssa.MakeClosure // where each literal is made
	calls map[token.Pos]token.Pos            // where a call begins, by its parenthesis
	names map[ssa.Value]string               // of the variable that holds a value
}

// steps checks what the verbs of the package are used for, and fills the facts
// for importers.
func (v *vet) steps() {
	if !slices.ContainsFunc(v.pass.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == aglPath }) {
		return // whoever steps a Run says *agl.Run somewhere
	}
	s := &stepping{
		vet: v, fns: v.buildSSA(), steps: make(map[*ssa.Function][]place), waits: make(map[*ssa.Function]bool),
		made: make(map[*ssa.Function]*ssa.MakeClosure), calls: make(map[token.Pos]token.Pos), names: make(map[ssa.Value]string),
	}
	for _, file := range v.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && v.line(call.Pos()) == v.line(call.Lparen) {
				s.calls[call.Lparen] = call.Pos()
			}
			return true
		})
	}
	for _, fn := range s.fns {
		s.steps[fn] = nil
		for instr := range instructions(fn) {
			if c, ok := instr.(*ssa.MakeClosure); ok {
				s.made[c.Fn.(*ssa.Function)] = c
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, fn := range s.fns {
			changed = s.summarize(fn) || changed
		}
	}
	for _, fn := range s.fns {
		s.reportDropped(fn)
		s.reportGoroutines(fn)
		s.reportWorktrees(fn)
		s.reportViews(fn)
		s.export(fn)
	}
	s.reportMapOrder()
	s.reportSelectOrder()
}

// buildSSA returns every function of the package, with the literals in it. It
// does what passes/buildssa does, only for packages that need it.
func (v *vet) buildSSA() []*ssa.Function {
	prog := ssa.NewProgram(v.pass.Fset, 0)
	for _, p := range v.pass.Pkg.Imports() {
		prog.CreatePackage(p, nil, nil, true)
	}
	pkg := prog.CreatePackage(v.pass.Pkg, v.pass.Files, v.pass.TypesInfo, false)
	pkg.Build()
	var fns []*ssa.Function
	var add func(*ssa.Function)
	add = func(fn *ssa.Function) {
		fns = append(fns, fn)
		for _, literal := range fn.AnonFuncs {
			add(literal)
		}
	}
	add(pkg.Func("init")) // the initializers of variables
	for _, obj := range v.pass.TypesInfo.Defs {
		if obj, ok := obj.(*types.Func); ok {
			if fn := prog.FuncValue(obj); fn != nil && fn.Pkg == pkg {
				add(fn)
			}
		}
	}
	slices.SortFunc(fns, func(a, b *ssa.Function) int { return cmp.Compare(a.Pos(), b.Pos()) })
	return fns
}

// summarize notes what fn steps and waits for, and says whether that is news.
func (s *stepping) summarize(fn *ssa.Function) bool {
	news := false
	for instr := range instructions(fn) {
		for _, u := range s.uses(instr) {
			if _, ok := u.at.root.(*ssa.Parameter); u.at.root.Parent() == fn && !ok {
				continue // a Run of its own
			}
			if strings.Count(u.at.path, ".") > maxPath {
				continue
			}
			if !slices.Contains(s.steps[fn], u.at) {
				s.steps[fn] = append(s.steps[fn], u.at)
				news = true
			}
		}
		d, deferred := instr.(*ssa.Defer)
		if !s.waits[fn] && (s.isWait(instr) || deferred && s.waitsIn(d.Common())) {
			s.waits[fn] = true
			news = true
		}
	}
	return news
}

func (s *stepping) export(fn *ssa.Function) {
	obj, ok := fn.Object().(*types.Func)
	if !ok {
		return
	}
	if s.waits[fn] {
		s.fact(obj).Waits = true
	}
	for _, at := range s.steps[fn] {
		if p, ok := at.root.(*ssa.Parameter); ok && p.Parent() == fn {
			fact := s.fact(obj)
			fact.Steps = append(fact.Steps, param{slices.Index(fn.Params, p), at.path})
			slices.SortFunc(fact.Steps, func(a, b param) int { return cmp.Or(a.Index-b.Index, cmp.Compare(a.Path, b.Path)) })
		}
	}
}

// uses returns the Runs that one instruction steps.
func (s *stepping) uses(instr ssa.Instruction) []use {
	site, ok := instr.(ssa.CallInstruction)
	if !ok {
		return nil
	}
	var found []use
	_, deferred := instr.(*ssa.Defer)
	_, launch := instr.(*ssa.Go)
	add := func(at place) { found = append(found, use{at, launch, deferred}) }
	call := site.Common()
	fn, args := s.function(call.Value)
	args = append(args, call.Args...)
	obj := object(fn)
	switch {
	case fn == nil:
	case obj != nil && isOrdered(obj):
		add(s.place(args[0]))
	default:
		s.stepsOf(fn, args, add)
	}
	launch = launch || obj != nil && isLauncher(obj)
	for _, arg := range call.Args { // a function that is passed on is called there
		if fn, args := s.function(arg); fn != nil {
			s.stepsOf(fn, args, add)
		}
	}
	return found
}

// stepsOf tells what a call of fn steps. Of its parameters, those count for
// which there are arguments.
func (s *stepping) stepsOf(fn *ssa.Function, args []ssa.Value, tell func(place)) {
	if obj := object(fn); obj != nil && isOrdered(obj) && len(args) > 0 { // a method value: group.Go(run.Step…)
		tell(s.place(args[0]))
		return
	}
	own, ok := s.steps[fn]
	if !ok {
		if obj := object(fn); obj != nil {
			for _, p := range s.known(obj).Steps {
				if p.Index < len(args) {
					at := s.place(args[p.Index])
					tell(place{at.root, at.path + p.Path})
				}
			}
		}
		return
	}
	for _, at := range own {
		p, ok := at.root.(*ssa.Parameter)
		if !ok || p.Parent() != fn {
			tell(at)
			continue
		}
		if i := slices.Index(fn.Params, p); i < len(args) {
			arg := s.place(args[i])
			tell(place{arg.root, arg.path + at.path})
		}
	}
}

// function returns the function that v is, and the receiver if it is bound to
// one.
func (s *stepping) function(v ssa.Value) (*ssa.Function, []ssa.Value) {
	switch v := s.place(v).root.(type) {
	case *ssa.Function:
		if v.Origin() != nil {
			v = v.Origin()
		}
		return v, nil
	case *ssa.MakeClosure:
		fn := v.Fn.(*ssa.Function)
		if obj, ok := fn.Object().(*types.Func); ok && fn.Parent() == nil { // a method value
			if method := fn.Prog.FuncValue(obj.Origin()); method != nil {
				return method, v.Bindings
			}
			return nil, nil
		}
		return fn, nil
	}
	return nil, nil
}

// object returns the declaration of fn, if it has one.
func object(fn *ssa.Function) *types.Func {
	if fn == nil {
		return nil
	}
	obj, _ := fn.Object().(*types.Func)
	if obj != nil {
		return obj.Origin()
	}
	return nil
}

// place follows v to what it stands for.
func (s *stepping) place(v ssa.Value) place {
	path := ""
	for range 100 { // a variable can be assigned from itself
		switch x := v.(type) {
		case *ssa.UnOp:
			if x.Op != token.MUL {
				return place{v, path}
			}
			v = x.X
		case *ssa.FieldAddr:
			path, v = "."+fieldName(x.X.Type(), x.Field)+path, x.X
		case *ssa.Field:
			path, v = "."+fieldName(x.X.Type(), x.Field)+path, x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.FreeVar:
			if v = s.capturedAs(x); v == nil {
				return place{x, path}
			}
		case *ssa.Alloc:
			values := s.stored(x)
			if len(values) != 1 {
				return place{v, path}
			}
			s.names[values[0]] = x.Comment
			v = values[0]
		default:
			return place{v, path}
		}
	}
	return place{v, path}
}

// capturedAs returns what a literal has captured as one of its free variables;
// nil if that is not known.
func (s *stepping) capturedAs(v *ssa.FreeVar) ssa.Value {
	made := s.made[v.Parent()]
	if made == nil {
		return nil
	}
	return made.Bindings[slices.Index(v.Parent().FreeVars, v)]
}

func fieldName(t types.Type, i int) string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.Underlying().(*types.Struct).Field(i).Name()
}

// stored returns what is assigned to a variable, in literals that capture it too.
func (s *stepping) stored(variable ssa.Value) []ssa.Value {
	var values []ssa.Value
	for _, instr := range *variable.Referrers() {
		switch instr := instr.(type) {
		case *ssa.Store:
			if instr.Addr == variable {
				values = append(values, instr.Val)
			}
		case *ssa.MakeClosure:
			for i, b := range instr.Bindings {
				if b == variable {
					values = append(values, s.stored(instr.Fn.(*ssa.Function).FreeVars[i])...)
				}
			}
		}
	}
	return values
}
