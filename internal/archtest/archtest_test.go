package archtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "example.com/agl"

// A pkg is what `go list -json` says about a package.
type pkg struct {
	ImportPath   string
	Standard     bool
	Module       *struct{ Path string }
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func (p pkg) mod() string {
	if p.Module == nil {
		return ""
	}
	return p.Module.Path
}

// list returns every package of the module and all that they depend on, as
// built for one system.
func list(t *testing.T, goos string) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-buildvcs=false", "-deps", "-test", "-json=ImportPath,Standard,Module,Imports,TestImports,XTestImports,ForTest", module+"/...")
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	graph := make(map[string]pkg)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return graph
		case err != nil:
			t.Fatalf("go list's answer: %v", err)
		}
		if strings.Contains(p.ImportPath, " [") || strings.HasSuffix(p.ImportPath, ".test") {
			continue // a package as compiled for a test: its imports are in TestImports of the package itself
		}
		graph[p.ImportPath] = p
	}
}

func TestEveryPackageKeepsTheDependencyRule(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			for _, violation := range check(list(t, goos)) {
				t.Error(violation)
			}
		})
	}
}

// lookAtSources looks at every file that go list reads, so that go test knows
// what its cached result depends on.
func lookAtSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && (filepath.Ext(path) == ".go" || entry.Name() == "go.mod") {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// check returns the violations in graph, sorted.
func check(graph map[string]pkg) []string {
	var found []string
	for _, p := range graph {
		if p.mod() != module {
			continue
		}
		name := inModule(p.ImportPath)
		r := place(name)
		if r == nil {
			found = append(found, fmt.Sprintf("%s: no rule places this package; add it to rules, with a reason", show(name)))
			continue
		}
		for _, imp := range p.Imports {
			if !allowed(graph, r, imp) {
				found = append(found, fmt.Sprintf("%s imports %s: %s", show(name), imp, r.why))
			}
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			dep, ok := graph[imp]
			if ok && !dep.Standard && dep.mod() != module && !slices.Contains(testMods, dep.mod()) && !slices.Contains(r.mods, dep.mod()) {
				found = append(found, fmt.Sprintf("the tests of %s import %s: tests use the modules of testMods", show(name), imp))
			}
		}
	}
	for _, r := range reaches {
		for _, dep := range closure(graph, outside(r.pkg)) {
			p := graph[dep]
			switch {
			case p.Standard && slices.Contains(r.forbidden, dep), !p.Standard && p.mod() != module && !slices.Contains(r.mods, p.mod()):
				found = append(found, fmt.Sprintf("%s reaches %s: %s", show(r.pkg), dep, r.why))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func place(name string) *rule {
	for i, r := range rules {
		if slices.ContainsFunc(r.pkgs, func(pattern string) bool { return matches(pattern, name) }) {
			return &rules[i]
		}
	}
	return nil
}

func allowed(graph map[string]pkg, r *rule, imp string) bool {
	dep, ok := graph[imp]
	switch {
	case !ok || dep.Standard:
		return true
	case dep.mod() == module:
		return slices.ContainsFunc(r.inside, func(pattern string) bool { return matches(pattern, inModule(imp)) })
	default:
		return slices.Contains(r.mods, dep.mod())
	}
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "..."); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// closure returns what start imports at any depth.
func closure(graph map[string]pkg, start string) []string {
	seen := map[string]bool{start: true}
	var all []string
	for todo := []string{start}; len(todo) > 0; {
		p := graph[todo[0]]
		todo = todo[1:]
		for _, imp := range p.Imports {
			if !seen[imp] {
				seen[imp] = true
				all = append(all, imp)
				if !graph[imp].Standard {
					todo = append(todo, imp) // what the standard library uses itself is its own affair
				}
			}
		}
	}
	return all
}

func inModule(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

func outside(name string) string { return strings.TrimSuffix(module+"/"+name, "/") }

func show(name string) string {
	if name == "" {
		return "package agl"
	}
	return name
}

// Each fabricated graph breaks one rule, and check says which.
func TestTheDependencyRuleCanFail(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		imports map[string][]string
		tests   map[string][]string
		want    []string
	}{
		"nothing wrong": {
			imports: map[string][]string{"": {"ports", "internal/engine"}, "adapters/cli": {"", "github.com/alecthomas/kong"}},
		},
		"a package nobody placed": {
			imports: map[string][]string{"internal/common": {"fmt"}},
			want:    []string{"internal/common: no rule places this package; add it to rules, with a reason"},
		},
		"ports on an adapter": {
			imports: map[string][]string{"ports": {"adapters/git"}},
			want:    []string{"ports imports example.com/agl/adapters/git: " + place("ports").why},
		},
		"an adapter on agl": {
			imports: map[string][]string{"adapters/git": {""}},
			want:    []string{"adapters/git imports example.com/agl: " + place("adapters/git").why},
		},
		"an adapter on another": {
			imports: map[string][]string{"adapters/shell": {"adapters/git"}},
			want:    []string{"adapters/shell imports example.com/agl/adapters/git: " + place("adapters/shell").why},
		},
		"an example on something internal": {
			imports: map[string][]string{"examples/fix": {"internal/engine"}},
			want:    []string{"examples/fix imports example.com/agl/internal/engine: " + place("examples/fix").why},
		},
		"kong outside cli": {
			imports: map[string][]string{"adapters/local": {"github.com/alecthomas/kong"}},
			want:    []string{"adapters/local imports github.com/alecthomas/kong: " + place("adapters/local").why},
		},
		"the root package on a flag library, through the engine": {
			imports: map[string][]string{"": {"internal/engine"}, "internal/engine": {"flag"}},
			want:    []string{"package agl reaches flag: " + reaches[0].why},
		},
		"the root package on a module, through the ledger": {
			imports: map[string][]string{"": {"internal/ledger"}, "internal/ledger": {"github.com/alecthomas/kong"}},
			want: []string{
				"internal/ledger imports github.com/alecthomas/kong: " + place("internal/ledger").why,
				"package agl reaches github.com/alecthomas/kong: " + reaches[0].why,
			},
		},
		"a test on a module of no one's": {
			tests: map[string][]string{"adapters/cli": {"github.com/alecthomas/kong", "github.com/onsi/gomega"}},
			want:  []string{"the tests of adapters/cli import github.com/onsi/gomega: tests use the modules of testMods"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, check(fabricate(tc.imports, tc.tests))); diff != "" {
				t.Errorf("check (-want +got):\n%s", diff)
			}
		})
	}
}

// fabricate makes a graph. A name with a dot in it is a third-party module,
// "fmt" and "flag" are the standard library, the rest is this module's.
func fabricate(imports, tests map[string][]string) map[string]pkg {
	graph := make(map[string]pkg)
	var add func(name string) string
	add = func(name string) string {
		p := pkg{ImportPath: name}
		switch {
		case name == "fmt" || name == "flag":
			p.Standard = true
		case strings.Contains(name, "."):
			p.Module = &struct{ Path string }{name}
		default:
			p.ImportPath, p.Module = outside(name), &struct{ Path string }{module}
		}
		if _, ok := graph[p.ImportPath]; !ok {
			graph[p.ImportPath] = p
			for _, imp := range imports[name] {
				p.Imports = append(p.Imports, add(imp))
			}
			for _, imp := range tests[name] {
				p.XTestImports = append(p.XTestImports, add(imp))
			}
			graph[p.ImportPath] = p
		}
		return p.ImportPath
	}
	for name := range imports {
		add(name)
	}
	for name := range tests {
		add(name)
	}
	return graph
}
