package aglvet

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// reportViews reports the views that fn shows, and that read what is changed
// while they are shown: another goroutine calls them, at any time.
func (s *stepping) reportViews(fn *ssa.Function) {
	for instr := range instructions(fn) {
		site, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		call := site.Common()
		callee, bound := s.function(call.Value)
		args := append(bound, call.Args...)
		if obj := object(callee); obj == nil || !isShow(obj) || len(args) != 2 {
			continue
		}
		made, _ := s.place(args[1]).root.(*ssa.MakeClosure)
		view, _ := s.function(args[1])
		if view == nil || locks(view) {
			continue
		}
		if what, where := s.changedUnder(fn, instr, made, view); what != "" {
			s.report(s.start(instr), "this view reads %s, which %s changes, and is called by another goroutine at any time: "+
				"let it show its Status, or a copy that nothing changes", what, where)
		}
	}
}

// isShow says that fn is the method of *agl.Run by which a view is shown.
func isShow(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && isPointerTo(recv.Type(), "Run") && fn.Name() == "Show"
}

// locks says that fn takes a lock, as what reads what others change is to do.
func locks(fn *ssa.Function) bool {
	for instr := range instructions(fn) {
		site, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		name := ""
		if call := site.Common(); call.IsInvoke() {
			name = call.Method.Name()
		} else if callee := call.StaticCallee(); callee != nil {
			name = callee.Name()
		}
		if name == "Lock" || name == "RLock" {
			return true
		}
	}
	return false
}

// changedUnder returns what a view reads and something changes when it is shown
// already, and where; "" if there is nothing.
func (s *stepping) changedUnder(fn *ssa.Function, show ssa.Instruction, made *ssa.MakeClosure, view *ssa.Function) (what, where string) {
	for instr := range instructions(view) {
		for _, operand := range instr.Operands(nil) {
			global, ok := (*operand).(*ssa.Global)
			if !ok {
				continue
			}
			if obj, ok := global.Object().(*types.Var); ok {
				if at := s.knownVar(obj).Assigned; at != "" {
					return "package variable " + obj.Name(), at
				}
			}
		}
	}
	if made == nil {
		return "", ""
	}
	for _, captured := range made.Bindings {
		variable := s.variable(captured)
		if variable == nil || safe(variable.Type()) {
			continue
		}
		later := after(show, variable)
		for _, at := range s.fns {
			for instr := range instructions(at) {
				if at != view && s.changes(instr, variable) && s.happens(fn, at, instr, later) {
					return variable.Comment, s.line(s.start(instr))
				}
			}
		}
	}
	return "", ""
}

// safe says that a variable of this type, or what it points to, may be used by
// several goroutines.
func safe(t types.Type) bool {
	for {
		switch u := types.Unalias(t).(type) {
		case *types.Pointer:
			t = u.Elem()
			continue
		case *types.Chan:
			return true
		case *types.Named:
			pkg := u.Obj().Pkg()
			return pkg != nil && (pkg.Path() == "sync" || pkg.Path() == "sync/atomic")
		}
		return false
	}
}

// variable returns the local variable that v is in, or refers to.
func (s *stepping) variable(v ssa.Value) *ssa.Alloc {
	for range 100 {
		switch x := v.(type) {
		case *ssa.Alloc:
			return x
		case *ssa.UnOp:
			v = x.X
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.IndexAddr:
			v = x.X
		case *ssa.Slice:
			v = x.X
		case *ssa.FreeVar:
			if v = s.capturedAs(x); v == nil {
				return nil
			}
		default:
			return nil
		}
	}
	return nil
}

// changes says that an instruction changes a variable, or what it refers to.
func (s *stepping) changes(instr ssa.Instruction, variable *ssa.Alloc) bool {
	switch instr := instr.(type) {
	case *ssa.Store:
		return s.variable(instr.Addr) == variable
	case *ssa.MapUpdate:
		return s.variable(instr.Map) == variable
	case *ssa.Call:
		call := instr.Common()
		if b, ok := call.Value.(*ssa.Builtin); ok {
			return (b.Name() == "delete" || b.Name() == "clear" || b.Name() == "copy") && s.variable(call.Args[0]) == variable
		}
		fn, _ := s.function(call.Value)
		obj := object(fn)
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != aglPath || obj.Name() != "Into" {
			return false
		}
		return s.variable(call.Args[len(call.Args)-1]) == variable
	}
	return false
}

// happens says that an instruction of at, which is fn or a literal in it, may
// be executed later, or beside fn.
func (s *stepping) happens(fn, at *ssa.Function, instr ssa.Instruction, later map[ssa.Instruction]bool) bool {
	if at == fn {
		return later[instr]
	}
	for at.Parent() != nil && at.Parent() != fn {
		at = at.Parent()
	}
	made := s.made[at]
	if at.Parent() != fn || made == nil {
		return true // of a function around fn, which goes on by itself
	}
	return later[made] || s.usedLater(made, later)
}

// usedLater says that a literal is called later, or in a goroutine.
func (s *stepping) usedLater(value ssa.Value, later map[ssa.Instruction]bool) bool {
	for _, user := range *value.Referrers() {
		if later[user] {
			return true
		}
		switch user := user.(type) {
		case *ssa.Go:
			return true
		case *ssa.Call:
			callee, _ := s.function(user.Common().Value)
			if obj := object(callee); obj != nil && isLauncher(obj) {
				return true
			}
		case *ssa.Store:
			if variable, ok := user.Addr.(*ssa.Alloc); ok && user.Val == value && s.usedLater(variable, later) {
				return true
			}
		}
	}
	return false
}

// after returns the instructions that may be executed after show while the
// variable is the same: a loop that makes it anew makes another.
func after(show ssa.Instruction, variable *ssa.Alloc) map[ssa.Instruction]bool {
	found := make(map[ssa.Instruction]bool)
	seen := make(map[*ssa.BasicBlock]bool)
	follow := func(instrs []ssa.Instruction) bool {
		for _, instr := range instrs {
			if instr == ssa.Instruction(variable) {
				return false
			}
			found[instr] = true
		}
		return true
	}
	block := show.Block()
	at := 0
	for i, instr := range block.Instrs {
		if instr == show {
			at = i + 1
		}
	}
	var todo []*ssa.BasicBlock
	if follow(block.Instrs[at:]) {
		todo = append(todo, block.Succs...)
	}
	for ; len(todo) > 0; todo = todo[1:] {
		if next := todo[0]; !seen[next] {
			seen[next] = true
			if follow(next.Instrs) {
				todo = append(todo, next.Succs...)
			}
		}
	}
	return found
}
