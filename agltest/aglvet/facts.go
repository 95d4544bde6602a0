package aglvet

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
)

// A packageFact is what other packages of a module must know of one.
type packageFact struct {
	Module string
	Funcs  []funcFact // by name, so that the same package has the same fact
	Vars   []varFact
}

// A funcFact is what callers must know of a function.
type funcFact struct {
	Name    string   // within its package
	Effects []effect // what it does when it is called
	Records []int    // parameters, functions all, that it calls inside recorded functions only
	Steps   []param  // parameters whose Run it steps
	Writes  []int    // parameters that it writes through; a receiver counts too
	Waits   bool     // it waits for goroutines
}

// A varFact is what there is to know of a package-level variable.
type varFact struct {
	Name     string
	Assigned string   // where, outside its declaration and init; empty if nowhere
	Effects  []effect // of its initializer
}

func (*packageFact) AFact() {}

func (f *packageFact) String() string {
	return fmt.Sprintf("%d functions, %d variables", len(f.Funcs), len(f.Vars))
}

// facts are what is known of this package, as far as it has been looked at.
type facts struct {
	funcs map[*types.Func]*funcFact
	vars  map[*types.Var]*varFact
}

// fact returns the fact to fill for a function of this package.
func (v *vet) fact(fn *types.Func) *funcFact {
	if v.facts.funcs[fn] == nil {
		v.facts.funcs[fn] = &funcFact{Name: nameOf(fn)}
	}
	return v.facts.funcs[fn]
}

// known returns what is known of a function of this module; it is empty for
// every other one.
func (v *vet) known(fn *types.Func) funcFact {
	if fn == nil {
		return funcFact{}
	}
	if fact := v.facts.funcs[fn]; fact != nil {
		return *fact
	}
	for _, fact := range v.imported(fn).Funcs {
		if fact.Name == nameOf(fn) {
			return fact
		}
	}
	return funcFact{}
}

// knownVar is the same for a variable at the top of a package.
func (v *vet) knownVar(obj *types.Var) varFact {
	if fact := v.facts.vars[obj]; fact != nil {
		return *fact
	}
	for _, fact := range v.imported(obj).Vars {
		if fact.Name == obj.Name() {
			return fact
		}
	}
	return varFact{}
}

// imported returns the fact of another package of this module.
func (v *vet) imported(obj types.Object) packageFact {
	var fact packageFact
	if obj.Pkg() == nil || obj.Pkg() == v.pass.Pkg || !v.pass.ImportPackageFact(obj.Pkg(), &fact) || fact.Module != v.module {
		return packageFact{}
	}
	return fact
}

// export makes the facts of this package known to those that import it.
func (v *vet) export() {
	fact := packageFact{Module: v.module}
	for _, f := range v.facts.funcs {
		fact.Funcs = append(fact.Funcs, *f)
	}
	for _, f := range v.facts.vars {
		fact.Vars = append(fact.Vars, *f)
	}
	slices.SortFunc(fact.Funcs, func(a, b funcFact) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(fact.Vars, func(a, b varFact) int { return cmp.Compare(a.Name, b.Name) })
	if len(fact.Funcs)+len(fact.Vars) > 0 {
		v.pass.ExportPackageFact(&fact)
	}
}
