package strictjson_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/strictjson"
)

type (
	A struct{ X, Y, Only int }
	B struct{ X, Z int }
	T struct {
		X int `json:"X"`
	}
	Deep struct{ A }
	Ptr  struct{ *A }
	Self struct {
		*Self
		V int
	}
	Again struct {
		Deep
		A
	}
	Time struct{ time.Time }
)

// C17: a schema is made of these, so they must be the keys a decoder takes.
func TestFieldsAreTheKeysEncodingJSONReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want []string
	}{
		{struct{}{}, nil},
		{struct {
			unexported int
			Skipped    int `json:"-"`
			Named      int `json:"n,omitempty"`
			Plain      int
		}{}, []string{"n", "Plain"}},
		{struct{ A }{}, []string{"X", "Y", "Only"}},
		{struct {
			A
			X string
		}{}, []string{"Y", "Only", "X"}},
		{struct {
			A
			B
		}{}, []string{"Y", "Only", "Z"}},
		{struct {
			A
			T
		}{}, []string{"Y", "Only", "X"}},
		{struct {
			A
			B
			T
		}{}, []string{"Y", "Only", "Z", "X"}},
		{struct {
			Deep
			B
		}{}, []string{"Y", "Only", "X", "Z"}},
		{Again{}, []string{"X", "Y", "Only"}},
		{struct{ Ptr }{}, []string{"X", "Y", "Only"}},
		{Self{}, []string{"V"}},
		{struct {
			A `json:"a"`
			B
		}{}, []string{"a", "X", "Z"}},
		{struct {
			A
			Other int `json:"X"`
		}{}, []string{"Y", "Only", "X"}},
	} {
		typ := reflect.TypeOf(c.v)
		t.Run(typ.String(), func(t *testing.T) {
			t.Parallel()
			fields, err := strictjson.Fields(typ)
			require.NoError(t, err)
			var names []string
			for _, f := range fields {
				names = append(names, f.Name)
				require.Equal(t, f.Type, typ.FieldByIndex(f.Index).Type)
				doc := []byte(fmt.Sprintf(`{%q:%s}`, f.Name, sample(f.Type)))
				ours, theirs := reflect.New(typ), reflect.New(typ)
				require.NoError(t, strictjson.Decode(doc, ours.Interface()))
				require.NoError(t, json.Unmarshal(doc, theirs.Interface()))
				require.Equal(t, theirs.Interface(), ours.Interface())
				require.NotZero(t, ours.Elem().Interface(), "%s sets nothing", doc)
			}
			require.Equal(t, c.want, names)

			// No other key of any field is taken.
			for _, name := range []string{"X", "Y", "Z", "V", "Only", "A", "B", "Deep", "Self"} {
				err := strictjson.Decode([]byte(fmt.Sprintf(`{%q:null}`, name)), reflect.New(typ).Interface())
				require.Equal(t, !slices.Contains(names, name), err != nil, name)
			}
		})
	}
}

func sample(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return `"s"`
	case reflect.Struct:
		return `{"X":1}`
	default:
		return `1`
	}
}

func TestFieldsSayWhatADocumentMayLeaveOut(t *testing.T) {
	t.Parallel()
	fields, err := strictjson.Fields(reflect.TypeFor[struct {
		*A
		P *int
		E int `json:",omitempty"`
		Z int `json:",omitzero"`
		S int `json:",string"`
	}]())
	require.NoError(t, err)
	got := map[string]string{}
	for _, f := range fields {
		got[f.Name] = fmt.Sprint(f.Go, " ", f.Optional, f.Omit, f.Quoted)
	}
	require.Equal(t, map[string]string{
		"X": "A.X true false false", "Y": "A.Y true false false", "Only": "A.Only true false false",
		"P": "P false false false", "E": "E true true false", "Z": "Z true true false", "S": "S false false true",
	}, got)
}

func TestFieldsRefuseWhatEncodingJSONGuesses(t *testing.T) {
	t.Parallel()
	type hidden struct{ V int }
	// Made by hand, so that vet does not refuse them first.
	tagged := func(name, tag string) reflect.StructField {
		sf := reflect.StructField{Name: name, Type: reflect.TypeFor[int](), Tag: reflect.StructTag(tag)}
		if name == "v" {
			sf.PkgPath = "example.com/other"
		}
		return sf
	}
	made := func(fields ...reflect.StructField) any { return reflect.Zero(reflect.StructOf(fields)).Interface() }
	for _, c := range []struct {
		v    any
		want string
	}{
		{made(tagged("P", `json:"a"`), tagged("Q", `json:"a"`)), `field Q: has the key "a", as P does`},
		{made(tagged("V", `json:"v,omitEmpty"`)), `field V: unknown option "omitEmpty" in its json tag`},
		{made(tagged("V", `json:"v,inline"`)), `field V: unknown option "inline" in its json tag`},
		{made(tagged("V", `json:"'v'"`)), `field V: the key "'v'" in its json tag has a quote or a backslash`},
		{made(tagged("V", `json:"v,"`)), `field V: its json tag ends in a comma`},
		{made(tagged("v", `json:"v"`)), `field v: an unexported field has a json tag`},
		{struct{ time.Duration }{}, `field Duration: an embedded time.Duration needs a name in a json tag`},
		{struct{ fmt.Stringer }{}, `field Stringer: an embedded fmt.Stringer needs a name in a json tag`},
		{struct {
			Time
			Other int
		}{}, `field Time: strictjson_test.Time writes its own JSON, so its fields cannot be promoted; give it a name in a json tag`},
		{struct{ *hidden }{}, `field hidden: an embedded pointer to an unexported struct cannot be set`},
		{struct {
			A `json:",omitempty"`
		}{}, `field A: options of an embedded struct have no effect; give it a name in a json tag`},
	} {
		_, err := strictjson.Fields(reflect.TypeOf(c.v))
		require.EqualError(t, err, c.want)
		require.Error(t, strictjson.Decode([]byte(`{"v":1,"a":1,"V":1,"Duration":1,"Stringer":1,"Other":1}`), reflect.New(reflect.TypeOf(c.v)).Interface()))
	}
}
