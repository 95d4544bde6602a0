package aglvet

import (
	"cmp"
	"fmt"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Test fails t with each thing that [Analyzer] finds in packages of the module
// around the test's directory: those that the patterns of the go command name,
// by default "./...", which is the test's own directory and below. It looks at files that are no tests; go vet looks at
// those too. A package that does not compile ends the test.
func Test(t testing.TB, patterns ...string) {
	t.Helper()
	test(t, ".", patterns)
}

func test(t testing.TB, dir string, patterns []string) {
	t.Helper()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	found, err := check(dir, patterns)
	if err != nil {
		t.Fatalf("aglvet: %v", err)
	}
	for _, f := range found {
		t.Errorf("%s: %s", f.at, f.message)
	}
}

type finding struct {
	at      token.Position
	message string
}

// check runs the analyzer on the packages that the patterns name, as seen from
// dir. Of what they import, it reads the packages of the same module, which is
// where facts come from.
func check(dir string, patterns []string) ([]finding, error) {
	named, err := load(dir, packages.NeedName|packages.NeedImports|packages.NeedDeps|packages.NeedModule, patterns)
	if err != nil {
		return nil, err
	}
	wanted, paths := make(map[string]bool), make(map[string]bool)
	for _, p := range named {
		wanted[p.PkgPath], paths[p.PkgPath] = true, true
		packages.Visit([]*packages.Package{p}, func(dep *packages.Package) bool {
			if same := dep.Module != nil && p.Module != nil && dep.Module.Path == p.Module.Path; same {
				paths[dep.PkgPath] = true
			}
			return true
		}, nil)
	}
	pkgs, err := load(dir, packages.LoadSyntax|packages.NeedModule, slices.Sorted(maps.Keys(paths)))
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		maps.DeleteFunc(p.Imports, func(_ string, dep *packages.Package) bool { return !paths[dep.PkgPath] }) // they have no syntax
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{Analyzer}, pkgs, nil)
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, fmt.Errorf("package %s: %w", act.Package.PkgPath, act.Err)
		}
		for _, d := range act.Diagnostics {
			if wanted[act.Package.PkgPath] {
				found = append(found, finding{act.Package.Fset.Position(d.Pos), d.Message})
			}
		}
	}
	here, err := filepath.Abs(dir)
	for i, f := range found {
		if rel, relErr := filepath.Rel(here, f.at.Filename); err == nil && relErr == nil {
			found[i].at.Filename = rel
		}
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.at.Filename, b.at.Filename), a.at.Offset-b.at.Offset, strings.Compare(a.message, b.message))
	})
	return found, nil
}

// load loads packages, all of which must be good.
func load(dir string, mode packages.LoadMode, patterns []string) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: mode, Dir: dir}, patterns...)
	if err != nil {
		return nil, err
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("no package matches %s", strings.Join(patterns, " "))
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("package %s: %w", p.PkgPath, p.Errors[0])
		}
	}
	return pkgs, nil
}
