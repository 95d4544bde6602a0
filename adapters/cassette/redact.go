package cassette

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A redactor makes templates of what a program and an adapter write.
type redactor struct {
	literals []literal
	kinds    []searchedKind
	names    map[string]string // of values, by kind and value
	counts   map[string]int
	secrets  []string // what must not be in a file, in whatever form
}

// A literal is a value that is known.
type literal struct {
	value, name string
	word, end   bool // only where it is a whole word, or ends one
}

type searchedKind struct {
	name string
	find *regexp.Regexp
}

// secretName is in the name of a variable of the environment whose value is
// nobody's business.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|passw|credential|cookie|bearer|(^|_)auth(_|$)|_pat$)`)

// number is no secret, though it be that of the tokens that are left.
var number = regexp.MustCompile(`^[0-9]{1,11}$`)

// secretMembers are the keys, in lower case and without _ and -, of members
// of objects that are secret whatever they are.
var secretMembers = []string{"apikey", "authorization", "accesstoken", "refreshtoken", "authtoken", "bearertoken", "idtoken", "password", "clientsecret", "secret"}

// secretForms are the forms of well-known keys.
var secretForms = regexp.MustCompile(`(\bsk-[A-Za-z0-9_-]{16,}|\bgh[oprsu]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAKIA[A-Z0-9]{16}\b|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+|(?i:\bbearer )\S+)`)

// common are names that tell nothing of anybody.
var common = []string{"", "root", "user", "nobody", "admin", "runner", "build", "test", "localhost", "localhost.localdomain"}

// How long a value has to be to be looked for: a shorter one is in every other
// word.
const (
	shortest       = 4
	shortestSecret = 6
)

// newRedactor returns one for this process, which records program.
func newRedactor(program string, secrets []string, volatile map[string]string) *redactor {
	r := &redactor{names: map[string]string{}, counts: map[string]int{}}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if secretName.MatchString(name) && !number.MatchString(value) {
			secrets = append(secrets, value)
		}
	}
	for _, secret := range secrets {
		if len(secret) >= shortestSecret && !slices.Contains(r.secrets, secret) {
			r.secrets = append(r.secrets, secret)
			r.literals = append(r.literals, literal{value: secret, name: r.name("secret", secret)})
		}
	}
	dir, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	r.place(dir, "dir")
	r.place(home, "home")
	r.place(program, "program")
	r.place(filepath.Dir(program), "bin")
	if tmp := filepath.Clean(os.TempDir()); os.Getenv("TMPDIR") != "" {
		r.place(tmp, "tmp")
	}
	if u, err := user.Current(); err == nil {
		r.place(u.HomeDir, "userhome")
		r.word(userName(u), "user")
	}
	if host, err := os.Hostname(); err == nil {
		r.word(host, "host")
		short, _, _ := strings.Cut(host, ".")
		r.word(short, "host")
	}
	slices.SortStableFunc(r.literals, func(a, b literal) int { return cmp.Compare(len(b.value), len(a.value)) })
	for _, name := range slices.Sorted(maps.Keys(volatile)) {
		r.kinds = append(r.kinds, searchedKind{name, regexp.MustCompile(volatile[name])})
	}
	for _, name := range searched {
		r.kinds = append(r.kinds, searchedKind{name, kinds[name].find})
	}
	return r
}

// userName is the name of a user, without the domain that Windows has before it.
func userName(u *user.User) string { return u.Username[strings.LastIndexByte(u.Username, '\\')+1:] }

// place redacts a path, also as the system itself writes it.
func (r *redactor) place(path, name string) {
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		r.place(real, name)
	}
	if len(path) >= shortest && filepath.IsAbs(path) {
		r.literals = append(r.literals, literal{value: path, name: name, end: true})
	}
}

func (r *redactor) word(value, name string) {
	if len(value) > 2 && !slices.Contains(common, strings.ToLower(value)) {
		r.literals = append(r.literals, literal{value: value, name: name, word: true})
	}
}

// name returns the variable of a value.
func (r *redactor) name(kind, value string) string {
	if kind == "time" {
		return kind
	}
	key := kind + " " + value
	if r.names[key] == "" {
		r.counts[kind]++
		r.names[key] = fmt.Sprint(kind, r.counts[kind])
	}
	return r.names[key]
}

// text returns the template of a text.
func (r *redactor) text(s string) string {
	t := template{{text: s}}
	for _, l := range r.literals {
		t = t.split(func(text string) (int, int, string) { return l.find(text) })
	}
	t = t.split(func(text string) (int, int, string) {
		m := secretForms.FindStringIndex(text)
		if m == nil {
			return -1, 0, ""
		}
		return m[0], m[1], r.name("secret", text[m[0]:m[1]])
	})
	for _, k := range r.kinds {
		t = t.split(func(text string) (int, int, string) {
			m := k.find.FindStringSubmatchIndex(text)
			if m == nil {
				return -1, 0, ""
			}
			from, to := m[len(m)-2], m[len(m)-1]
			if from < 0 || from == to {
				return -1, 0, ""
			}
			return from, to, r.name(k.name, text[from:to])
		})
	}
	return t.String()
}

// find returns where the value is in a text, or -1.
func (l literal) find(text string) (from, to int, name string) {
	for at := 0; ; {
		i := strings.Index(text[at:], l.value)
		if i < 0 {
			return -1, 0, ""
		}
		from, to = at+i, at+i+len(l.value)
		if (!l.word || !wordAt(text, from-1)) && (!l.word && !l.end || !wordAt(text, to)) {
			return from, to, l.name
		}
		at = to
	}
}

func wordAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] == '_' || s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] >= 0x80)
}

// split replaces what find finds in the template's texts by variables.
func (t template) split(find func(text string) (from, to int, name string)) template {
	var out template
	for _, p := range t {
		for p.name == "" {
			from, to, name := find(p.text)
			if from < 0 {
				break
			}
			if from > 0 {
				out = append(out, part{text: p.text[:from]})
			}
			out = append(out, part{name: name})
			p.text = p.text[to:]
		}
		if p.name != "" || p.text != "" {
			out = append(out, p)
		}
	}
	return out
}

// message returns the template of a message.
func (r *redactor) message(doc []byte) ([]byte, error) {
	return rewrite(doc, func(key, s string) (string, error) {
		key = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
		if slices.Contains(secretMembers, key) && s != "" {
			if !slices.Contains(r.secrets, s) && len(s) >= shortestSecret {
				r.secrets = append(r.secrets, s)
				r.literals = slices.Insert(r.literals, 0, literal{value: s, name: r.name("secret", s)})
			}
			return template{{name: r.name("secret", s)}}.String(), nil
		}
		return r.text(s), nil
	})
}

// leaked returns an error if a line has a secret in it, in a form in which it
// was not replaced.
func (r *redactor) leaked(line []byte) error {
	for _, form := range []string{string(line), strings.ReplaceAll(string(line), `\`, "")} {
		for _, secret := range r.secrets {
			for _, s := range []string{secret, base64.RawStdEncoding.EncodeToString([]byte(secret))} {
				if strings.Contains(form, s) {
					return fmt.Errorf("a secret of %d bytes is in what was to be recorded, in a form in which it cannot be replaced", len(secret))
				}
			}
		}
	}
	return nil
}
