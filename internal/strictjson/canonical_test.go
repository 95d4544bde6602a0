package strictjson_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"math/big"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/strictjson"
)

type level int

func (l level) MarshalText() ([]byte, error) { return []byte([]string{"low", "high"}[l]), nil }

func (l *level) UnmarshalText(b []byte) error {
	*l = 0
	if string(b) == "high" {
		*l = 1
	}
	return nil
}

type celsius struct{ degrees float64 }

func (c *celsius) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]any{"c": c.degrees}) }

type base struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

type everything struct {
	Zed      string                   `json:"zed"`
	Alpha    int64                    `json:"alpha"`
	Wait     time.Duration            `json:"wait"`
	Waits    map[string]time.Duration `json:"waits"`
	At       time.Time                `json:"at"`
	Raw      json.RawMessage          `json:"raw"`
	Any      any                      `json:"any"`
	List     []string                 `json:"list"`
	Map      map[string]int           `json:"map"`
	Ptr      *base                    `json:"ptr"`
	Bytes    []byte                   `json:"bytes"`
	Empty    string                   `json:"empty,omitempty"`
	Zero     time.Time                `json:"zero,omitzero"`
	Quoted   int64                    `json:"quoted,string"`
	Level    level                    `json:"level"`
	Untagged bool
	Skipped  string `json:"-"`
	private  int
	base
}

func TestEveryValueHasOneText(t *testing.T) {
	t.Parallel()
	moscow := time.FixedZone("MSK", 3*60*60)
	now := time.Now()
	for _, c := range []struct {
		name string
		v    any
		want string
	}{
		{"nil", nil, `null`},
		{"struct fields are sorted as map keys are", struct {
			B, A int
			Aa   string `json:"a"`
		}{1, 2, "x"}, `{"A":2,"B":1,"a":"x"}`},
		{"everything at its zero", everything{}, `{"Untagged":false,"alpha":0,"any":null,"at":"0001-01-01T00:00:00Z","bytes":"","id":0,"level":"low","list":[],"map":{},"name":"","ptr":null,"quoted":"0","raw":null,"wait":"0s","waits":{},"zed":""}`},
		{"integers beyond 2^53", []any{int64(math.MaxInt64), int64(math.MinInt64), uint64(math.MaxUint64), int64(1<<53 + 1)}, `[9223372036854775807,-9223372036854775808,18446744073709551615,9007199254740993]`},
		{"integers inside any, raw JSON and json.Number", map[string]any{
			"a": json.RawMessage(`9007199254740993`), "n": json.Number("9007199254740993"), "big": big.NewInt(0).Lsh(big.NewInt(1), 100),
		}, `{"a":9007199254740993,"big":1267650600228229401496703205376,"n":9007199254740993}`},
		{"a whole float is an integer", []float64{1, -1, 1e20, 1e21, 0.1, 1e-6, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64}, `[1,-1,100000000000000000000,1e+21,0.1,0.000001,1e-7,1.7976931348623157e+308,5e-324]`},
		{"float32 has its own shortest form", []float32{0.1, 16777216}, `[0.1,16777216]`},
		{"no negative zero", []any{math.Copysign(0, -1), json.RawMessage("-0"), json.Number("-0.0e9")}, `[0,0,0]`},
		{"raw JSON is rewritten", json.RawMessage("{ \"b\" : [1.0, 1e3, 1E-7, 0.10],\n\"a\":\"\\u0041\\u003c\\/\\ud83d\\ude00\" }"), `{"a":"A</😀","b":[1,1000,1e-7,0.1]}`},
		{"no escapes for HTML or JavaScript", "<a href=\"x\">&\u2028", "\"<a href=\\\"x\\\">&\u2028\""},
		{"control characters", "\x00\n\t\x1f\x7f", `"\u0000\n\t\u001f` + "\x7f" + `"`},
		{"durations are Go's text", map[string]any{"d": 90 * time.Second, "l": []time.Duration{1, -time.Hour}}, `{"d":"1m30s","l":["1ns","-1h0m0s"]}`},
		{"durations as keys", map[time.Duration]int{time.Minute: 1}, `{"1m0s":1}`},
		{"one instant, whatever its zone", []time.Time{time.Date(2026, 1, 2, 3, 4, 5, 60, time.UTC), time.Date(2026, 1, 2, 6, 4, 5, 60, moscow)}, `["2026-01-02T03:04:05.00000006Z","2026-01-02T03:04:05.00000006Z"]`},
		{"no monotonic reading", map[string]bool{"same": canonical(t, now) == canonical(t, now.Round(0))}, `{"same":true}`},
		{"bytes", map[string]any{"b": []byte{0xff, 0}, "array": [3]byte{1, 2, 3}, "nil": []byte(nil)}, `{"array":[1,2,3],"b":"/wA=","nil":""}`},
		{"named bytes are a list", []level{0, 1}, `["low","high"]`},
		{"integer keys", map[int]string{10: "b", 9: "a", -1: "c"}, `{"-1":"c","10":"b","9":"a"}`},
		{"text keys", map[netip.Addr]int{netip.MustParseAddr("::1"): 1}, `{"::1":1}`},
		{"keys sort by their bytes, not by their escapes", map[string]int{"a\n": 1, "a!": 2, "a\\": 3, "aé": 4, "aZ": 5, "a": 6, "a\U0001F600": 7, "a\uffff": 8}, "{\"a\":6,\"a\\n\":1,\"a!\":2,\"aZ\":5,\"a\\\\\":3,\"aé\":4,\"a\uffff\":8,\"a\U0001F600\":7}"},
		{"keys that begin alike", map[string]int{"a\x00": 1, "a": 2, "12345678b": 3, "12345678": 4, "12345678a": 5, "1234567": 6, "12345678\x00": 7}, `{"1234567":6,"12345678":4,"12345678\u0000":7,"12345678a":5,"12345678b":3,"a":2,"a\u0000":1}`},
		{"composed and decomposed letters differ", []string{"é", "e\u0301"}, "[\"é\",\"e\u0301\"]"},
		{"methods of pointers are called for values", []any{celsius{1.0}, &celsius{2}, map[string]celsius{"x": {3}}}, `[{"c":1},{"c":2},{"x":{"c":3}}]`},
		{"nested objects", map[string]any{"z": map[string]any{"y": 1, "x": []any{map[string]any{"b": 1, "a": 2}}}, "a": nil}, `{"a":null,"z":{"x":[{"a":2,"b":1}],"y":1}}`},
		{"omitempty as encoding/json has it", struct {
			A int            `json:"a,omitempty"`
			B *int           `json:"b,omitempty"`
			C []int          `json:"c,omitempty"`
			D time.Time      `json:"d,omitempty"`
			E bool           `json:"e,omitempty"`
			F map[string]int `json:"f,omitempty"`
			G base           `json:"g,omitempty"`
		}{C: []int{}}, `{"d":"0001-01-01T00:00:00Z","g":{"id":0,"name":""}}`},
		{"the option string", struct {
			I int     `json:"i,string"`
			F float64 `json:"f,string"`
			B bool    `json:"b,string"`
			S string  `json:"s,string"`
		}{1, 1.5, true, "x"}, `{"b":"true","f":"1.5","i":"1","s":"\"x\""}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, canonical(t, c.v)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func canonical(t testing.TB, v any) string {
	t.Helper()
	text, err := strictjson.Canonical(v)
	require.NoError(t, err)
	return string(text)
}

func TestAPointerAndItsValueHaveTheSameText(t *testing.T) {
	t.Parallel()
	v := everything{Zed: "z", Any: celsius{1}, Level: 1, Ptr: &base{ID: 1}}
	p := &v
	require.Equal(t, canonical(t, v), canonical(t, &p))
}

func TestAppendCanonicalKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	got, err := strictjson.AppendCanonical([]byte("x="), map[string]int{"b": 1, "a": 2})
	require.NoError(t, err)
	require.Equal(t, `x={"a":2,"b":1}`, string(got))
	got, err = strictjson.AppendCanonical([]byte("x="), math.NaN())
	require.Error(t, err)
	require.Equal(t, "x=", string(got))
}

func TestWhatHasNoTextIsRefusedWithItsPath(t *testing.T) {
	t.Parallel()
	type item struct {
		Do  func()          `json:"do"`
		Raw json.RawMessage `json:"raw"`
	}
	cycle := map[string]any{}
	cycle["again"] = cycle
	for _, c := range []struct {
		name string
		v    any
		want string
	}{
		{"NaN", map[string]any{"a": []float64{1, math.NaN()}}, `a[1]: unsupported value: NaN`},
		{"infinity", math.Inf(-1), `unsupported value: -Inf`},
		{"a function", map[string][]item{"items": {{}}}, `items[0].do: a func() cannot be written as JSON`},
		{"a channel", struct{ C chan int }{}, `C: a chan int cannot be written as JSON`},
		{"a complex number", []any{1i}, `[0]: a complex128 cannot be written as JSON`},
		{"invalid UTF-8", struct{ S []string }{[]string{"ok", "a\xff"}}, `S[1]: not valid JSON: invalid UTF-8`},
		{"invalid UTF-8 in a key", map[string]any{"m": map[string]int{"\xff": 1}}, `m: not valid JSON: invalid UTF-8`},
		{"a lone surrogate", map[string]any{"r": json.RawMessage(`["\ud800"]`)}, `r[0]: not valid JSON: half a surrogate pair in a string`},
		{"a duplicate key", map[string]any{"r": json.RawMessage(`{"x":{"a":1,"\u0061":2}}`)}, `r.x: duplicate key "a"`},
		{"empty raw JSON", map[string]any{"r": json.RawMessage{}}, `r: not valid JSON: it ends too early`},
		{"torn raw JSON", map[string]any{"r": json.RawMessage(`{"a":`)}, `r.a: not valid JSON: it ends too early`},
		{"two values", json.RawMessage(`1 2`), "not valid JSON: invalid character '2' after top-level value"},
		{"no number", map[string]any{"n": json.Number("0x1")}, `n: cannot parse "0x1" as JSON number: invalid syntax`},
		{"a year beyond RFC 3339", []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, `[0]: the year 10000 cannot be written in RFC 3339`},
		{"an embedded value without a name", struct{ time.Duration }{}, `embedded Go struct field Duration of non-struct type must be explicitly given a JSON name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, err := strictjson.Canonical(c.v)
			require.Nil(t, text)
			var e *strictjson.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.want, err.Error())
		})
	}
	_, err := strictjson.Canonical(cycle)
	require.ErrorContains(t, err, "cycle")
}

func TestAMethodsOwnErrorIsInTheChain(t *testing.T) {
	t.Parallel()
	_, err := strictjson.Canonical(map[string]any{"x": []any{failing{}}})
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.EqualError(t, err, "x[0]: "+io.ErrClosedPipe.Error())
	var into struct{ F failing }
	err = strictjson.Decode([]byte(`{"F":1}`), &into)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.EqualError(t, err, "F: "+io.ErrClosedPipe.Error())
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error)  { return nil, io.ErrClosedPipe }
func (*failing) UnmarshalJSON(b []byte) error { return io.ErrClosedPipe }

func TestCanonicalizeRefusesWhatNoDocumentMayHave(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{``, ` `, `{`, `{"a":1,"a":1}`, `{"a":1} x`, "\"\xff\"", `"\udead"`, `01`, `NaN`, `{a:1}`} {
		_, err := strictjson.Canonicalize([]byte(raw))
		var e *strictjson.Error
		require.ErrorAs(t, err, &e, "%q", raw)
	}
}

func TestNumbersHaveOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "-0e5": "0", "0e99999999999999999999": "0",
		"1.0": "1", "10": "10", "-1.50": "-1.5", "1e0": "1", "1E+2": "100", "12e-1": "1.2", "120e-1": "12",
		"0.000001": "0.000001", "0.0000001": "1e-7", "123e18": "123000000000000000000", "123e19": "1.23e+21",
		"9007199254740993.0": "9007199254740993", "9007199254740993.5": "9007199254740993.5",
		"0.1000000000000000055511151231257827": "0.1000000000000000055511151231257827",
		"123456789012345678901234567890":       "123456789012345678901234567890",
		"-123456789012345678901234567890":      "-123456789012345678901234567890",
		"1e400":                                "1e+400", "1e99999999999999999999": "1e99999999999999999999",
	} {
		got, err := strictjson.Canonicalize([]byte(in))
		require.NoError(t, err)
		require.Equal(t, want, string(got), in)
	}
}

// The digests pin the form: a change of any is a change of every recorded key,
// and so a new format of records.
func TestTheFormDoesNotChange(t *testing.T) {
	t.Parallel()
	for _, g := range golden() {
		sum := sha256.Sum256([]byte(canonical(t, g.v)))
		if got := hex.EncodeToString(sum[:8]); got != g.digest {
			t.Errorf("%s: %s, want %s", g.name, got, g.digest)
		}
	}
}

type goldenValue struct {
	name   string
	v      any
	digest string
}

func golden() []goldenValue {
	full := everything{
		Zed: "z\u2028<>", Alpha: math.MinInt64, Wait: 1500 * time.Millisecond,
		Waits: map[string]time.Duration{"b": 1, "a": time.Hour, "c": 0},
		At:    time.Date(2026, 2, 3, 4, 5, 6, 7, time.FixedZone("", 3600)),
		Raw:   json.RawMessage(`{"n": 1.0, "a": [true, null, "\u00e9"]}`),
		Any:   map[string]any{"x": 1.5, "b": []any{int64(1), "s", nil}, "a": json.Number("1e2")},
		List:  []string{"b", "a"}, Map: map[string]int{"z": 1, "y": 2, "x": 3},
		Ptr: &base{ID: 1, Name: "n"}, Bytes: []byte("bytes"), Quoted: 7, Level: 1, private: 1,
		base: base{ID: 2, Name: "promoted"},
	}
	wide := map[string]int{}
	for i := range 200 {
		wide[string(rune('a'+i))] = i
	}
	return []goldenValue{
		{"nil", nil, "74234e98afe7498f"},
		{"zero", everything{}, "5ce89797883afad8"},
		{"full", full, "16d1c88fa1337255"},
		{"pointer", &full, "16d1c88fa1337255"},
		{"wide map", wide, "0c7258898072ba97"},
		{"floats", []float64{0.1, 1e21, 1e-7, 123456789.125, 5e-324}, "dd70f2c91eacdfa8"},
		{"zone", time.Unix(1e9, 0), "d89150983de21bb0"},
	}
}
