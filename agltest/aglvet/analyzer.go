// Package aglvet checks that workflow functions can be resumed.
//
// A run is resumed by calling its workflow function again, so the function may
// depend on nothing but its parameters and what the verbs of [agl.Run] gave it.
// The analyzer reports where it does: it reads the clock, the environment or a
// variable that changes, its verbs come in no fixed order, or their errors are
// dropped. It looks at every function that takes a *agl.Run and at what that
// function calls in its own module, and not into what agl records: functions
// given to agl.Func, handlers of tools, resolvers and views.
//
// Run it in a test, by [Test], as part of go vet,
//
//	go build -o aglvet example.com/agl/agltest/aglvet/cmd/aglvet
//	go vet -vettool=./aglvet ./...
//
// or alone, as ./aglvet ./... .
//
// A comment silences it for its line, or alone on a line for the next one:
//
//	started := time.Now() //aglvet:ignore only logged
//
// [agl.Run]: https://pkg.go.dev/example.com/agl#Run
package aglvet

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports what keeps a workflow function from being resumed.
var Analyzer = &analysis.Analyzer{
	Name: "aglvet",
	Doc: `report what keeps an AGL workflow from being resumed

A workflow function is called again on every resume. In a function that takes a
*agl.Run, and in what it calls in its module, outside of what agl records, this
reports the clock, randomness, the environment, files, processes, the network
and package variables that change; verbs in goroutines or in the order of a map;
ignored errors of verbs; tasks that are never stepped; worktrees that are opened
in a loop under one name; and views that read what the workflow changes.`,
	URL:       "https://pkg.go.dev/" + aglPath + "/agltest/aglvet",
	Run:       run,
	FactTypes: []analysis.Fact{new(packageFact)},
}

// vet is the check of one package.
type vet struct {
	pass   *analysis.Pass
	module string
	ignore ignores
	facts  facts
}

func run(pass *analysis.Pass) (any, error) {
	v := &vet{pass: pass, facts: facts{make(map[*types.Func]*funcFact), make(map[*types.Var]*varFact)}}
	if pass.Module != nil {
		v.module = pass.Module.Path
	}
	if pass.Pkg.Path() == aglPath || v.standard() {
		return nil, nil // verbs are where a workflow ends, and the standard library is judged by name
	}
	if err := v.readIgnores(); err != nil {
		return nil, err
	}
	v.purity()
	v.steps()
	v.export()
	return nil, nil
}

// standard says that the package is one of the standard library, which belongs
// to no module.
func (v *vet) standard() bool {
	first, _, _ := strings.Cut(v.pass.Pkg.Path(), "/")
	return v.module == "" && !strings.Contains(first, ".") && first != "command-line-arguments"
}

func (v *vet) report(pos token.Pos, format string, args ...any) {
	if !v.ignored(pos) {
		v.pass.Reportf(pos, format, args...)
	}
}

// line names a position for a message: its file and line.
func (v *vet) line(pos token.Pos) string {
	at := v.pass.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

func (v *vet) inTest(pos token.Pos) bool {
	return strings.HasSuffix(v.pass.Fset.Position(pos).Filename, "_test.go")
}
