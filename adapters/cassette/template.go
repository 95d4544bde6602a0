package cassette

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The marks of a template. A text that has the first one of its own doubles
// it with the second: "⟦⟧".
const (
	opening = "⟦"
	closing = "⟧"
	times   = "×"
)

// maxText bounds what the repetitions of a template may come to.
const maxText = 16 << 20

// A template is a text with variables in it, as it stands in a cassette.
type template []part

// A part is a text, or the variable of a name.
type part struct{ text, name string }

var (
	variableName = regexp.MustCompile(`^[a-z]+[0-9]*$`)
	repetition   = regexp.MustCompile(`(?s)^([1-9][0-9]*)` + times + `(.+)$`)
)

// parseTemplate reads a template.
func parseTemplate(s string) (template, error) {
	var t template
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			t = append(t, part{text: text.String()})
			text.Reset()
		}
	}
	for {
		before, after, found := strings.Cut(s, opening)
		text.WriteString(before)
		if !found {
			flush()
			return t, nil
		}
		inside, rest, closed := strings.Cut(after, closing)
		s = rest
		switch {
		case !closed:
			return nil, fmt.Errorf("%s is not closed", opening)
		case inside == "":
			text.WriteString(opening)
		case variableName.MatchString(inside):
			flush()
			t = append(t, part{name: inside})
		default:
			m := repetition.FindStringSubmatch(inside)
			if m == nil {
				return nil, fmt.Errorf("%s%.40s%s is neither a variable nor a repetition", opening, inside, closing)
			}
			n, err := strconv.Atoi(m[1])
			if err != nil || n > maxText/len(m[2]) || text.Len()+n*len(m[2]) > maxText {
				return nil, errors.New("a repetition comes to more than 16 MiB")
			}
			text.WriteString(strings.Repeat(m[2], n))
		}
	}
}

// String writes the template as parseTemplate reads it, with what repeats
// itself shortened.
func (t template) String() string {
	var b strings.Builder
	for _, p := range t {
		if p.name != "" {
			b.WriteString(opening + p.name + closing)
		} else {
			shorten(&b, p.text)
		}
	}
	return b.String()
}

// kind is the name of a variable without its number.
func kind(name string) string { return strings.TrimRight(name, "0123456789") }

const (
	maxPeriod = 64  // of what repeats itself
	minRun    = 256 // bytes, below which it stays as it is
)

// shorten writes a text, with the runs in it that repeat themselves written once.
func shorten(b *strings.Builder, s string) {
	repeats := runs{s: s}
	plain := 0 // from where on it was not written
	for i := 0; i+minRun <= len(s); {
		if s[i]&0xc0 == 0x80 { // within a rune
			i++
			continue
		}
		period, end := repeats.at(i)
		n := (end - i) / period
		if marked := strings.Contains(s[i:i+period], opening) || strings.Contains(s[i:i+period], closing); marked || end-i < minRun {
			i = max(i+1, end-minRun)
			continue
		}
		b.WriteString(strings.ReplaceAll(s[plain:i], opening, opening+closing))
		fmt.Fprintf(b, "%s%d%s%s%s", opening, n, times, s[i:i+period], closing)
		i += n * period
		plain = i
	}
	b.WriteString(strings.ReplaceAll(s[plain:], opening, opening+closing))
}

// runs finds what repeats itself in a text.
type runs struct {
	s    string
	ends [maxPeriod + 1]int // by period, where the last run that was looked at ceases: for any start within it the same
}

// at returns the period by which the text repeats itself from i on, the
// shortest that is long enough, and where it ceases to.
func (r *runs) at(i int) (period, end int) {
	period, end = 1, i+1
	for p := 1; p <= maxPeriod && i+p < len(r.s); p++ {
		if r.ends[p] < i+p {
			j := i + p
			for j < len(r.s) && r.s[j] == r.s[j-p] {
				j++
			}
			r.ends[p] = j
		}
		if j := r.ends[p]; j > end && j-i >= 2*p {
			period, end = p, j
		}
		if end-i >= minRun {
			break
		}
	}
	return period, end
}
