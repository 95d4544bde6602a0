// Package fingerprint makes the keys of records, and says in words why two
// differ.
//
// A key covers terms: named values in canonical form. Each keeps its own digest
// and its text, so that a miss can be explained by the term that moved.
package fingerprint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// Term returns the term of value v: its canonical JSON and the digest of that.
// What cannot be stored is Invalid, with where in v it is.
func Term(name string, v any) (ports.Term, error) {
	if !utf8.ValidString(name) {
		return ports.Term{}, ports.Invalid.Errorf("", "the name %q is not UTF-8", name)
	}
	text, err := strictjson.Canonical(v)
	if err != nil {
		return ports.Term{}, ports.Invalid.Errorf("", "%s cannot be stored: %w", name, err)
	}
	return RawTerm(name, text), nil
}

// RawTerm returns the term of a value whose canonical JSON is known.
func RawTerm(name string, canonical []byte) ports.Term {
	return ports.Term{Name: name, Digest: digest(canonical), Text: string(canonical)}
}

// Key returns the key of a record of a kind: the SHA-256, in hex, of
//
//	{"kind":KIND,"terms":[[NAME,DIGEST],…]}
//
// in canonical form, the terms sorted by name and then by digest. Their order
// and their texts do not matter. Whether a name may come twice is the caller's
// to say; here, both count.
func Key(kind ports.RecordKind, terms []ports.Term) string {
	pairs := make([][2]string, len(terms))
	for i, t := range terms {
		pairs[i] = [2]string{t.Name, t.Digest}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	content := struct {
		Kind  ports.RecordKind `json:"kind"`
		Terms [][2]string      `json:"terms"`
	}{kind, pairs}
	text, err := strictjson.Canonical(content)
	if err != nil { // a name that Term would have refused
		panic(fmt.Sprintf("fingerprint: key of a %s: %v", kind, err))
	}
	return digest(text)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Explain says which terms of a key are not what they were, by name. Terms that
// share a name are compared in their order.
func Explain(was, now []ports.Term) []ports.TermChange {
	was, now = byName(was), byName(now)
	var changes []ports.TermChange
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0].Name < now[0].Name:
			changes = append(changes, ports.TermChange{Term: was[0].Name, Was: shown(was[0].Text)})
			was = was[1:]
		case len(was) == 0 || now[0].Name < was[0].Name:
			changes = append(changes, ports.TermChange{Term: now[0].Name, Now: shown(now[0].Text)})
			now = now[1:]
		default:
			if was[0].Digest != now[0].Digest {
				changes = append(changes, change(was[0], now[0]))
			}
			was, now = was[1:], now[1:]
		}
	}
	return changes
}

func byName(terms []ports.Term) []ports.Term {
	return slices.SortedStableFunc(slices.Values(terms), func(a, b ports.Term) int { return strings.Compare(a.Name, b.Name) })
}

func change(was, now ports.Term) ports.TermChange {
	c := ports.TermChange{Term: was.Name}
	if was.Text == "" || now.Text == "" { // a text that was not kept has no words
		return c
	}
	before, after := plain(was.Text), plain(now.Text)
	if before == after { // "1" and 1
		before, after = was.Text, now.Text
	}
	if before != after {
		c.Was, c.Now = difference(before, after)
	}
	return c
}

// shown returns a whole text, cut to what one line holds.
func shown(text string) string {
	if text == "" {
		return ""
	}
	return nonempty(cut(plain(text)))
}

// plain returns what a canonical text says: a string without its quotes and
// escapes, anything else as it is.
func plain(text string) string {
	var s string
	if strings.HasPrefix(text, `"`) && strictjson.Decode([]byte(text), &s) == nil {
		return s
	}
	return text
}
