package strictjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	wide := map[string]int{}
	for i := range 100 {
		wide[fmt.Sprintf("Field%d", i)] = i
	}
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

// A large raw value takes another way through the code; nothing may tell.
func TestLargeRawValuesAreReadAsSmallOnesAre(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 16<<10)
	for _, c := range []struct{ name, value string }{
		{"a string", `"` + long + `"`},
		{"escapes", `"` + strings.Repeat(`\"\\\n`, 4<<10) + `"`},
		{"unicode escapes", `"` + strings.Repeat(`\u00e9`, 4<<10) + `"`},
		{"a surrogate pair", `["` + long + `","\ud83d\ude00"]`},
		{"a lone surrogate", `["` + long + `","\ud83d"]`},
		{"other letters", `"` + strings.Repeat("é漢😀", 4<<10) + `"`},
		{"invalid UTF-8", `["` + long + `","` + "\xff" + `"]`},
		{"a control character", `["` + long + "\n" + `"]`},
		{"zero-filled", `["` + long + strings.Repeat("\x00", 512) + `"]`},
		{"torn", `["` + long},
		{"objects", `[` + strings.Repeat(`{"a":1,"b":[true,false,null,-1.5e+7]},`, 1000) + `{}]`},
		{"white space", "[ \n" + strings.Repeat("{ \"a\" :\t1 , \"b\" : [ ] } ,\r\n", 1000) + " { } ] "},
		{"a duplicate", `{"a":"` + long + `","b":1,"a":2}`},
		{"a duplicate by escape", `{"a":"` + long + `","\u0061":2}`},
		{"many keys", wideObject(300, 0)},
		{"many keys, one twice", wideObject(300, 7)},
		{"a deep list", strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
		{"a bad number", `["` + long + `",01]`},
		{"a bad literal", `["` + long + `",nul]`},
		{"a missing comma", `["` + long + `" 1]`},
		{"a trailing comma", `["` + long + `",]`},
		{"a bracket too many", `["` + long + `"]]`},
		{"two values", `"` + long + `" "x"`},
		{"a key that is none", `{"a":"` + long + `",b:1}`},
	} {
		for _, form := range []string{`{"before":1,"value":%s,"after":{"x":"}"}}`, `{"value":%s,"value":1,"before":1,"after":{"x":""}}`, `{"value":%s,"before":1}`, ` { "other" : [ "]" ] , "value" : %s }x`, `{"before":"}","value":%s`} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				doc := []byte(fmt.Sprintf(form, c.value))
				var exact, plain carrier
				err := strictjson.DecodeExact(doc, &exact)
				want := strictjson.Decode(doc, &plain)
				if want != nil {
					require.EqualError(t, err, want.Error())
					return
				}
				if strings.Contains(string(doc), "after") {
					require.NoError(t, err)
					require.Equal(t, plain, exact)
				} else {
					require.EqualError(t, err, `missing key "after"`)
				}
			})
		}
	}
}

type carrier struct {
	Before int               `json:"before"`
	Value  json.RawMessage   `json:"value,omitempty"`
	After  map[string]string `json:"after"`
	Other  []string          `json:"other,omitempty"`
}

func wideObject(n, again int) string {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range n {
		fmt.Fprintf(&b, `"key number %d":"some text of its own",`, i)
	}
	fmt.Fprintf(&b, `"key number %d":0}`, n-again)
	return b.String()
}

// FuzzDecodeExact holds the fast way against the plain one.
func FuzzDecodeExact(f *testing.F) {
	for _, doc := range []string{
		`{"before":1,"value":{"a":[1,"x"]},"after":{}}`,
		`{"value":["\u0061\n",-1.5e+3,true,null],"before":1,"after":null} `,
		`{"value":[{"a":1,"a":2}],"before":[}],"after":{"}":"\\"}}`,
		`{"before":1,"value":{"a":{},"b":[],"c":"é\"","d":false},"after":{"x":"y"},"other":["]"]}`,
	} {
		f.Add([]byte(doc))
	}
	pad := bytes.Repeat([]byte(" "), 9<<10)
	f.Fuzz(func(t *testing.T, doc []byte) {
		// White space inside a value makes it large, and changes nothing else.
		if i := bytes.Index(doc, []byte(`"value":`)); i >= 0 {
			if n := bytes.IndexAny(doc[i:], "[{"); n >= 0 {
				doc = slices.Insert(bytes.Clone(doc), i+n+1, pad...)
			}
		}
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
