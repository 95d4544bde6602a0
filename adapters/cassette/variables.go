package cassette

import (
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
)

// variables are the values that a cassette's variables have while it is played.
type variables struct {
	volatile map[string]string // the cassette's own kinds: their regular expressions
	values   map[string]string
}

// newVariables returns those of this process, which plays program.
func newVariables(volatile map[string]string, program string) *variables {
	values := map[string]string{"program": program, "bin": filepath.Dir(program), "tmp": filepath.Clean(os.TempDir())}
	values["dir"], _ = os.Getwd()
	values["home"], _ = os.UserHomeDir()
	values["host"], _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		values["userhome"], values["user"] = u.HomeDir, userName(u)
	}
	return &variables{volatile, values}
}

// render returns the text of a template. A variable that has no value yet gets one.
func (v *variables) render(s string) (string, error) {
	t, err := parseTemplate(s)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range t {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		value, ok := v.values[p.name]
		if !ok {
			value = p.name
			if k := kinds[kind(p.name)]; k != nil {
				value = k.fresh()
			}
			if p.name != "time" { // each is another
				v.values[p.name] = value
			}
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// message returns a message as the program wrote it.
func (v *variables) message(doc []byte) ([]byte, error) {
	return rewrite(doc, func(_, s string) (string, error) { return v.render(s) })
}

// known returns a template with the values that are known, for people to read.
func (v *variables) known(s string) string {
	t, err := parseTemplate(s)
	if err != nil {
		return s
	}
	var b strings.Builder
	for _, p := range t {
		if value, ok := v.values[p.name]; p.name == "" || ok {
			b.WriteString(p.text + value)
		} else {
			b.WriteString(opening + p.name + closing)
		}
	}
	return b.String()
}

// match reports whether got is what a template says. The variables in it that
// have no value yet get theirs, if it is.
func (v *variables) match(want, got string) bool {
	t, err := parseTemplate(want)
	if err != nil {
		return false
	}
	if len(t) == 0 || len(t) == 1 && t[0].name == "" {
		return got == v.known(want)
	}
	var pattern strings.Builder
	var names []string
	for _, p := range t {
		value, known := v.values[p.name]
		switch {
		case p.name == "":
			pattern.WriteString(regexp.QuoteMeta(p.text))
		case known:
			pattern.WriteString(regexp.QuoteMeta(value))
		default:
			names = append(names, p.name)
			fmt.Fprintf(&pattern, "(?P<v%d>%s)", len(names), v.one(kind(p.name)))
		}
	}
	re, err := regexp.Compile(`^(?s:` + pattern.String() + `)$`)
	if err != nil { // longer than a regular expression may be
		return false
	}
	m := re.FindStringSubmatchIndex(got)
	if m == nil {
		return false
	}
	bound := maps.Clone(v.values)
	for i, name := range names {
		group := 2 * re.SubexpIndex(fmt.Sprintf("v%d", i+1)) // a volatile pattern may have groups of its own
		value := got[m[group]:m[group+1]]
		if before, ok := bound[name]; ok && before != value {
			return false
		}
		if name != "time" {
			bound[name] = value
		}
	}
	v.values = bound
	return true
}

// one is the regular expression of one value of a kind.
func (v *variables) one(kind string) string {
	if k := kinds[kind]; k != nil {
		return k.one
	}
	return v.volatile[kind]
}

// matches reports whether got has the structure and the values of want, a
// document with templates. On failure no variable gets a value.
func (v *variables) matches(want, got any) bool {
	before := v.values
	if v.same(want, got) {
		return true
	}
	v.values = before
	return false
}

func (v *variables) same(want, got any) bool {
	switch want := want.(type) {
	case string:
		got, ok := got.(string)
		return ok && v.match(want, got)
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for i := range want {
			if !v.same(want[i], got[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for key, value := range want {
			other, ok := got[v.known(key)]
			if !ok || !v.same(value, other) {
				return false
			}
		}
		return true
	default: // numbers as they are written, booleans, null
		return want == got
	}
}

// shown is a document with the values that are known, for people to read.
func (v *variables) shown(doc any) any {
	switch doc := doc.(type) {
	case string:
		return v.known(doc)
	case []any:
		list := make([]any, len(doc))
		for i := range doc {
			list[i] = v.shown(doc[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(doc))
		for key, value := range doc {
			object[v.known(key)] = v.shown(value)
		}
		return object
	default:
		return doc
	}
}

// trial returns variables that can be matched without giving these values.
func (v *variables) trial() *variables { return &variables{v.volatile, v.values} }
