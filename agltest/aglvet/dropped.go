package aglvet

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// reportDropped reports the errors of verbs, and of functions that call verbs,
// that nothing reads, and the tasks that nothing steps.
func (s *stepping) reportDropped(fn *ssa.Function) {
	for instr := range instructions(fn) {
		site, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		callee, _ := s.function(site.Common().Value)
		if obj := object(callee); obj != nil && (isVerb(obj) || canFail(obj) && s.stepsParameter(callee)) {
			if call, ok := instr.(*ssa.Call); !ok || !s.errorIsRead(call) {
				s.report(s.start(instr), "nothing reads the error of %s: a workflow that goes on after it takes a failed step for a done one; return it", nameOf(obj))
			}
			continue
		}
		call, ok := instr.(*ssa.Call)
		if !ok || !isAGL(call.Type(), "Task", "Call", "Query", "Fix", "Edit", "FuncOf") || isUsed(call) {
			continue
		}
		verb := "run.Step"
		if isAGL(call.Type(), "Call", "FuncOf") {
			verb = "run.Do"
		} else if isAGL(call.Type(), "Query") {
			verb = "run.Ask"
		}
		s.report(s.start(instr), "this builds a task that nothing runs: give it to %s", verb)
	}
}

// stepsParameter says that fn steps a Run that it gets.
func (s *stepping) stepsParameter(fn *ssa.Function) bool {
	for _, at := range s.steps[fn] {
		if p, ok := at.root.(*ssa.Parameter); ok && p.Parent() == fn {
			return true
		}
	}
	return len(s.known(object(fn)).Steps) > 0
}

// errorIsRead says that something reads the last result of a call.
func (s *stepping) errorIsRead(call *ssa.Call) bool {
	results, ok := call.Type().(*types.Tuple)
	if !ok {
		return isUsed(call)
	}
	for _, instr := range *call.Referrers() {
		if e, ok := instr.(*ssa.Extract); ok && e.Index == results.Len()-1 && isUsed(e) {
			return true
		}
	}
	return false
}

// isUsed says that v goes anywhere but into conversions, and into variables and
// literals of slices, maps and structs, that go nowhere.
func isUsed(v ssa.Value) bool { return goes(v, make(map[ssa.Value]bool)) }

func goes(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false // it goes around
	}
	seen[v] = true
	for _, instr := range *v.Referrers() {
		switch instr := instr.(type) {
		case *ssa.DebugRef:
			continue
		case *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.Phi, *ssa.Slice, *ssa.FieldAddr, *ssa.IndexAddr:
			if !goes(instr.(ssa.Value), seen) {
				continue
			}
		case *ssa.UnOp:
			if instr.Op == token.MUL && !goes(instr, seen) {
				continue
			}
		case *ssa.Store:
			if instr.Addr == v || !goesIn(instr.Addr, seen) {
				continue
			}
		case *ssa.MapUpdate:
			if instr.Map == v || !goesIn(instr.Map, seen) {
				continue
			}
		case *ssa.Call:
			if b, ok := instr.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" && !goes(instr, seen) {
				continue
			}
		}
		return true
	}
	return false
}

// goesIn says that the variable or literal which addr is a part of goes anywhere,
// or is not of this function.
func goesIn(addr ssa.Value, seen map[ssa.Value]bool) bool {
	for {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			addr = a.X
		case *ssa.IndexAddr:
			addr = a.X
		case *ssa.Slice:
			addr = a.X
		case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
			return goes(a, seen)
		default:
			return true
		}
	}
}
