package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vendors are the packages whose New makes an agent that starts a vendor's
// program. A test that calls one could start the program that somebody has on
// their machine, logged in as themselves.
var vendors = []string{"adapters/claude", "adapters/codex", "adapters/copilot"}

// harmless are the functions of tests that make agents in another way than the
// rest, and why no program starts in an environment that is not vendortest's.
var harmless = map[string]string{
	"adapters/claude/poison_test.go: TestNothingInTheRepositoryOrAtHomeConfiguresTheAgent": "poison asks vendortest for the environment",

	// A local.New without a script.
	"adapters/local/moved_test.go":   "no step is run",
	"adapters/local/project_test.go": "no step is run",
	"example_test.go":                "it is compiled and not run",
}

// careless returns where the code of a test, in the file at path, makes agents
// whose programs could start in any environment but vendortest's.
func careless(at string, file *ast.File) (found []string) {
	names := map[string]string{} // of imported packages of the module
	for _, imp := range file.Imports {
		full, _ := strconv.Unquote(imp.Path.Value)
		if pkg, ok := strings.CutPrefix(full, module+"/"); ok {
			name := path.Base(pkg)
			if imp.Name != nil {
				name = imp.Name.Name
			}
			names[name] = pkg
		}
	}
	here := path.Dir(at)
	for _, decl := range file.Decls {
		in := at
		if f, ok := decl.(*ast.FuncDecl); ok {
			in += ": " + f.Name.Name
		}
		if harmless[in] != "" || harmless[at] != "" {
			continue
		}
		var makes string // the package whose New it uses
		var asks, sets, scripted bool
		field := func(name string, value ast.Expr) {
			if id, ok := value.(*ast.Ident); ok && id.Name == "nil" {
				return
			}
			sets, scripted = sets || name == "Env", scripted || name == "Script"
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if !ok {
					break
				}
				switch pkg := names[x.Name]; {
				case pkg == "internal/vendortest":
					asks = true
				case n.Sel.Name == "New" && (slices.Contains(vendors, pkg) || pkg == "adapters/local" && makes == ""):
					makes = pkg
				}
			case *ast.CallExpr: // in the package's own name
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "New" && !strings.HasSuffix(file.Name.Name, "_test") &&
					(slices.Contains(vendors, here) || here == "adapters/local") {
					makes = here
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok {
					field(id.Name, n.Value)
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if sel, ok := left.(*ast.SelectorExpr); ok {
						field(sel.Sel.Name, n.Rhs[min(i, len(n.Rhs)-1)])
					}
				}
			}
			return true
		})
		switch {
		case makes == "":
		case makes == "adapters/local" && scripted:
		case !asks:
			found = append(found, in+" makes an agent of "+makes+", and does not ask internal/vendortest for its environment")
		case !sets:
			found = append(found, in+" makes an agent of "+makes+" without Env: its program would have this process's environment")
		}
	}
	return found
}

func TestNoTestStartsAVendorsProgramInAnEnvironmentOfItsOwn(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	seen, files := 0, token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		for _, fault := range careless(filepath.ToSlash(rel), file) {
			t.Error(fault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for in := range harmless {
		at, _, _ := strings.Cut(in, ":")
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(at))); err != nil {
			t.Errorf("harmless has %q, and %v", in, err)
		}
	}
	if seen < 100 {
		t.Errorf("only %d files of tests were found", seen)
	}
}

func TestTheRuleOfVendorsEnvironmentsCanFail(t *testing.T) {
	t.Parallel()
	const asks = "adapters/x/x_test.go: f makes an agent of adapters/claude, and does not ask internal/vendortest for its environment"
	for body, want := range map[string]string{
		`claude.New(claude.Options{})`:                                            asks,
		`claude.New(claude.Options{Env: os.Environ()})`:                           asks,
		`vendor.New(vendor.Options{})`:                                            strings.ReplaceAll(asks, "claude", "codex"),
		`make := claude.New; make(claude.Options{})`:                              asks,
		`vendortest.Claude(t, ""); claude.New(claude.Options{})`:                  "adapters/x/x_test.go: f makes an agent of adapters/claude without Env: its program would have this process's environment",
		`vendortest.Claude(t, ""); claude.New(claude.Options{Env: nil})`:          "adapters/x/x_test.go: f makes an agent of adapters/claude without Env: its program would have this process's environment",
		`local.New(ctx, local.Options{Env: repo.Env})`:                            strings.ReplaceAll(asks, "claude", "local"),
		`local.New(ctx, local.Options{Script: file})`:                             "",
		`local.New(ctx, local.Options{Script: file}); claude.New(opts)`:           asks,
		`claude.New(claude.Options{Env: vendortest.ClaudeEnv(t, "")})`:            "",
		`opts.Program, opts.Env = vendortest.Claude(t, ""); claude.New(opts)`:     "",
		`opts.Env = append(vendortest.ClaudeEnv(t, ""), "X=1"); claude.New(opts)`: "",
		`claude.Other(); New()`:                                                   "",
	} {
		source := `package x_test
import ("example.com/agl/adapters/claude"; vendor "example.com/agl/adapters/codex"; "example.com/agl/adapters/local"; "example.com/agl/internal/vendortest")
func f() {` + body + `}`
		if diff := cmp.Diff(want, strings.Join(faults(t, "adapters/x/x_test.go", source), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	for source, want := range map[string]int{
		"package claude\nfunc f() { New(Options{}) }":                   1,
		"package claude_test\nfunc f() { New(Options{}) }":              0,
		"package claude\nvar agent = New(Options{Env: os.Environ()})\n": 1,
	} {
		if got := len(faults(t, "adapters/claude/x_test.go", source)); got != want {
			t.Errorf("%s: %d faults, want %d", source, got, want)
		}
	}
}

func faults(t *testing.T, at, source string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), at, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return careless(at, file)
}
