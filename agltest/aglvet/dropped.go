package aglvet

import (
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

// isUsed says that v goes anywhere but into conversions that go nowhere.
func isUsed(v ssa.Value) bool {
	for _, instr := range *v.Referrers() {
		switch instr := instr.(type) {
		case *ssa.DebugRef:
		case *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType:
			if isUsed(instr.(ssa.Value)) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
