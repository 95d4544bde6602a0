package schema_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/schema"
	"example.com/agl/internal/strictjson"
)

// Two types named Config.
func hostConfig() (reflect.Type, any) {
	type Config struct {
		Host string `json:"host"`
	}
	return reflect.TypeFor[Config](), Config{}
}

func portConfig() (reflect.Type, any) {
	type Config struct {
		Port int `json:"port"`
	}
	return reflect.TypeFor[Config](), Config{}
}

type page[T any] struct {
	Items []T `json:"items"`
	Next  *T  `json:"next"`
}

type item struct {
	ID int `json:"id"`
}

type color struct{ r, g, b uint8 }

func (c color) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "#%02x%02x%02x", c.r, c.g, c.b), nil
}

func (c *color) UnmarshalText(b []byte) error {
	_, err := fmt.Sscanf(string(b), "#%02x%02x%02x", &c.r, &c.g, &c.b)
	return err
}

// A point is [x,y] in JSON.
type point struct{ x, y float64 }

func (p point) MarshalJSON() ([]byte, error) { return json.Marshal([]float64{p.x, p.y}) }

func (p *point) UnmarshalJSON(b []byte) error {
	var xy []float64
	if err := json.Unmarshal(b, &xy); err != nil {
		return err
	}
	p.x, p.y = xy[0], xy[1]
	return nil
}

func (point) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2,"description":"x and y"}`)
}

// An age has invopop's own hook, on its pointer.
type age int

func (*age) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Version: jsonschema.Version, Type: "integer", Minimum: "0", Maximum: "150"}
}

// A free is any JSON.
type free struct{ json.RawMessage }

func (free) JSONSchema() json.RawMessage { return json.RawMessage(`{}`) }

func TestTheSchemaSaysWhatEncodingJSONReads(t *testing.T) {
	t.Parallel()
	host, _ := hostConfig()
	port, _ := portConfig()
	closed := func(properties, required string) string {
		if required != "" {
			required = `,"required":` + required
		}
		return `{"type":"object","additionalProperties":false,"properties":{` + properties + `}` + required + `}`
	}
	for _, c := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"nothing", reflect.TypeFor[struct{}](), closed(``, ``)},
		{"kinds", reflect.TypeFor[struct {
			S string  `json:"s"`
			B bool    `json:"b"`
			I int     `json:"i"`
			F float32 `json:"f"`
			U uint    `json:"u"`
			W uint16  `json:"w"`
			T int8    `json:"t"`
			L []string
			A [2]bool
			M map[string]item
			Y []byte
		}](), closed(`"s":{"type":"string"},"b":{"type":"boolean"},"i":{"type":"integer"},"f":{"type":"number"},"u":{"type":"integer","minimum":0},
			"w":{"type":"integer","minimum":0,"maximum":65535},"t":{"type":"integer","minimum":-128,"maximum":127},
			"L":{"type":"array","items":{"type":"string"}},"A":{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2},
			"M":{"type":"object","additionalProperties":`+closed(`"id":{"type":"integer"}`, `["id"]`)+`},"Y":{"type":"string","contentEncoding":"base64"}`,
			`["A","L","M","Y","b","f","i","s","t","u","w"]`)},
		// C9
		{"optional and nullable", reflect.TypeFor[struct {
			P  *string  `json:"p"`
			PP **item   `json:"pp"`
			E  int      `json:"e,omitempty"`
			Z  []string `json:"z,omitzero"`
			N  string   `json:"n,omitempty" jsonschema:"enum=a,enum=b"`
			L  []*int   `json:"l"`
		}](), closed(`"p":{"type":["string","null"]},"pp":{"type":["object","null"],"additionalProperties":false,"properties":{"id":{"type":"integer"}},"required":["id"]},
			"e":{"type":["integer","null"]},"z":{"type":["array","null"],"items":{"type":"string"}},"n":{"type":["string","null"],"enum":["a","b",null]},
			"l":{"type":"array","items":{"type":["integer","null"]}}`, `["l"]`)},
		// C8
		{"times", reflect.TypeFor[struct {
			D time.Duration `json:"d" jsonschema_description:"how long, at most"`
			T time.Time     `json:"t"`
			E struct {
				time.Duration `json:"wait"`
			} `json:"e"`
		}](), closed(`"d":{"type":"string","pattern":DURATION,"description":"how long, at most"},"t":{"type":"string","format":"date-time"},
			"e":`+closed(`"wait":{"type":"string","pattern":DURATION,"description":"a duration such as \"1m30s\""}`, `["wait"]`), `["d","e","t"]`)},
		// C10
		{"raw JSON is never the schema true", reflect.TypeFor[struct {
			R json.RawMessage            `json:"r"`
			O *json.RawMessage           `json:"o"`
			M map[string]json.RawMessage `json:"m"`
			L []json.RawMessage          `json:"l" jsonschema_description:"several"`
			N json.Number                `json:"n"`
		}](), closed(`"r":{"description":"any JSON value"},"o":{"description":"any JSON value"},"m":{"type":"object","additionalProperties":{"description":"any JSON value"}},
			"l":{"type":"array","items":{"description":"any JSON value"},"description":"several"},"n":{"type":"number"}`, `["l","m","n","r"]`)},
		// C6
		{"directives", reflect.TypeFor[struct {
			A string   `json:"a" jsonschema:"title=The A,description=one\\, two,minLength=1,maxLength=9,pattern=^a=b,default=x,example=y,example=z,format=email,required"`
			B int      `json:"b" jsonschema:"minimum=1,exclusiveMaximum=10,multipleOf=2,enum=2,enum=4"`
			C []string `json:"c" jsonschema:"minItems=1,maxItems=3,uniqueItems=true,enum=p,enum=q" jsonschema_description:"one, two and three"`
			D uint8    `json:"d" jsonschema:"minimum=7"`
		}](), closed(`"a":{"type":"string","title":"The A","description":"one, two","minLength":1,"maxLength":9,"pattern":"^a=b","default":"x","examples":["y","z"],"format":"email"},
			"b":{"type":"integer","minimum":1,"exclusiveMaximum":10,"multipleOf":2,"enum":[2,4]},
			"c":{"type":"array","minItems":1,"maxItems":3,"uniqueItems":true,"items":{"type":"string","enum":["p","q"]},"description":"one, two and three"},
			"d":{"type":"integer","minimum":7,"maximum":255}`, `["a","b","c","d"]`)},
		// C1
		{"types of one name", reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: host, Tag: `json:"a"`}, {Name: "B", Type: port, Tag: `json:"b"`}, {Name: "C", Type: host, Tag: `json:"c"`},
		}), closed(`"a":`+closed(`"host":{"type":"string"}`, `["host"]`)+`,"b":`+closed(`"port":{"type":"integer"}`, `["port"]`)+`,"c":`+closed(`"host":{"type":"string"}`, `["host"]`), `["a","b","c"]`)},
		{"a generic type", reflect.TypeFor[page[item]](), closed(`"items":{"type":"array","items":`+closed(`"id":{"type":"integer"}`, `["id"]`)+`},
			"next":{"type":["object","null"],"additionalProperties":false,"properties":{"id":{"type":"integer"}},"required":["id"]}`, `["items"]`)},
		{"types with a text", reflect.TypeFor[struct {
			C color         `json:"c" jsonschema:"enum=#ff0000,enum=#00ff00"`
			A []netip.Addr  `json:"a"`
			M map[color]int `json:"-"`
		}](), closed(`"c":{"type":"string","enum":["#ff0000","#00ff00"]},"a":{"type":"array","items":{"type":"string"}}`, `["a","c"]`)},
		{"types with a schema", reflect.TypeFor[struct {
			P point  `json:"p"`
			Q *point `json:"q" jsonschema_description:"where"`
			A age    `json:"a"`
			B free   `json:"b"`
		}](), closed(`"p":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2,"description":"x and y"},
			"q":{"anyOf":[{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2},{"type":"null"}],"description":"where"},
			"a":{"type":"integer","minimum":0,"maximum":150},"b":{"description":"any JSON value"}`, `["a","b","p"]`)},
		{"numbers in quotes", reflect.TypeFor[struct {
			I int64   `json:"i,string"`
			F float64 `json:"f,string"`
		}](), closed(`"i":{"type":"string","pattern":"^-?(0|[1-9][0-9]*)$","description":"a number in quotes"},
			"f":{"type":"string","pattern":"^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?$","description":"a number in quotes"}`, `["f","i"]`)},
		// C17
		{"promotion", reflect.TypeFor[struct {
			embedded
			*Optional
			Shadowed string `json:"shadowed"`
		}](), closed(`"kept":{"type":"integer"},"extra":{"type":"integer"},"shadowed":{"type":"string"}`, `["kept","shadowed"]`)},
		{"a conflict drops both", reflect.StructOf([]reflect.StructField{ // by hand, or vet would refuse it
			{Name: "Embedded", Type: reflect.TypeFor[embedded](), Anonymous: true},
			{Name: "Rival", Type: reflect.TypeFor[rival](), Anonymous: true},
		}), closed(`"kept":{"type":"integer"}`, `["kept"]`)},
		{"no promotion under a name", reflect.TypeFor[struct {
			Optional `json:"o"`
		}](), closed(`"o":`+closed(`"extra":{"type":"integer"}`, `["extra"]`), `["o"]`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := schema.For(c.typ).JSON()
			duration := `"^[-+]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"`
			if diff := cmp.Diff(decoded(t, strings.ReplaceAll(c.want, "DURATION", duration)), decoded(t, string(got))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			require.Equal(t, string(got), string(schema.For(c.typ).JSON()), "not deterministic")
			require.NotRegexp(t, `\$|example\.com|true[,}\]]`, strings.ReplaceAll(strings.ReplaceAll(string(got), `$"`, ""), `"uniqueItems":true`, ""))
		})
	}
}

type embedded struct {
	Kept     int `json:"kept"`
	Shadowed int `json:"shadowed"`
}

type rival struct {
	Shadowed string `json:"shadowed"`
}

// Optional is promoted through a pointer.
type Optional struct {
	Extra int `json:"extra"`
}

// What is hashed into a step's key is the canonical form.
func TestAFieldThatIsMovedMakesNoOtherSchema(t *testing.T) {
	t.Parallel()
	type inner struct {
		X int `json:"x"`
		Y int `json:"y"`
	}
	type moved struct {
		Y int `json:"y"`
		X int `json:"x"`
	}
	canonical := func(typ reflect.Type) string {
		doc, err := strictjson.Canonical(schema.For(typ).JSON())
		require.NoError(t, err)
		return string(doc)
	}
	before := canonical(reflect.TypeFor[struct {
		B []inner          `json:"b"`
		A map[string]inner `json:"a"`
		O string           `json:"o,omitempty"`
	}]())
	after := canonical(reflect.TypeFor[struct {
		O string           `json:"o,omitempty"`
		A map[string]moved `json:"a"`
		B []moved          `json:"b"`
	}]())
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	require.NotEqual(t, before, canonical(reflect.TypeFor[struct {
		A map[string]moved `json:"a"`
		B []moved          `json:"b"`
		O string           `json:"o"`
	}]()), "a field that is required now is another schema")
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

func TestPropertiesKeepTheOrderOfTheirDeclaration(t *testing.T) {
	t.Parallel()
	got := string(schema.For(reflect.TypeFor[struct {
		Zed   string `json:"zed"`
		Alpha string `json:"alpha"`
		Mid   string `json:"mid"`
	}]()).JSON())
	require.Less(t, strings.Index(got, `"zed":{`), strings.Index(got, `"alpha":{`))
	require.Less(t, strings.Index(got, `"alpha":{`), strings.Index(got, `"mid":{`))
}

func TestJSONCannotBeChangedByItsReader(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[item]())
	s.JSON()[0] = 'x'
	require.Equal(t, byte('{'), s.JSON()[0])
}

type (
	node   struct{ Kids []*node }
	deep   struct{ Far map[string][]back }
	back   struct{ Home *deep }
	list   []list
	ring   *ring
	half   struct{}
	shaped struct{}
	boxed  struct{}
	argued struct{}
	wrong  struct{}
	wrongs struct{}
)

func (half) MarshalJSON() ([]byte, error)          { return []byte(`1`), nil }
func (shaped) JSONSchema() json.RawMessage         { return json.RawMessage(`{"$ref":"#/x"}`) }
func (wrong) JSONSchema() map[string]string        { return map[string]string{"minimum": "0"} }
func (wrongs) JSONSchema() json.RawMessage         { return json.RawMessage(`{"items":5}`) }
func (boxed) JSONSchema() json.RawMessage          { return json.RawMessage(`true`) }
func (argued) JSONSchema(name string) (int, error) { return 0, nil }

type halfText int

func (*halfText) UnmarshalText([]byte) error { return nil }

// C2, C4, C6, C10, C16: what cannot be sent to a vendor is refused where it is
// declared, with the field.
func TestAMalformedDeclarationPanicsWithItsField(t *testing.T) {
	t.Parallel()
	tagged := func(typ reflect.Type, tag string) reflect.Type {
		return reflect.StructOf([]reflect.StructField{{Name: "V", Type: typ, Tag: reflect.StructTag(`json:"v" ` + tag)}})
	}
	text, number := reflect.TypeFor[string](), reflect.TypeFor[int]()
	const notStruct = "a payload must be a struct, read as a JSON object"
	for _, c := range []struct {
		typ  reflect.Type
		want string // after the type
	}{
		{nil, notStruct},
		{reflect.TypeFor[[]item](), notStruct},
		{reflect.TypeFor[map[string]int](), notStruct},
		{reflect.TypeFor[any](), notStruct},
		{reflect.TypeFor[*item](), notStruct},
		{reflect.TypeFor[string](), notStruct},
		{reflect.TypeFor[time.Time](), notStruct},
		{reflect.TypeFor[color](), notStruct},
		{reflect.TypeFor[point](), notStruct},
		{reflect.TypeFor[struct{ time.Time }](), "struct { time.Time } reads its own JSON; describe it by a method JSONSchema() json.RawMessage"},

		{reflect.TypeFor[node](), "field Kids[]: the type contains itself (schema_test.node → []*schema_test.node → schema_test.node), which no vendor takes"},
		{reflect.TypeFor[struct{ In deep }](), "field In.Far.*[].Home: the type contains itself (schema_test.deep → map[string][]schema_test.back → []schema_test.back → schema_test.back → schema_test.deep), which no vendor takes"},
		{reflect.TypeFor[struct{ L list }](), "field L[]: the type contains itself (schema_test.list → schema_test.list), which no vendor takes"},
		{reflect.TypeFor[struct{ R ring }](), "field R: schema_test.ring points at pointers without end"},
		{reflect.TypeFor[struct{ P struct{ R *ring } }](), "field P.R: *schema_test.ring points at pointers without end"},

		{reflect.TypeFor[struct{ A struct{ B []map[string]any } }](), "field A.B[].*: interface {} is an interface, and a model cannot know what to send; use json.RawMessage for any JSON value"},
		{reflect.TypeFor[struct{ E error }](), "field E: error is an interface, and a model cannot know what to send; use json.RawMessage for any JSON value"},
		{reflect.TypeFor[struct{ F func() }](), "field F: a func() has no JSON"},
		{reflect.TypeFor[struct {
			Deep []struct{ C chan int }
		}](), "field Deep[].C: a chan int has no JSON"},
		{reflect.TypeFor[struct{ C complex128 }](), "field C: a complex128 has no JSON"},
		{reflect.TypeFor[struct{ U uintptr }](), "field U: a uintptr has no JSON"},
		{reflect.TypeFor[struct{ M map[int]string }](), "field M: a map must have string keys, not int"},
		{reflect.TypeFor[struct{ M map[color]string }](), "field M: a map must have string keys, not schema_test.color"},
		{reflect.TypeFor[struct{ B big.Int }](), "field B: big.Int reads its own JSON; describe it by a method JSONSchema() json.RawMessage"},
		{reflect.TypeFor[struct{ H half }](), "field H: schema_test.half needs both MarshalJSON and UnmarshalJSON, so that what was read can be written and read again"},
		{reflect.TypeFor[struct{ H halfText }](), "field H: schema_test.halfText needs both MarshalText and UnmarshalText, so that what was read can be written and read again"},
		{reflect.TypeFor[struct{ S shaped }](), "field S: schema_test.shaped.JSONSchema: has $ref; a schema must stand for itself"},
		{reflect.TypeFor[struct{ B boxed }](), "field B: schema_test.boxed.JSONSchema: true is not an object"},
		{reflect.TypeFor[struct{ A argued }](), "field A: schema_test.argued.JSONSchema: must have no parameters and one result"},

		{reflect.TypeFor[struct{ time.Duration }](), "field Duration: an embedded time.Duration needs a name in a json tag"},
		{reflect.TypeFor[struct{ In struct{ fmt.Stringer } }](), "field In.Stringer: an embedded fmt.Stringer needs a name in a json tag"},
		{reflect.TypeFor[struct {
			In []struct{ *embedded }
		}](), "field In[].embedded: an embedded pointer to an unexported struct cannot be set"},
		{reflect.TypeFor[struct {
			B bool `json:"b,string"`
		}](), "field b: the option string is for numbers"},

		{tagged(text, `jsonschema:"description=one, two and three"`), `field v: " two and three" in its jsonschema tag is no directive; a comma begins a new one, so write a description in a tag jsonschema_description`},
		{tagged(text, `jsonschema:"minLen=3"`), `field v: "minLen=3" in its jsonschema tag is no directive; a comma begins a new one, so write a description in a tag jsonschema_description`},
		{tagged(text, `jsonschema:"-"`), `field v: "-" in its jsonschema tag is no directive; a comma begins a new one, so write a description in a tag jsonschema_description`},
		{tagged(text, `jsonschema:"oneof_type=string;integer"`), `field v: "oneof_type=string;integer" in its jsonschema tag is no directive; a comma begins a new one, so write a description in a tag jsonschema_description`},
		{tagged(text, `jsonschema:"minimum=3"`), `field v: "minimum=3" in its jsonschema tag has no effect on a string`},
		{tagged(text, `jsonschema:"minLength=x"`), `field v: "minLength=x" in its jsonschema tag has no effect on a string`},
		{tagged(number, `jsonschema:"enum=1,enum=two"`), `field v: "enum=two" in its jsonschema tag has no effect on a int`},
		{tagged(reflect.TypeFor[bool](), `jsonschema:"enum=true"`), `field v: "enum=true" in its jsonschema tag has no effect on a bool`},
		{tagged(reflect.TypeFor[[]string](), `jsonschema:"uniqueItems=false"`), `field v: uniqueItems in its jsonschema tag can only be true`},
		{tagged(reflect.TypeFor[*int](), `jsonschema:"required"`), `field v: it is required by its jsonschema tag, and optional by its type or its json tag`},
		{tagged(reflect.TypeFor[time.Duration](), `jsonschema:"pattern=^1"`), `field v: "pattern=^1" in its jsonschema tag cannot hold for a time.Duration, which has a text of its own`},
		{tagged(reflect.TypeFor[[]time.Time](), `jsonschema:"format=date"`), `field v: "format=date" in its jsonschema tag cannot hold for a []time.Time, which has a text of its own`},
		{reflect.TypeFor[struct {
			M map[string][]struct {
				V string `jsonschema:"minimum=3"`
			}
		}](), `field M.*[].V: "minimum=3" in its jsonschema tag has no effect on a string`},
		{tagged(text, `jsonschema:"pattern=("`), "field v: pattern: '(' is not valid regex: error parsing regexp: missing closing ): `(`"},
		{reflect.TypeFor[struct{ M map[string][]wrong }](), "field M.*[]: minimum: got string, want number"},
		{reflect.TypeFor[struct{ W wrongs }](), "field W[]: got number, want boolean or object"},
		{tagged(number, `jsonschema:"multipleOf=0"`), "field v: multipleOf: exclusiveMinimum: got 0, want 0"},
		{tagged(text, `jsonschema_extras:"a=b"`), `field v: the tag jsonschema_extras is not supported`},
		{reflect.StructOf([]reflect.StructField{{Name: "V", Type: text, Tag: `json:"-,omitempty"`}}), `field -: a key must not be -`},
	} {
		name := fmt.Sprint(c.typ)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.PanicsWithValue(t, "agl: "+name+": "+c.want, func() { schema.For(c.typ) })
		})
	}
}
