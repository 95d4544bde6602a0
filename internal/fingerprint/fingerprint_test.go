package fingerprint_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/fingerprint"
	"example.com/agl/ports"
)

func term(t testing.TB, name string, v any) ports.Term {
	t.Helper()
	got, err := fingerprint.Term(name, v)
	require.NoError(t, err)
	return got
}

func TestATermKeepsItsCanonicalTextAndItsDigest(t *testing.T) {
	t.Parallel()
	require.Equal(t, ports.Term{
		Name:   "input:x",
		Digest: "d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772",
		Text:   `{"a":2,"b":1}`,
	}, term(t, "input:x", map[string]int{"b": 1, "a": 2}))
	require.Equal(t, term(t, "n", struct {
		B int `json:"b"`
		A int `json:"a"`
	}{1, 2}), fingerprint.RawTerm("n", []byte(`{"a":2,"b":1}`)))
}

func TestWhatCannotBeStoredIsInvalid(t *testing.T) {
	t.Parallel()
	_, err := fingerprint.Term("input:score", map[string]any{"a": []float64{math.NaN()}})
	require.EqualError(t, err, "input:score cannot be stored: a[0]: unsupported value: NaN")
	require.Equal(t, ports.Invalid, ports.KindOf(err))
	_, err = fingerprint.Term("\xff", 1)
	require.EqualError(t, err, `the name "\xff" is not UTF-8`)
	require.Equal(t, ports.Invalid, ports.KindOf(err))
}

// The values are in every journal there is: another one is another format.
func TestKeysDoNotChange(t *testing.T) {
	t.Parallel()
	prompt, model := term(t, "prompt", "Fix it.\n"), term(t, "model", "claude/opus")
	input := term(t, "input:findings", []map[string]any{{"severity": "high", "line": int64(9007199254740993)}})
	for _, c := range []struct {
		kind  ports.RecordKind
		terms []ports.Term
		want  string
	}{ // computed by another program
		{ports.KindLanding, nil, "65fd144065fafa897ff5f8df201f610dcbe63b704608691b5741601fbcbe0689"},
		{ports.KindStep, []ports.Term{prompt, model, input}, "74567782ccdb8528e68b7bb348058eadc70df0323c51f5fe2dfb32dbd0de0e33"},
		{ports.KindCall, []ports.Term{prompt, model, input}, "e95e5694c0841b50f4fe3cf109aef47a9d617eeba90015e27036e9bd272da059"},
		{ports.KindStep, []ports.Term{prompt, model}, "ae149527c947b9caaaba9ec9d45f41ff1094667377d623b59d7a1bdf2c90f3bd"},
		{ports.KindStep, []ports.Term{prompt, prompt}, "b3b61c2088a1c6ad91a5d9fdd25e26b5b1497bcb7a2a998c544ef7649b9d8615"},
	} {
		if got := fingerprint.Key(c.kind, c.terms); got != c.want {
			t.Errorf("%s of %d: %s, want %s", c.kind, len(c.terms), got, c.want)
		}
	}
}

func TestAKeyIsThatOfItsTermsAndNothingElse(t *testing.T) {
	t.Parallel()
	a, b := term(t, "a", 1), term(t, "b", 2)
	key := fingerprint.Key(ports.KindStep, []ports.Term{a, b})
	terms := []ports.Term{b, a}
	require.Equal(t, key, fingerprint.Key(ports.KindStep, terms), "the order counts")
	require.Equal(t, []ports.Term{b, a}, terms, "the caller's terms were sorted")
	bare := a
	bare.Text = ""
	require.Equal(t, key, fingerprint.Key(ports.KindStep, []ports.Term{bare, b}), "the text counts")

	for name, other := range map[string]string{
		"kind":      fingerprint.Key(ports.KindCall, terms),
		"a value":   fingerprint.Key(ports.KindStep, []ports.Term{term(t, "a", 3), b}),
		"a name":    fingerprint.Key(ports.KindStep, []ports.Term{term(t, "A", 1), b}),
		"fewer":     fingerprint.Key(ports.KindStep, []ports.Term{a}),
		"twice":     fingerprint.Key(ports.KindStep, []ports.Term{a, b, b}),
		"names":     fingerprint.Key(ports.KindStep, []ports.Term{term(t, "a", 2), term(t, "b", 1)}),
		"injection": fingerprint.Key(ports.KindStep, []ports.Term{term(t, `a","`+a.Digest+`"],["b`, 2)}),
	} {
		require.NotEqual(t, key, other, name)
	}
	require.Panics(t, func() { fingerprint.Key(ports.KindStep, []ports.Term{{Name: "\xff"}}) })
}

func TestExplainNamesTheTermsThatMoved(t *testing.T) {
	t.Parallel()
	bare := func(t ports.Term) ports.Term { t.Text = ""; return t }
	was := []ports.Term{term(t, "same", 1), term(t, "prompt", "Fix the bug."), term(t, "gone", []int{1}), bare(term(t, "bare", 1)), term(t, "twice", 1), term(t, "twice", 2), term(t, "empty", "x")}
	now := []ports.Term{term(t, "new", "text"), term(t, "twice", 1), term(t, "twice", 3), term(t, "prompt", "Fix the crash."), term(t, "bare", 2), term(t, "same", 1.0), term(t, "empty", ""), bare(term(t, "newbare", 1))}
	want := []ports.TermChange{
		{Term: "bare"},
		{Term: "empty", Was: "x", Now: "(empty)"},
		{Term: "gone", Was: "[1]"},
		{Term: "new", Now: "text"},
		{Term: "newbare"},
		{Term: "prompt", Was: "Fix the bug.", Now: "Fix the crash."},
		{Term: "twice", Was: "2", Now: "3"},
	}
	if diff := cmp.Diff(want, fingerprint.Explain(was, now)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	require.Empty(t, fingerprint.Explain(was, was))
	require.Empty(t, fingerprint.Explain(nil, nil))
}

func TestExplainShowsTheWordsThatChanged(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("All work and no play. ", 500)
	blob := strings.Repeat("QUJD", 20000)
	for _, c := range []struct {
		name             string
		was, now         any
		wantWas, wantNow string
	}{
		{"a word", "You are a careful reviewer.", "You are a careless reviewer.", "You are a careful reviewer.", "You are a careless reviewer."},
		{
			"a word in a long text", long + "Review the change and list every finding in it. " + long, long + "Review the change and list each finding in it. " + long,
			"…change and list every finding in it…", "…change and list each finding in it…",
		},
		{
			"a word more", long + "Be brief, please. " + long, long + "Be very brief, please. " + long,
			"…play. Be brief, please.…", "…play. Be very brief, please.…",
		},
		{"at the beginning", "Do it. " + long, "Now do it. " + long, "Do it. All…", "Now do it. All…"},
		{"at the end", long, long + "The end.", "…no play. ", "…no play. The end."},
		{
			"two words far apart", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen", "ONE two three four five six seven eight nine ten eleven twelve thirteen FOURTEEN",
			"one two three four…eleven twelve thirteen fourteen", "ONE two three four…eleven twelve thirteen FOURTEEN",
		},
		{"white space", "a b", "a\n\nb", "a b", "a\n\nb"},
		{"a line break in a long text", long + "a b" + long, long + "a\nb" + long, "…no play. a bAll work and…", "…no play. a\nbAll work and…"},
		{
			"a field",
			map[string]any{"severity": "high", "text": "no test"},
			map[string]any{"severity": "low", "text": "no test"},
			`{"severity":"high","text":…`, `{"severity":"low","text":…`,
		},
		{"escapes are decoded", "say \"hi\"\n", "say \"ho\"\n", "say \"hi\"\n", "say \"ho\"\n"},
		{"text and number", "1", 1, `"1"`, "1"},
		{"a blob", blob + "x" + blob, blob + "y" + blob, "…JDQUJDQUJDxQUJDQUJDQU…", "…JDQUJDQUJDyQUJDQUJDQU…"},
		{"everything", long, strings.ToUpper(long), "", ""},
		{"other scripts", "修正してください、早く", "修正してください、遅く", "修正してください、早く", "修正してください、遅く"},
		{"combining marks stay with their letter", "cafe\u0301 noir", "cafe noir", "cafe\u0301 noir", "cafe noir"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			changes := fingerprint.Explain([]ports.Term{term(t, "p", c.was)}, []ports.Term{term(t, "p", c.now)})
			require.Len(t, changes, 1)
			got := changes[0]
			t.Logf("%q → %q", got.Was, got.Now)
			if c.wantWas != "" {
				require.Equal(t, c.wantWas, got.Was)
			}
			if c.wantNow != "" {
				require.Equal(t, c.wantNow, got.Now)
			}
			require.NotEqual(t, got.Was, got.Now)
		})
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("the quick brown fox", "the slow brown fox", "x")
	f.Add("", "a", " ")
	f.Add(`"1"`, `1`, "\n\t")
	f.Add("a b c d e f g h", "h g f e d c b a", "e\u0301")
	f.Fuzz(func(t *testing.T, was, now, more string) {
		for _, pair := range [][2]string{{was, now}, {was + more, more + now}, {strings.Repeat(was, 50) + more + now, strings.Repeat(was, 50) + now}, {strings.Repeat(was, 300) + more, strings.Repeat(now, 300)}} {
			a, err := fingerprint.Term("t", pair[0])
			b, err2 := fingerprint.Term("t", pair[1])
			if err != nil || err2 != nil {
				return
			}
			changes := fingerprint.Explain([]ports.Term{a}, []ports.Term{b})
			if pair[0] == pair[1] {
				require.Empty(t, changes)
				continue
			}
			require.Len(t, changes, 1)
			for _, side := range []string{changes[0].Was, changes[0].Now} {
				require.NotEmpty(t, side)
				require.True(t, utf8.ValidString(side))
				require.LessOrEqual(t, utf8.RuneCountInString(side), 84)
			}
			require.NotEqual(t, changes[0].Was, changes[0].Now)
		}
	})
}

func BenchmarkTerm(b *testing.B) {
	type finding struct {
		Severity string `json:"severity"`
		Text     string `json:"text"`
	}
	var findings []finding
	for range 12 {
		findings = append(findings, finding{"high", "the error of Close is not checked, so a full disk is a success"})
	}
	for name, v := range map[string]any{"1KB text": strings.Repeat("word ", 200), "1KB findings": findings} {
		b.Run(name, func(b *testing.B) {
			text, err := json.Marshal(v)
			require.NoError(b, err)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fingerprint.Term("input:x", v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	var terms []ports.Term
	for _, name := range []string{"role", "prompt", "model", "report", "tools", "input:a", "input:b", "ending"} {
		terms = append(terms, term(b, name, name))
	}
	b.ReportAllocs()
	for b.Loop() {
		fingerprint.Key(ports.KindStep, terms)
	}
}

func BenchmarkExplain(b *testing.B) {
	long := strings.Repeat("All work and no play makes a dull text. ", 6500)
	was, now := []ports.Term{term(b, "p", long+"x"+long)}, []ports.Term{term(b, "p", "y"+long+long+"z")}
	for b.Loop() {
		fingerprint.Explain(was, now)
	}
}
