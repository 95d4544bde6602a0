package cli

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"example.com/agl"
)

// reserved are the flags, and their letters, that no workflow can have.
var reserved = []string{
	"--name", "-n", "--from", "--repo", "--home", "--script", "--json", "--quiet", "-q", "--help", "-h", "--rebuy", "--retry",
}

// A workflow is a definition as a command.
type workflow struct {
	name    string
	def     agl.Definition
	params  any             // the *P its flags are read into
	problem string          // why it cannot be a command; "" if it can
	taken   map[string]bool // every spelling of its own flags; nil until they are known
	flags   callFlags       // those that it leaves
}

// workflowCmd is the command of one workflow: its parameters are its flags.
type workflowCmd struct {
	Params any `embed:""`
	kong.Plugins

	workflow *workflow
}

// workflowsOf returns a program's workflows. One that cannot be a command
// keeps only itself from being one.
func workflowsOf(p Program) []*workflow {
	var all []*workflow
	for _, def := range p.Workflows {
		w := &workflow{name: def.Spec().Name, def: def, params: def.NewParams()}
		w.problem = w.check()
		if slices.ContainsFunc(all, func(other *workflow) bool { return other.name == w.name }) {
			w.problem = "another workflow of this program has the same name"
		}
		all = append(all, w)
	}
	return all
}

// plugin returns a pointer to a struct with one field, the command: that is
// what kong.Plugins takes.
func (w *workflow) plugin() any {
	field := reflect.StructField{
		Name: "Workflow",
		Type: reflect.TypeFor[workflowCmd](),
		Tag: reflect.StructTag(fmt.Sprintf(`cmd:"" name:%s help:%s`,
			strconv.Quote(w.name), strconv.Quote(strings.ReplaceAll(w.def.Spec().Doc, "$", "$$")))),
	}
	v := reflect.New(reflect.StructOf([]reflect.StructField{field}))
	cmd := v.Elem().Field(0).Addr().Interface().(*workflowCmd)
	cmd.Params, cmd.workflow = w.params, w
	if w.taken != nil {
		cmd.Plugins = w.flags.besides(w.taken)
	}
	return v.Interface()
}

// check builds a command line of this workflow alone, sees which flags it has,
// and says what is wrong with it.
func (w *workflow) check() (problem string) {
	defer func() {
		if p := recover(); p != nil { // kong panics on tags it cannot use
			problem = fmt.Sprint(p)
		}
	}()
	var alone struct{ kong.Plugins }
	alone.Plugins = kong.Plugins{w.plugin()}
	k, err := kong.New(&alone, kong.NoDefaultHelp(), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		return err.Error()
	}
	node := k.Model.Children[0]
	if len(node.Children) > 0 {
		return fmt.Sprintf("its parameters have a command of their own, %s", node.Children[0].Name)
	}
	w.taken = map[string]bool{}
	for _, flag := range node.Flags {
		for _, name := range spellings(flag) {
			if slices.Contains(reserved, name) {
				return fmt.Sprintf("its flag %s is one of the command line's own", name)
			}
			w.taken[name] = true
		}
	}
	for _, value := range node.Values() {
		if err := checkDefault(value); err != nil {
			return err.Error()
		}
	}
	return ""
}

// spellings returns every way to write a flag.
func spellings(flag *kong.Flag) []string {
	all := []string{"--" + flag.Name}
	if flag.Short != 0 {
		all = append(all, "-"+string(flag.Short))
	}
	for _, alias := range flag.Aliases {
		if len([]rune(alias)) == 1 {
			all = append(all, "-"+alias)
			continue
		}
		all = append(all, "--"+alias)
	}
	switch negation := flag.Tag.Negatable; negation {
	case "":
	case "_":
		all = append(all, "--no-"+flag.Name)
	default:
		all = append(all, "--"+negation)
	}
	return all
}

// checkDefault finds a default that is no value of its flag.
func checkDefault(value *kong.Value) error {
	if !value.HasDefault {
		return nil
	}
	scan := kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: value.Default})
	if err := value.Parse(scan, reflect.New(value.Target.Type()).Elem()); err != nil {
		return fmt.Errorf("the default %q: %w", value.Default, err)
	}
	return nil
}
