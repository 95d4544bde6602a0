package strictjson_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

type tree struct {
	Name string           `json:"name"`
	Kids []*tree          `json:"kids"`
	More map[string]*tree `json:"more,omitempty"`
	Next *tree            `json:"next,omitempty"`
	Base *struct {
		ID int `json:"id"`
	} `json:"base"`
	Sub  struct{ A, B int } `json:"sub,omitzero"`
	Raw  json.RawMessage    `json:"raw,omitempty"`
	Text level              `json:"text,omitempty"`
	Any  any                `json:"any,omitempty"`
}

type promoted struct {
	base
	*Optional
}

type Optional struct {
	Extra int `json:"extra"`
}

func TestDecodeExactRefusesMissingKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		into any
		doc  string
		want string
	}{
		{"complete", new(tree), `{"name":"a","kids":[],"base":null}`, ``},
		{"complete, deep", new(tree), `{"name":"a","kids":[{"name":"b","kids":null,"base":{"id":1}}, null],"base":null,"more":{"x":{"name":"c","kids":[],"base":null}},"any":{"name":1},"raw":{"name":2},"text":"high"}`, ``},
		{"at the root", new(tree), `{"name":"a"}`, `missing key "base", "kids"`},
		{"nothing", new(tree), `{}`, `missing key "base", "kids", "name"`},
		{"in a list", new(tree), `{"name":"a","kids":[{"name":"b","kids":[],"base":null},{"name":"c","kids":[]}],"base":null}`, `kids[1]: missing key "base"`},
		{"in a map", new(tree), `{"name":"a","kids":[],"base":null,"more":{"x y":{"name":"c","base":null}}}`, `more["x y"]: missing key "kids"`},
		{"behind a pointer", new(tree), `{"name":"a","kids":[],"base":{}}`, `base: missing key "id"`},
		{"deep", new(tree), `{"name":"a","kids":[{"name":"b","kids":[{"name":"c","kids":[],"base":{ }}],"base":null}],"base":null}`, `kids[0].kids[0].base: missing key "id"`},
		{"in an optional struct that is there", new(tree), `{"name":"a","kids":[],"base":null,"sub":{"A":1}}`, `sub: missing key "B"`},
		{"null for a struct", new(tree), `{"name":"a","kids":[],"base":null,"sub":null}`, `sub: expected an object, got null`},
		{"null for the root", new(tree), `null`, `expected an object, got null`},
		{"an escaped key", new(tree), `{"n\u0061me":"a","k\u0069ds":[],"base":null}`, ``},
		{"white space", new(tree), " {\n\"name\" : \"a\\\"}\" ,\t\"kids\" : [ ] , \"base\" :\r\n null } ", ``},
		{"an unknown key", new(tree), `{"name":"a","kids":[],"base":null,"x":1}`, `unknown key "x"`},
		{"a wrong kind", new(tree), `{"name":"a","kids":[{"name":1}]}`, `kids[0].name: expected a string, got a number`},
		{"promoted", new(promoted), `{"id":1}`, `missing key "name"`},
		{"promoted through a pointer", new(promoted), `{"id":1,"name":""}`, ``},
		{"a list at the root", new([]base), `[{"id":1,"name":""},{"id":1}]`, `[1]: missing key "name"`},
		{"no struct at all", new(map[string]int), `{"a":1}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := strictjson.DecodeExact([]byte(c.doc), c.into)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var e *strictjson.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.want, err.Error())
		})
	}
}

func TestAFailedDecodeExactLeavesTheDestination(t *testing.T) {
	t.Parallel()
	got := base{ID: 7, Name: "old"}
	require.Error(t, strictjson.DecodeExact([]byte(`{"id":1}`), &got))
	require.Equal(t, base{ID: 7, Name: "old"}, got)
}

func TestDecodeExactChecksWhatOneCannotSee(t *testing.T) {
	t.Parallel()
	var got ports.Record
	doc := canonical(t, record(`{"a":1}`))
	require.NoError(t, strictjson.DecodeExact([]byte(doc), &got))
	require.Equal(t, doc, canonical(t, got))
	for _, key := range []string{"seq", "kind", "namespace", "usage", "started", "retry", "terms"} {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(doc), &members))
		delete(members, key)
		err := strictjson.DecodeExact([]byte(canonical(t, members)), &got)
		require.EqualError(t, err, fmt.Sprintf("missing key %q", key))
	}
}

type carrier struct {
	Before int               `json:"before"`
	Value  json.RawMessage   `json:"value,omitempty"`
	After  map[string]string `json:"after"`
	Other  []string          `json:"other,omitempty"`
}

// What DecodeExact refuses beyond Decode is a missing key or a null for a struct.
func FuzzDecodeExact(f *testing.F) {
	for _, doc := range []string{
		`{"before":1,"value":{"a":[1,"x"]},"after":{}}`,
		`{"value":["\u0061\n",-1.5e+3,true,null],"before":1,"after":null} `,
		`{"value":[{"a":1,"a":2}],"before":[}],"after":{"}":"\\"}}`,
		`{"before":1,"value":{"a":{},"b":[],"c":"é\"","d":false},"after":{"x":"y"},"other":["]"]}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var exact, plain carrier
		err := strictjson.DecodeExact(doc, &exact)
		want := strictjson.Decode(doc, &plain)
		switch {
		case want != nil:
			require.EqualError(t, err, want.Error())
		case err == nil:
			require.Equal(t, plain, exact)
		default:
			require.Regexp(t, `missing key|got null`, err.Error())
		}
	})
}
