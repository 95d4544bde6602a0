package strictjson

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Field is a key of a struct's JSON object.
type Field struct {
	Name  string // the key
	Go    string // the name in Go, with those of the structs it is embedded in: "Base.ID"
	Type  reflect.Type
	Tag   reflect.StructTag
	Index []int // for reflect.Value.FieldByIndex
	// Optional is set for what a document may leave out: omitempty, omitzero,
	// and what is promoted through an embedded pointer, which may be nil.
	Optional bool
	Omit     bool // omitempty or omitzero
	Quoted   bool // the option string

	named bool // the key comes from a tag
}

// A FieldError says why a struct cannot be read as an object.
type FieldError struct {
	Field string // the field's name in Go
	Why   string
}

func (e *FieldError) Error() string { return "field " + e.Field + ": " + e.Why }

// Fields returns the keys of struct type t as encoding/json reads and writes
// them, in the order of declaration: promoted ones by Go's rules, shadowed and
// ambiguous ones left out. What encoding/json settles by dropping fields of one
// struct, or fails on only when a value has it, is a *[FieldError].
func Fields(t reflect.Type) ([]Field, error) {
	type level struct {
		typ   reflect.Type
		field Field // the embedded field that leads here
		first bool  // the type was not seen before
	}
	var all []Field
	seen := map[reflect.Type]bool{t: true}
	for queue := []level{{typ: t, first: true}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		own := map[string]string{}
		for i := range at.typ.NumField() {
			sf := at.typ.Field(i)
			f, skip, err := fieldOf(sf, at.field)
			if err != nil {
				return nil, err
			}
			if skip {
				continue
			}
			if sf.Anonymous && !f.named {
				next, pointer := f.Type, false
				if next.Kind() == reflect.Pointer && next.Name() == "" {
					next, pointer = next.Elem(), true
				}
				switch {
				case next.Kind() != reflect.Struct:
					return nil, &FieldError{f.Go, "an embedded " + next.String() + " needs a name in a json tag"}
				case f.Omit || f.Quoted:
					return nil, &FieldError{f.Go, "options of an embedded struct have no effect; give it a name in a json tag"}
				case custom(next):
					return nil, &FieldError{f.Go, next.String() + " writes its own JSON, so its fields cannot be promoted; give it a name in a json tag"}
				case pointer && !sf.IsExported():
					return nil, &FieldError{f.Go, "an embedded pointer to an unexported struct cannot be set"}
				}
				f.Optional = at.field.Optional || pointer
				if at.first {
					queue = append(queue, level{next, f, !seen[next]})
				}
				seen[next] = true
				continue
			}
			if !sf.IsExported() {
				return nil, &FieldError{f.Go, "an unexported field cannot be set"}
			}
			if other, ok := own[f.Name]; ok {
				return nil, &FieldError{f.Go, fmt.Sprintf("has the key %q, as %s does", f.Name, other)}
			}
			own[f.Name] = f.Go
			all = append(all, f)
		}
	}
	return dominant(all), nil
}

// fieldOf reads one field's tag. skip is set for what JSON does not see.
func fieldOf(sf reflect.StructField, parent Field) (f Field, skip bool, err error) {
	tag, tagged := sf.Tag.Lookup("json")
	name, options, _ := strings.Cut(tag, ",")
	f = Field{
		Name:     sf.Name,
		Go:       strings.TrimPrefix(parent.Go+"."+sf.Name, "."),
		Type:     sf.Type,
		Tag:      sf.Tag,
		Index:    append(slices.Clip(parent.Index), sf.Index...),
		Optional: parent.Optional,
	}
	if tag == "-" {
		return f, true, nil
	}
	if !sf.IsExported() && !sf.Anonymous {
		if tagged {
			return f, false, &FieldError{f.Go, "an unexported field has a json tag"}
		}
		return f, true, nil
	}
	if strings.ContainsAny(name, "\\'\"`") {
		return f, false, &FieldError{f.Go, fmt.Sprintf("the key %q in its json tag has a quote or a backslash", name)}
	}
	if name != "" {
		f.Name, f.named = name, true
	}
	if options == "" {
		if strings.HasSuffix(tag, ",") {
			return f, false, &FieldError{f.Go, "its json tag ends in a comma"}
		}
		return f, false, nil
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty", "omitzero":
			f.Omit, f.Optional = true, true
		case "string":
			f.Quoted = true
		default:
			return f, false, &FieldError{f.Go, fmt.Sprintf("unknown option %q in its json tag", option)}
		}
	}
	return f, false, nil
}

// dominant keeps, of the fields with one key, the one at the least depth, or
// among several there the only one whose key comes from a tag, or none.
func dominant(all []Field) []Field {
	byName := map[string][]Field{}
	for _, f := range all {
		byName[f.Name] = append(byName[f.Name], f)
	}
	var kept []Field
	for _, fields := range byName {
		slices.SortStableFunc(fields, func(a, b Field) int {
			if c := cmp.Compare(len(a.Index), len(b.Index)); c != 0 || a.named == b.named {
				return c
			}
			if a.named {
				return -1
			}
			return 1
		})
		if len(fields) == 1 || len(fields[0].Index) != len(fields[1].Index) || fields[0].named != fields[1].named {
			kept = append(kept, fields[0])
		}
	}
	slices.SortFunc(kept, func(a, b Field) int { return slices.Compare(a.Index, b.Index) })
	return kept
}
