package strictjson_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/strictjson"
)

type finding struct {
	Severity string         `json:"severity"`
	Line     int            `json:"line"`
	Small    int8           `json:"small,omitempty"`
	Count    uint           `json:"count,omitempty"`
	Score    float64        `json:"score,omitempty"`
	Wait     time.Duration  `json:"wait,omitempty"`
	At       time.Time      `json:"at,omitzero"`
	Bytes    []byte         `json:"bytes,omitempty"`
	Pair     [2]int         `json:"pair,omitzero"`
	Level    level          `json:"level,omitempty"`
	Flag     *bool          `json:"flag,omitempty"`
	Tags     map[string]any `json:"tags,omitempty"`
	N        json.Number    `json:"n,omitempty"`
	Quoted   int            `json:"quoted,string,omitempty"`
}

type findings struct {
	Items []finding       `json:"items"`
	Note  string          `json:"note,omitempty"`
	Raw   json.RawMessage `json:"raw,omitempty"`
}

// Case C15.
func TestDecodeTakesExactlyWhatTheTypeDescribes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, doc, want string // want is an error, or empty
	}{
		{"all in order", `{"items":[{"severity":"high","line":3}],"note":"é\u00e9"}`, ``},
		{"white space", " {\r\n\t\"items\" : [ ] } \n", ``},
		{"null for anything", `{"items":[{"severity":null,"line":null,"wait":null,"at":null,"bytes":null,"pair":null,"level":null,"flag":null,"tags":null,"n":null}],"note":null,"raw":null}`, ``},
		{"1.0 for an int", `{"items":[{"line":1.0},{"line":-2e2,"small":1e2,"count":3.0}]}`, ``},
		{"an int beyond 2^53", `{"items":[{"line":9007199254740993}]}`, ``},

		{"another case", `{"Items":[]}`, `unknown key "Items"`},
		{"an unknown key", `{"items":[{},{"severty":"x"}]}`, `items[1]: unknown key "severty"`},
		{"a duplicate", `{"note":"a","note":"b"}`, `duplicate key "note"`},
		{"a duplicate by escape", `{"items":[{"line":1,"l\u0069ne":2}]}`, `items[0]: duplicate key "line"`},
		{"a duplicate in a map", `{"items":[{"tags":{"a":{"b":1,"b":2}}}]}`, `items[0].tags.a: duplicate key "b"`},
		{"a duplicate in raw JSON", `{"raw":{"b":1,"b":2}}`, `raw: duplicate key "b"`},
		{"invalid UTF-8", "{\"note\":\"\xff\"}", `note: not valid JSON: invalid UTF-8, at byte 9`},
		{"a lone surrogate", `{"note":"\ud800"}`, `note: not valid JSON: half a surrogate pair in a string, at byte 9`},
		{"trailing data", `{} {}`, `not valid JSON: invalid character '{' after top-level value, at byte 3`},
		{"trailing garbage", `{}x`, `not valid JSON: invalid character 'x' after top-level value, at byte 2`},
		{"torn", `{"note":"a`, `note: not valid JSON: it ends too early, at byte 10`},
		{"zero-filled", "{\"note\":\"a\x00\x00\"}", "note: not valid JSON: invalid character '\\x00' in string (expecting non-control character), at byte 10"},
		{"nothing", ``, `not valid JSON: it ends too early, at byte 0`},
		{"no object", `[]`, `expected an object, got a list`},
		{"a comment", `{/**/}`, `not valid JSON: invalid character '/' at start of value, at byte 1`},

		{"text for a list", `{"items":"none"}`, `items: expected a list, got a string`},
		{"a number for text", `{"items":[{"severity":3}]}`, `items[0].severity: expected a string, got a number`},
		{"text for an int", `{"items":[{"line":"3"}]}`, `items[0].line: expected a whole number, got a string`},
		{"a fraction", `{"items":[{"line":1.5}]}`, `items[0].line: expected a whole number, got 1.5`},
		{"a fraction after 1.0", `{"items":[{"line":1.0},{"line":1.5}]}`, `items[1].line: expected a whole number, got 1.5`},
		{"too large", `{"items":[{"small":128}]}`, `items[0].small: 128 does not fit int8`},
		{"too large with an exponent", `{"items":[{"small":1e3}]}`, `items[0].small: 1e3 does not fit int8`},
		{"too large for 64 bits", `{"items":[{"line":9223372036854775808}]}`, `items[0].line: 9223372036854775808 does not fit int`},
		{"a negative count", `{"items":[{"count":-1}]}`, `items[0].count: expected a whole number that is not negative, got -1`},
		{"too large for a float", `{"items":[{"score":1e999}]}`, `items[0].score: expected a number, got 1e999`},
		{"nanoseconds", `{"items":[{"wait":5000000000}]}`, `items[0].wait: expected a duration such as "1m30s", got 5000000000`},
		{"no duration", `{"items":[{"wait":"soon"}]}`, `items[0].wait: expected a duration such as "1m30s", got "soon"`},
		{"no time", `{"items":[{"at":"yesterday"}]}`, `items[0].at: expected a time such as "2006-01-02T15:04:05Z", got other text`},
		{"no base64", `{"items":[{"bytes":"!"}]}`, `items[0].bytes: expected base64 text, got other text`},
		{"a list for bytes", `{"items":[{"bytes":[1]}]}`, `items[0].bytes: expected base64 text, got a list`},
		{"too few", `{"items":[{"pair":[1]}]}`, `items[0].pair: expected a list of 2, got another number of elements`},
		{"no boolean", `{"items":[{"flag":"yes"}]}`, `items[0].flag: expected true or false, got a string`},
		{"no number", `{"items":[{"n":true}]}`, `items[0].n: expected a number, got a boolean`},
		{"a list for a duration", `{"items":[{"wait":["1s"]}]}`, `items[0].wait: expected a duration such as "1m30s", got a list`},
		{"an object for an int", `{"items":[{"line":{}}]}`, `items[0].line: expected a whole number, got an object`},
		{"too large in quotes", `{"items":[{"quoted":"99999999999999999999"}]}`, `items[0].quoted: "99999999999999999999" does not fit int`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := findings{Note: "before", Items: []finding{{Line: 7}}}
			got := before
			err := strictjson.Decode([]byte(c.doc), &got)
			if c.want == "" {
				require.NoError(t, err)
				require.NotEqual(t, before.Note, got.Note)
				return
			}
			var e *strictjson.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.want, err.Error())
			require.Equal(t, before, got, "the destination changed")
		})
	}
}

func TestDecodeSaysWhatNoDocumentCanBeReadInto(t *testing.T) {
	t.Parallel()
	var into map[string]chan int
	require.EqualError(t, strictjson.Decode([]byte(`{"c":1}`), &into), `c: a chan int cannot be read from JSON`)
}

func TestDecodeReadsIntoTheZeroValue(t *testing.T) {
	t.Parallel()
	flag := true
	got := findings{Note: "old", Items: []finding{{Line: 7, Flag: &flag, Tags: map[string]any{"old": 1}}}}
	require.NoError(t, strictjson.Decode([]byte(`{"items":[{"severity":"low"}]}`), &got))
	require.Equal(t, findings{Items: []finding{{Severity: "low"}}}, got)
	require.True(t, flag)
}

func TestDecodeKeepsEveryDigit(t *testing.T) {
	t.Parallel()
	var got map[string]any
	require.NoError(t, strictjson.Decode([]byte(`{"n":9007199254740993,"l":[1.10,{"x":-0}],"s":"t"}`), &got))
	want := map[string]any{"n": json.Number("9007199254740993"), "l": []any{json.Number("1.10"), map[string]any{"x": json.Number("-0")}}, "s": "t"}
	require.Equal(t, want, got)
	require.Equal(t, `{"l":[1.1,{"x":0}],"n":9007199254740993,"s":"t"}`, canonical(t, got))
}

func TestDecodeKeepsOtherNumbersAsTheyAreWrittenWhereOneIntegerIsNot(t *testing.T) {
	t.Parallel()
	var got findings
	require.NoError(t, strictjson.Decode([]byte(`{"items":[{"line":2.0}],"raw":[1.0,10e1]}`), &got))
	require.Equal(t, 2, got.Items[0].Line)
	require.Equal(t, `[1.0,10e1]`, string(got.Raw))
}

func TestDecodeNeedsAPointer(t *testing.T) {
	t.Parallel()
	for _, into := range []any{nil, findings{}, (*findings)(nil)} {
		require.ErrorContains(t, strictjson.Decode([]byte(`{}`), into), "must be a pointer")
		require.ErrorContains(t, strictjson.DecodeExact([]byte(`{}`), into), "must be a pointer")
	}
}

// D4: what a first run sees and what a resume sees have one text.
func FuzzAValueSurvivesTheRoundTrip(f *testing.F) {
	f.Add("a", int64(math.MaxInt64), uint64(math.MaxUint64), 0.1, float32(1e30), []byte{0xff}, true, int64(time.Hour), int64(1e9), "k")
	f.Add("\x00é\u2028", int64(-1<<53-1), uint64(0), math.Copysign(0, -1), float32(-0.1), []byte{}, false, int64(math.MinInt64), int64(-1), "")
	type inner struct {
		D map[string]time.Duration `json:"d"`
		T *time.Time               `json:"t,omitempty"`
		A any                      `json:"a"`
	}
	type value struct {
		S string          `json:"s"`
		I int64           `json:"i"`
		Q int64           `json:"q,string"`
		U uint64          `json:"u"`
		F float64         `json:"f"`
		G float32         `json:"g"`
		B []byte          `json:"b"`
		O bool            `json:"o"`
		D time.Duration   `json:"d"`
		T time.Time       `json:"t"`
		N json.Number     `json:"n"`
		R json.RawMessage `json:"r"`
		M map[string]int8 `json:"m"`
		L []inner         `json:"l"`
		P *inner          `json:"p"`
	}
	f.Fuzz(func(t *testing.T, s string, i int64, u uint64, fl float64, fl32 float32, b []byte, o bool, d, sec int64, key string) {
		at := time.Unix(sec%(1<<37), d%1e9)
		v := value{
			s, i, i, u, fl, fl32, b, o, time.Duration(d), at, json.Number(canonical(t, i)), json.RawMessage(canonical(t, u)),
			map[string]int8{key: int8(i), "": 1, "z" + key: 2},
			[]inner{{map[string]time.Duration{key: time.Duration(d)}, &at, []any{json.Number(canonical(t, i)), key, nil, o}}},
			&inner{},
		}
		text, err := strictjson.Canonical(v)
		if err != nil {
			return // NaN, invalid UTF-8, a year beyond RFC 3339
		}
		var back value
		require.NoError(t, strictjson.DecodeExact(text, &back))
		if diff := cmp.Diff(v, back, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", text, diff)
		}
		require.Equal(t, string(text), canonical(t, back))
		require.Equal(t, string(text), canonical(t, json.RawMessage(text)))
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1.0,{"z":null,"a":"\u0041\ud83d\ude00"}],"a":-0}`, `[1e5,1E-400,0.10e+2]`, `"\n\"\\"`, ` true `, `{"a\n":1,"a!":2}`, `{"":{},"a":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := strictjson.Canonical(json.RawMessage(string(raw))) // not nil
		var v any
		if err != nil {
			require.Error(t, strictjson.Decode(raw, &v))
			return
		}
		require.NoError(t, strictjson.Decode(raw, &v))
		require.Equal(t, string(text), canonical(t, v))
		require.Equal(t, string(text), canonical(t, json.RawMessage(text)))

		// encoding/json reads the same value, but for the digits and the numbers
		// a float does not hold.
		var ours, theirs any
		if json.Unmarshal(raw, &theirs) == nil {
			require.NoError(t, json.Unmarshal(text, &ours))
			require.Equal(t, theirs, ours)
		}
	})
}
