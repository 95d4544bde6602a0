package schema_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/schema"
	"example.com/agl/internal/strictjson"
)

// Case C13.
func TestOneReadingIsTaken(t *testing.T) {
	t.Parallel()
	type inner struct {
		N    int      `json:"n"`
		Tags []string `json:"tags,omitempty"`
	}
	s := schema.For(reflect.TypeFor[struct {
		Int   int             `json:"int,omitempty"`
		Some  *int64          `json:"some"`
		Float float64         `json:"float,omitempty"`
		Bool  bool            `json:"bool,omitempty"`
		Text  string          `json:"text,omitempty"`
		List  []string        `json:"list,omitempty"`
		Ints  []int           `json:"ints,omitempty"`
		In    *inner          `json:"in"`
		Deep  []inner         `json:"deep,omitempty"`
		Map   map[string]int  `json:"map,omitempty"`
		Any   json.RawMessage `json:"any,omitempty"`
		Box   box             `json:"box,omitzero"`
	}]())
	for _, c := range []struct{ name, doc, want string }{ // nothing is wanted: it stays
		{"a whole number", `{"int":"5"}`, `{"int":5}`},
		{"every digit", `{"some":"9007199254740993"}`, `{"some":9007199254740993}`},
		{"a whole number with an exponent", `{"some":"9.007199254740993e15"}`, `{"some":9.007199254740993e15}`},
		{"white space around it", `{"int":" 5\n"}`, `{"int":5}`},
		{"a fraction", `{"float":"0.10"}`, `{"float":0.10}`},
		{"a boolean", `{"bool":"true"}`, `{"bool":true}`},
		{"a list", `{"list":"[\"a\", \"5\"]"}`, `{"list":["a", "5"]}`},
		{"a list of numbers as texts", `{"ints":["1","2"]}`, `{"ints":[1,2]}`},
		{"texts in a text", `{"ints":"[\"1\",2]"}`, `{"ints":[1,2]}`},
		{"an object", `{"in":"{\"n\":\"1\"}"}`, `{"in":{"n":1}}`},
		{"objects in a list", `{"deep":["{\"n\":1,\"tags\":\"[]\"}",{"n":"2"}]}`, `{"deep":[{"n":1,"tags":[]},{"n":2}]}`},
		{"values of a map", `{"map":{"a b":"1"}}`, `{"map":{"a b":1}}`},
		{"a type's own schema", `{"box":"{\"in\":{\"x\":\"1\"}}"}`, `{"box":{"in":{"x":"1"}}}`},
		{"the whole", `"{\"int\":\"5\"}"`, `{"int":5}`},
		{"a fence", "```json\n{\"int\": 5}\n```", `{"int": 5}`},
		{"a fence in a text", `{"in":"` + "```" + `\n{\"n\":1}` + "```" + `\n"}`, `{"in":{"n":1}}`},
		{"other bytes stay", " {\"text\" : \"\\u00e4\" ,\"int\": \"5\" } ", " {\"text\" : \"\\u00e4\" ,\"int\": 5 } "},

		{"a text where one is taken", `{"text":"5","list":["[1]","true"],"any":"{}"}`, ``},
		{"a text with more than one reading", `{"box":"text"}`, ``},
		{"null is not for texts", `{"some":"null","in":"null"}`, ``},
		{"a text of a text", `{"int":"\"5\""}`, ``},
		{"another type", `{"int":"[5]","list":"5","bool":"1","in":"[]"}`, ``},
		{"words after it", `{"int":"5 items","in":"{\"n\":1} is it"}`, ``},
		{"words around a fence", "here it is:\n```json\n{\"int\":5}\n```", ``},
		{"two blocks", "```\n{}\n```\n```\n{}\n```", ``},
		{"a fence of another language", "```go\n{}\n```", ``},
		{"no number of JSON's", `{"int":"+5","float":".5","some":"0x10","bool":"True"}`, ``},
		{"a key that is there twice", `{"in":"{\"n\":1,\"n\":2}"}`, ``},
		{"no document", `{"int":"5"`, ``},
		{"two documents", `{"int":"5"} {}`, ``},
		{"nothing", ``, ``},
		{"a number for a text", `{"text":5}`, ``},
		{"an unknown key", `{"x":"5"}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want == "" {
				want = c.doc
			}
			if diff := cmp.Diff(want, string(s.Coerce([]byte(c.doc)))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What is recorded is what is decoded.
func TestDecodeCoercesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[report]())
	for doc, want := range map[string]string{
		`{"items":"[{\"severity\":\"low\",\"text\":\"5\",\"line\":\"2.0\"}]","big":"9.007199254740993e15","notes":"{\"a\":\"1\"}"}`: `{"big":9007199254740993,"items":[{"line":2,"severity":"low","text":"5"}],"notes":{"a":1},"where":null}`,
		"```json\n" + `{"items":[{"severity":"low","text":"t","line":1.0}],"big":1e3,"raw":{"n":"1.0"}}` + "\n```":                  `{"big":1000,"items":[{"line":1,"severity":"low","text":"t"}],"raw":{"n":"1.0"},"where":null}`,
	} {
		var got report
		require.NoError(t, s.Decode([]byte(doc), &got), doc)
		text, err := strictjson.Canonical(got)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
	for doc, want := range map[string]string{
		`{"items":[],"big":"five"}`:              `items: must have at least 1 element, has 0; big: must be a whole number or null, got "five"`,
		`{"items":"[{\"severity\":\"low\"}]"}`:   `items[0].text: is required and missing`,
		`{"items":"[] are all"}`:                 `items: must be a list, got "[] are all"`,
		`{"items":[{"severity":"x"}],"big":"5"}`: `items[0].severity: must be one of high, medium, low; items[0].text: is required and missing`,
		`{"items":[],"big":"1.5"}`:               `items: must have at least 1 element, has 0; big: must be a whole number or null, got 1.5`,
		`{"big":"1e999999999"}`:                  `big: the number is too large`,
		`{"items":[]} That is all.`:              `not valid JSON: invalid character 'T' after top-level value, at byte 13`,
	} {
		var got report
		require.EqualError(t, s.Decode([]byte(doc), &got), want, doc)
	}
}

// slips writes value, at a place of a report's, as a model might: what is no
// text and stands where none is taken becomes one, where the next of choices
// says so.
func slips(value any, name string, choices *[]byte) any {
	switch v := value.(type) {
	case nil, string:
		return v
	case []any:
		for i, e := range v {
			if name == "items" {
				v[i] = slips(e, "item", choices)
			}
		}
	case map[string]any:
		for key, e := range v {
			switch {
			case name == "notes":
				v[key] = slips(e, "note", choices)
			case key != "raw" && name != "where":
				v[key] = slips(e, key, choices)
			}
		}
	}
	if len(*choices) == 0 || (*choices)[0]%2 == 0 {
		return value
	}
	*choices = (*choices)[1:]
	text, err := strictjson.Canonical(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func FuzzCoerce(f *testing.F) {
	for _, doc := range []string{
		`{"items":[{"severity":"low","text":"t","line":3,"small":-128,"tags":["1"],"quoted":"-7","share":0.5}],"notes":{"a":1},"where":[1,2],"big":9007199254740993,"raw":["1"]}`,
		`{"items":"[{\"severity\":\"low\"}]","notes":{"a":"1.10"},"big":"9.007199254740993e15"}`,
		"```json\n{}\n```", `"\"{}\""`, `{"items":["{"],"items":""}`, `{"where":"[\"1\"]"}`, `[`, `{"items":[],"big":"1e9"}`,
	} {
		f.Add([]byte(doc), []byte{1, 1, 1, 1, 1, 1, 1, 1, 1})
	}
	s := schema.For(reflect.TypeFor[report]())
	f.Fuzz(func(t *testing.T, raw, choices []byte) {
		before := bytes.Clone(raw)
		once := s.Coerce(raw)
		if !bytes.Equal(raw, before) {
			t.Fatalf("%q was changed in place", before)
		}
		if twice := s.Coerce(once); !bytes.Equal(once, twice) {
			t.Fatalf("%q becomes %q, and that %q", raw, once, twice)
		}
		var doc any
		if strictjson.Decode(raw, &doc) != nil {
			return
		}
		if strictjson.Decode(once, new(any)) != nil {
			t.Fatalf("%q becomes %q, which is no JSON", raw, once)
		}
		if s.Check(raw) != nil {
			return
		}
		if !bytes.Equal(raw, once) {
			t.Fatalf("%q fits, and becomes %q", raw, once)
		}
		want, err := strictjson.Canonical(doc)
		if err != nil {
			return
		}
		slipped, err := strictjson.Canonical(slips(doc, "", &choices))
		if err != nil {
			t.Fatal(err)
		}
		var mended any
		if err := strictjson.Decode(s.Coerce(slipped), &mended); err != nil {
			t.Fatalf("%q: %v", slipped, err)
		}
		if got, _ := strictjson.Canonical(mended); !bytes.Equal(got, want) {
			t.Fatalf("%s is mended to %s, want %s", slipped, got, want)
		}
	})
}

func TestALongPayloadIsCoercedInReasonableTime(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[report]())
	items := strings.Repeat(`{"severity":"low","text":"t","line":"7"},`, 20_000)
	var got report
	require.NoError(t, s.Decode([]byte(`{"items":[`+strings.TrimSuffix(items, ",")+`]}`), &got))
	require.Len(t, got.Items, 20_000)
	require.Equal(t, 7, *got.Items[19_999].Line)
}
