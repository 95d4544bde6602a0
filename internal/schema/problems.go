package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

const (
	maxProblems = 20
	maxWords    = 300 // bytes of one problem
	maxNumber   = 400 // digits and exponent: beyond it, arithmetic is an attack
)

// Check returns everything that is wrong with a payload, each with its path:
// "items[0].severity: must be one of high, medium, low". It returns nil if the
// payload fits. Beyond twenty it says how many more there are.
func (s *Schema) Check(raw []byte) []string {
	var doc any
	if err := strictjson.Decode(raw, &doc); err != nil {
		return bounded([]string{err.Error()})
	}
	if path, ok := monstrous(doc, nil); ok {
		return bounded([]string{at(path, "the number is too large")})
	}
	var invalid *jsonschema.ValidationError
	err := s.compiled.Validate(doc)
	if err == nil {
		return nil
	}
	if !errors.As(err, &invalid) {
		return []string{err.Error()}
	}
	r := reporter{root: s.root, doc: doc}
	r.collect(invalid)
	slices.SortStableFunc(r.found, func(a, b problem) int { return r.compare(a.path, b.path) })
	var problems []string
	for _, p := range r.found {
		problems = append(problems, at(p.path, p.text))
	}
	return bounded(slices.Compact(problems))
}

// bounded cuts problems to what a reader can take.
func bounded(problems []string) []string {
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems:maxProblems], fmt.Sprintf("and %d more", more))
	}
	for i, p := range problems {
		problems[i] = ports.Clip(strings.ReplaceAll(p, "\n", " "), maxWords)
	}
	return problems
}

func at(path []string, text string) string {
	if len(path) == 0 {
		return text
	}
	return strictjson.JoinPath(path) + ": " + text
}

// monstrous looks for a number whose arithmetic would take all the memory there
// is.
func monstrous(doc any, path []string) ([]string, bool) {
	switch v := doc.(type) {
	case json.Number:
		exponent := 0
		if i := strings.IndexAny(string(v), "eE"); i >= 0 {
			var err error
			if exponent, err = strconv.Atoi(string(v[i+1:])); err != nil {
				return path, true
			}
		}
		return path, len(v) > maxNumber || exponent > maxNumber || exponent < -maxNumber
	case []any:
		for i, e := range v {
			if p, ok := monstrous(e, append(path, strconv.Itoa(i))); ok {
				return p, true
			}
		}
	case map[string]any:
		for k, e := range v {
			if p, ok := monstrous(e, append(path, k)); ok {
				return p, true
			}
		}
	}
	return nil, false
}

type problem struct {
	path []string
	text string
}

// A reporter puts a validator's findings into words.
type reporter struct {
	root  *node
	doc   any
	found []problem
}

func (r *reporter) add(path []string, format string, args ...any) {
	r.found = append(r.found, problem{slices.Clone(path), fmt.Sprintf(format, args...)})
}

func (r *reporter) collect(e *jsonschema.ValidationError) {
	path := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf:
		for _, cause := range e.Causes {
			r.collect(cause)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			r.add(append(slices.Clone(path), name), "is required and missing")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			r.add(append(slices.Clone(path), name), "unknown key%s", r.instead(path, name))
		}
	case *kind.Type:
		r.add(path, "must be %s, got %s", types(k.Want), r.got(path))
	case *kind.Enum:
		r.add(path, "must be one of %s", list(k.Want))
	case *kind.Const:
		r.add(path, "must be %s", list([]any{k.Want}))
	case *kind.Format:
		if k.Want == "date-time" {
			r.add(path, `must be a time such as "2006-01-02T15:04:05Z", got %s`, r.got(path))
		} else {
			r.add(path, "must be a valid %s, got %s", k.Want, r.got(path))
		}
	case *kind.Pattern:
		r.add(path, "%s, got %s", r.pattern(path, k.Want), r.got(path))
	case *kind.ContentEncoding:
		r.add(path, "must be %s text", k.Want)
	case *kind.MinLength:
		r.add(path, "must have at least %s, has %d", counted(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		r.add(path, "must have at most %s, has %d", counted(k.Want, "character"), k.Got)
	case *kind.MinItems:
		r.add(path, "must have at least %s, has %d", counted(k.Want, "element"), k.Got)
	case *kind.MaxItems:
		r.add(path, "must have at most %s, has %d", counted(k.Want, "element"), k.Got)
	case *kind.UniqueItems:
		r.add(path, "elements %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Minimum:
		r.add(path, "must be at least %s, got %s", number(k.Want), r.got(path))
	case *kind.Maximum:
		r.add(path, "must be at most %s, got %s", number(k.Want), r.got(path))
	case *kind.ExclusiveMinimum:
		r.add(path, "must be more than %s, got %s", number(k.Want), r.got(path))
	case *kind.ExclusiveMaximum:
		r.add(path, "must be less than %s, got %s", number(k.Want), r.got(path))
	case *kind.MultipleOf:
		r.add(path, "must be a multiple of %s, got %s", number(k.Want), r.got(path))
	case *kind.AnyOf, *kind.OneOf:
		r.add(path, "has none of the forms that are allowed here")
	default: // keywords that only a type's own schema has
		r.add(path, "does not satisfy %s of its schema", strings.Join(k.KeywordPath(), "/"))
	}
}

// node returns what is declared at path, or nil.
func (r *reporter) node(path []string) *node {
	n := r.root
	for _, step := range path {
		switch n.form {
		case formObject:
			f := n.field(step)
			if f == nil {
				return nil
			}
			n = f.node
		case formMap, formList:
			n = n.elem
		default:
			return nil
		}
	}
	return n
}

// instead says which keys there are where name is none.
func (r *reporter) instead(path []string, name string) string {
	n := r.node(path)
	if n == nil || n.form != formObject {
		return ""
	}
	var names []string
	for _, f := range n.fields {
		if strings.EqualFold(f.Name, name) {
			return "; it is written " + f.Name
		}
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return "; there are none here"
	}
	return "; the keys here are " + strings.Join(names, ", ")
}

func (r *reporter) pattern(path []string, pattern string) string {
	switch n := r.node(path); {
	case n != nil && n.form == formDuration:
		return `must be a duration such as "1m30s"`
	case n != nil && n.form == formQuoted:
		return "must be a number in quotes"
	default:
		return "must match " + pattern
	}
}

// got shows the value at path.
func (r *reporter) got(path []string) string {
	v := r.doc
	for _, step := range path {
		switch around := v.(type) {
		case map[string]any:
			v = around[step]
		case []any:
			i, _ := strconv.Atoi(step)
			v = around[i]
		}
	}
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return strconv.Quote(ports.Clip(v, 60))
	case json.Number:
		return ports.Clip(string(v), 60)
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

// compare orders paths as the declaration does, and indexes by value.
func (r *reporter) compare(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		n := r.node(a[:i])
		if n == nil {
			return cmp.Compare(a[i], b[i])
		}
		if n.form == formList {
			x, _ := strconv.Atoi(a[i])
			y, _ := strconv.Atoi(b[i])
			return cmp.Compare(x, y)
		}
		place := func(name string) int {
			p := slices.IndexFunc(n.fields, func(f field) bool { return f.Name == name })
			if p < 0 {
				return len(n.fields)
			}
			return p
		}
		return cmp.Or(cmp.Compare(place(a[i]), place(b[i])), cmp.Compare(a[i], b[i]))
	}
	return cmp.Compare(len(a), len(b))
}

// types names JSON types, null last.
func types(names []string) string {
	var words, null []string
	for _, name := range names {
		switch name {
		case "integer":
			words = append(words, "a whole number")
		case "boolean":
			words = append(words, "true or false")
		case "array":
			words = append(words, "a list")
		case "object":
			words = append(words, "an object")
		case "null":
			null = []string{"null"}
		default:
			words = append(words, "a "+name)
		}
	}
	return strings.Join(append(words, null...), " or ")
}

func list(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok && s != "" && !strings.ContainsAny(s, " ,\"\n\t") {
			words[i] = s
			continue
		}
		text, _ := strictjson.Canonical(v)
		words[i] = string(text)
	}
	return strings.Join(words, ", ")
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
