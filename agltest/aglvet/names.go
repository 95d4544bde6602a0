package aglvet

import (
	"go/types"
	"slices"
)

// agl's own objects are known by name, so that this package imports nothing of
// a workflow and works with every version of agl.
const aglPath = "example.com/agl"

// isAGL says that t is one of the named types of package agl, or of ports,
// whose plain values agl has as aliases.
func isAGL(t types.Type, names ...string) bool {
	return isNamed(t, aglPath, names...) || isNamed(t, aglPath+"/ports", names...)
}

func isNamed(t types.Type, path string, names ...string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == path && slices.Contains(names, named.Obj().Name())
}

func isPointerTo(t types.Type, name string) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isAGL(p.Elem(), name)
}

// takesRun says that a function of this signature is part of a workflow.
func takesRun(sig *types.Signature) bool {
	for p := range sig.Params().Variables() {
		if isPointerTo(p.Type(), "Run") {
			return true
		}
	}
	return false
}

// isRecorded says that agl calls functions of this signature, and either keeps
// what comes of them or shows it: functions of agl.Func and handlers of tools
// get a World, resolvers a *Conflict, views a Status.
func isRecorded(t types.Type) bool {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok {
		return false
	}
	for p := range sig.Params().Variables() {
		if isAGL(p.Type(), "World", "Status") || isPointerTo(p.Type(), "Conflict") {
			return true
		}
	}
	return false
}

// isVerb says that fn is a method of *agl.Run or *agl.Conflict that can fail.
func isVerb(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && (isPointerTo(recv.Type(), "Run") || isPointerTo(recv.Type(), "Conflict")) && canFail(fn)
}

// canFail says that the last result of fn is an error.
func canFail(fn *types.Func) bool {
	results := fn.Signature().Results()
	return results.Len() > 0 && types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type())
}

// isOrdered says that fn is a verb of *agl.Run of which only one may be under
// way on a Run, and whose order counts: all but Worktree.
func isOrdered(fn *types.Func) bool {
	return isVerb(fn) && isPointerTo(fn.Signature().Recv().Type(), "Run") && fn.Name() != "Worktree"
}

// nameOf returns fn's name within its package: Name, or Type.Name for a method.
func nameOf(obj types.Object) string {
	fn, ok := obj.(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return obj.Name()
	}
	t := fn.Signature().Recv().Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return named.Obj().Name() + "." + fn.Name()
	}
	return fn.Name()
}

// isPackageLevel says that obj is declared at the top of a package.
func isPackageLevel(obj types.Object) bool {
	return obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope()
}
