package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/schema"
	"example.com/agl/internal/strictjson"
)

type finding struct {
	Severity string        `json:"severity" jsonschema:"enum=high,enum=medium,enum=low"`
	Text     string        `json:"text" jsonschema:"minLength=1"`
	Line     *int          `json:"line" jsonschema:"minimum=1"`
	Wait     time.Duration `json:"wait,omitempty"`
	At       time.Time     `json:"at,omitzero"`
	Small    int8          `json:"small,omitempty"`
	Tags     []string      `json:"tags,omitempty" jsonschema:"maxItems=2,uniqueItems=true"`
	Bytes    []byte        `json:"bytes,omitempty"`
	Quoted   int           `json:"quoted,string,omitempty"`
	Mail     string        `json:"mail,omitempty" jsonschema:"format=email"`
	Code     string        `json:"code,omitempty" jsonschema:"pattern=^E[0-9]+$"`
	Share    float64       `json:"share,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1.5,multipleOf=0.25"`
}

type report struct {
	Items []finding          `json:"items" jsonschema:"minItems=1"`
	Notes map[string]float64 `json:"notes,omitempty"`
	Where *point             `json:"where"`
	Big   int64              `json:"big,omitempty"`
	Raw   json.RawMessage    `json:"raw,omitempty"`
}

func (r *report) Validate() error {
	var all []error
	for i, item := range r.Items {
		if item.Text == "forbidden" {
			all = append(all, fmt.Errorf("items[%d].text: must not be forbidden", i))
		}
	}
	return errors.Join(all...)
}

func TestCheckFindsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[report]())
	const ok = `{"severity":"low","text":"t"`
	for _, c := range []struct {
		name, doc string
		want      []string
	}{
		{"valid", `{"items":[` + ok + `}]}`, nil},
		{"everything", `{"items":[` + ok + `,"line":3.0,"wait":"1h0.5s","at":"2026-01-02T03:04:05.5+02:00","small":-128,"tags":[],"bytes":"eA==","quoted":"-7","mail":"a@b.c","code":"E1","share":0.5}],"notes":{"a":1},"where":[1,2],"big":9007199254740993,"raw":[{}]}`, nil},
		{"null for what may be left out", `{"items":[` + ok + `,"line":null,"wait":null,"at":null,"small":null,"tags":null,"bytes":null,"quoted":null,"mail":null,"share":null}],"notes":null,"where":null,"big":null,"raw":null}`, nil},
		{"nothing", ``, []string{`not valid JSON: it ends too early, at byte 0`}},
		{"text around it", "```json\n{}\n```", []string{"not valid JSON: invalid character '`' at start of value, at byte 0"}},
		{"another root", `[1]`, []string{`must be an object, got a list`}},
		{"a quoted root", `"{}"`, []string{`must be an object, got "{}"`}},
		{"null", `null`, []string{`must be an object, got null`}},
		{"empty", `{}`, []string{`items: is required and missing`}},
		{"a duplicate", `{"items":[],"items":[]}`, []string{`duplicate key "items"`}},
		{"a number beyond all", `{"items":[` + ok + `,"small":1e999999999}]}`, []string{`items[0].small: the number is too large`}},
		{"a number beyond all in raw JSON", `{"items":[` + ok + `}],"raw":{"a b":[0,1e-99999999999999999999]}}`, []string{`raw["a b"][1]: the number is too large`}},
		{"several", `{"big":"1","Items":[],"items":[{"text":"","line":0,"extra":1},` + ok + `},7,{"severity":"urgent","text":3}]}`, []string{
			`items[0].severity: is required and missing`,
			`items[0].text: must have at least 1 character, has 0`,
			`items[0].line: must be at least 1, got 0`,
			`items[0].extra: unknown key; the keys here are severity, text, line, wait, at, small, tags, bytes, quoted, mail, code, share`,
			`items[2]: must be an object, got 7`,
			`items[3].severity: must be one of high, medium, low`,
			`items[3].text: must be a string, got 3`,
			`big: must be a whole number or null, got "1"`,
			`Items: unknown key; it is written items`,
		}},
		{"forms", `{"items":[` + ok + `,"line":1.5,"wait":"soon","at":"today","small":128,"tags":["a","a","b"],"bytes":"?","quoted":"x","mail":"me","code":"e1","share":0}],"notes":{"a":"b"},"where":[1]}`, []string{
			`items[0].line: must be a whole number or null, got 1.5`,
			`items[0].wait: must be a duration such as "1m30s", got "soon"`,
			`items[0].at: must be a time such as "2006-01-02T15:04:05Z", got "today"`,
			`items[0].small: must be at most 127, got 128`,
			`items[0].tags: must have at most 2 elements, has 3`,
			`items[0].tags: elements 0 and 1 are equal`,
			`items[0].bytes: must be base64 text`,
			`items[0].quoted: must be a number in quotes, got "x"`,
			`items[0].mail: must be a valid email, got "me"`,
			`items[0].code: must match ^E[0-9]+$, got "e1"`,
			`items[0].share: must be more than 0, got 0`,
			`notes.a: must be a number, got "b"`,
			`where: has none of the forms that are allowed here`,
		}},
		{"more forms", `{"items":[],"where":[1,2],"notes":{"x":true}}`, []string{
			`items: must have at least 1 element, has 0`,
			`notes.x: must be a number, got true`,
		}},
		{"even more", `{"items":[` + ok + `,"share":1.5},` + ok + `,"share":0.3}]}`, []string{
			`items[0].share: must be less than 1.5, got 1.5`,
			`items[1].share: must be a multiple of 0.25, got 0.3`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range 3 { // the validator ranges over maps
				if diff := cmp.Diff(c.want, s.Check([]byte(c.doc))); diff != "" {
					t.Fatalf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[report]())
	problems := s.Check([]byte(`{"items":[` + strings.Repeat(`{},`, 49) + `{}]}`))
	require.Len(t, problems, 21)
	require.Equal(t, "items[9].text: is required and missing", problems[19])
	require.Equal(t, "and 80 more", problems[20])

	long := strings.Repeat("long\n", 1000)
	text, err := json.Marshal(map[string]any{"items": []any{map[string]any{long: 1, "severity": "low", "text": "t", "code": long}}})
	require.NoError(t, err)
	for _, p := range s.Check(text) {
		require.Less(t, len(p), 400)
		require.NotContains(t, p, "\n")
	}
	require.Len(t, s.Check(text), 2)
}

func TestDecodeSetsTheDestinationOnlyOnSuccess(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[report]())
	got := report{Big: 7, Notes: map[string]float64{"old": 1}}
	require.NoError(t, s.Decode([]byte(`{"items":[{"severity":"low","text":"t","wait":"90s","line":2.0}],"where":[1,2]}`), &got))
	line := 2
	want := report{Items: []finding{{Severity: "low", Text: "t", Wait: 90 * time.Second, Line: &line}}, Where: &point{1, 2}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(point{})); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}

	for doc, problems := range map[string][]string{
		`{}`: {`items: is required and missing`},
		`{"items":[{"severity":"low","text":"forbidden"},{"severity":"low","text":"t"},{"severity":"low","text":"forbidden"}]}`: {
			`items[0].text: must not be forbidden`, `items[2].text: must not be forbidden`,
		},
		`{"items":[{"severity":"low","text":"t"}],"big":9223372036854775808}`:             {`big: 9223372036854775808 does not fit int64`},
		`{"items":[{"severity":"low","text":"t","at":"2026-01-02t03:04:05z"}]}`:           {`items[0].at: expected a time such as "2006-01-02T15:04:05Z", got other text`},
		`{"items":[{"severity":"low","text":"t","wait":"99999999999999999999h"}]}`:        {`items[0].wait: expected a duration such as "1m30s", got "99999999999999999999h"`},
		`{"items":[{"severity":"low","text":"t","share":null}],"notes":{"a":1e399}}`:      {`notes.a: expected a number, got 1e399`},
		`{"items":[{"severity":"low","text":"t","quoted":"99999999999999999999999999"}]}`: {`items[0].quoted: "99999999999999999999999999" does not fit int`},
	} {
		err := s.Decode([]byte(doc), &got)
		var e *schema.PayloadError
		require.ErrorAs(t, err, &e, doc)
		require.Equal(t, problems, e.Problems)
		require.Equal(t, strings.Join(problems, "; "), err.Error())
		require.Equal(t, int64(0), got.Big)
		require.Len(t, got.Items, 1)
		require.Equal(t, "t", got.Items[0].Text)
	}
}

// C8: what the schema takes for a duration is what Go does.
func TestDurationsAreGosText(t *testing.T) {
	t.Parallel()
	type wait struct {
		D time.Duration `json:"d"`
	}
	s := schema.For(reflect.TypeFor[wait]())
	for _, text := range []string{"0", "0s", "1m30s", "-1.5h", "+3ms", ".5s", "1.s", "2us3µs4μs", "2540400h10m10s", "", "-", "00", "1", "1 s", "s", ".s", "1d", "1h ", "٣s"} {
		want, err := time.ParseDuration(text)
		doc, jsonErr := json.Marshal(map[string]string{"d": text})
		require.NoError(t, jsonErr)
		var got wait
		require.Equal(t, err == nil, s.Check(doc) == nil, "%q", text)
		require.Equal(t, err == nil, s.Decode(doc, &got) == nil, "%q", text)
		require.Equal(t, want, got.D)
	}
}

func TestDecodeRefusesAnotherDestination(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[item]())
	for _, into := range []any{nil, item{}, (*item)(nil), new(finding)} {
		err := s.Decode([]byte(`{"id":1}`), into)
		require.ErrorContains(t, err, "the destination is a")
		var e *schema.PayloadError
		require.False(t, errors.As(err, &e))
	}
}

// C12
func TestIntegersAreExact(t *testing.T) {
	t.Parallel()
	type numbers struct {
		I int64           `json:"i"`
		U uint64          `json:"u"`
		R json.RawMessage `json:"r"`
		N json.Number     `json:"n"`
	}
	var got numbers
	doc := `{"i":-9223372036854775808,"u":18446744073709551615,"r":9007199254740993,"n":9007199254740993}`
	require.NoError(t, schema.For(reflect.TypeFor[numbers]()).Decode([]byte(doc), &got))
	require.Equal(t, numbers{math.MinInt64, math.MaxUint64, json.RawMessage("9007199254740993"), "9007199254740993"}, got)
}

type everyForm struct {
	embedded
	*Optional
	S string              `json:"s"`
	E string              `json:"e" jsonschema:"enum=high,enum=low"`
	B bool                `json:"b"`
	I int                 `json:"i"`
	U uint8               `json:"u"`
	F float64             `json:"f"`
	L []item              `json:"l"`
	A [2]int              `json:"a"`
	M map[string][]*item  `json:"m"`
	Y []byte              `json:"y"`
	D time.Duration       `json:"d"`
	T time.Time           `json:"t"`
	R json.RawMessage     `json:"r"`
	N json.Number         `json:"n"`
	Q int                 `json:"q,string"`
	C color               `json:"c"`
	P point               `json:"p"`
	G page[finding]       `json:"g"`
	O *struct{ X **int }  `json:"o"`
	Z map[string]struct{} `json:"z,omitzero"`
	V bool                `json:"v,omitempty"`
}

// C17: each property alone sets something, and what was read fits again.
func TestEveryPropertyIsReadAndWrittenBack(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[everyForm]())
	root := decoded(t, string(s.JSON())).(map[string]any)
	whole := map[string]any{}
	for name, property := range root["properties"].(map[string]any) {
		value := sample(property.(map[string]any))
		if name == "c" {
			value = "#102030"
		}
		whole[name] = value
		doc, err := json.Marshal(map[string]any{name: value})
		require.NoError(t, err)
		for _, p := range s.Check(doc) {
			require.Regexp(t, "is required and missing$", p, "%s", doc)
		}
		var got everyForm
		require.NoError(t, strictjson.Decode(doc, &got), "%s", doc)
		require.NotZero(t, got, "%s sets nothing", doc)
	}
	require.Len(t, whole, reflect.TypeFor[everyForm]().NumField()+1, "kept, shadowed and extra instead of two structs")

	doc, err := json.Marshal(whole)
	require.NoError(t, err)
	var got, again everyForm
	require.NoError(t, s.Decode(doc, &got), "%s", doc)
	text, err := strictjson.Canonical(got)
	require.NoError(t, err)
	require.NoError(t, s.Decode(text, &again), "%s", text)
	require.Equal(t, got, again)
}

// sample returns a value that fits a property's schema.
func sample(s map[string]any) any {
	if enum, ok := s["enum"].([]any); ok {
		return enum[0]
	}
	typ := s["type"]
	if types, ok := typ.([]any); ok {
		typ = types[0]
	}
	switch typ {
	case "string":
		switch {
		case s["format"] == "date-time":
			return "2026-01-02T03:04:05Z"
		case s["format"] == "email":
			return "a@b.c"
		case s["contentEncoding"] != nil:
			return "eA=="
		case s["pattern"] != nil && strings.Contains(s["pattern"].(string), "ns|us"):
			return "1m0s"
		case s["pattern"] == "^E[0-9]+$":
			return "E1"
		case s["pattern"] != nil:
			return "12"
		default:
			return "s"
		}
	case "integer":
		return 1
	case "number":
		return 0.5
	case "boolean":
		return true
	case "array":
		item := sample(s["items"].(map[string]any))
		if s["minItems"] == 2.0 {
			return []any{item, item}
		}
		return []any{item}
	case "object":
		if more, ok := s["additionalProperties"].(map[string]any); ok {
			return map[string]any{"k": sample(more)}
		}
		all := map[string]any{}
		for name, p := range s["properties"].(map[string]any) {
			all[name] = sample(p.(map[string]any))
		}
		return all
	default:
		return map[string]any{"any": 1}
	}
}

func TestASchemaIsUsedByManyAtOnce(t *testing.T) {
	t.Parallel()
	s := schema.For(reflect.TypeFor[report]())
	done := make(chan []string)
	for i := range 8 {
		go func() {
			var r report
			_ = s.Decode([]byte(`{"items":[{"severity":"low","text":"t"}]}`), &r)
			done <- s.Check(fmt.Appendf(nil, `{"items":[{"severity":"low","text":"t","line":%d}]}`, -i))
		}()
	}
	for range 8 {
		require.Len(t, <-done, 1)
	}
}

func FuzzDecode(f *testing.F) {
	s := schema.For(reflect.TypeFor[report]())
	for _, doc := range []string{
		`{"items":[{"severity":"low","text":"t","line":3.0,"wait":"1m","at":"2026-01-02T03:04:05Z","bytes":"eA==","quoted":"1","share":0.5}],"notes":{"a":1},"where":[1,2],"raw":{"a":[1e2]}}`,
		`{"items":[{"severity":"x","Text":1}],"big":9223372036854775808}`, `{"items":[{}],"raw":1e99999999}`, `[`, "\xff",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		problems := s.Check(doc)
		require.LessOrEqual(t, len(problems), 21)
		var got, again report
		err := s.Decode(doc, &got)
		if problems != nil {
			require.Error(t, err)
		}
		if err != nil {
			var e *schema.PayloadError
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Problems)
			return
		}
		text, err := strictjson.Canonical(got)
		require.NoError(t, err)
		require.NoError(t, s.Decode(text, &again), "%s", text)
		back, err := strictjson.Canonical(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(back))
	})
}

func BenchmarkFor(b *testing.B) {
	for b.Loop() {
		schema.For(reflect.TypeFor[report]())
	}
}

func BenchmarkDecode(b *testing.B) {
	s := schema.For(reflect.TypeFor[report]())
	doc := []byte(`{"items":[` + strings.Repeat(`{"severity":"low","text":"the error of Close is not checked","line":12},`, 13) + `{"severity":"low","text":"t"}]}`)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		var r report
		if err := s.Decode(doc, &r); err != nil {
			b.Fatal(err)
		}
	}
}
