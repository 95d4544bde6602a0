package cassette

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// A valueKind is a kind of value that is another one in each run.
type valueKind struct {
	find  *regexp.Regexp // finds them in a text; the last group is the value. nil: they are found otherwise
	one   string         // a regular expression of one
	fresh func() string  // makes one, where the program says it first
}

// kinds are found in every recording, in this order of search: see [searched].
var kinds = map[string]*valueKind{
	"uuid": {
		find:  regexp.MustCompile(`([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})`),
		one:   `[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}`,
		fresh: newUUID,
	},
	"time": {
		find:  regexp.MustCompile(`(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))`),
		one:   `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`,
		fresh: func() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") },
	},
	"port": {
		find:  regexp.MustCompile(`(?:127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})`),
		one:   `\d{1,5}`,
		fresh: func() string { return "1" },
	},
	"path": {
		find:  regexp.MustCompile(`((?:` + regexp.QuoteMeta(filepath.Clean(os.TempDir())) + `|/tmp|(?:/private)?/var/folders)[/\\][^\s"'<>|:;,()]+)`),
		one:   `[^\s"'<>|;,()]+`,
		fresh: func() string { return filepath.Join(os.TempDir(), "cassette", newUUID()) },
	},
	"secret": {
		one:   `(?s:.+?)`,
		fresh: func() string { return "secret" },
	},
}

// searched are the kinds that have a form by which they are found.
var searched = []string{"uuid", "time", "port", "path"}

// places are the variables that stand for what every process has.
var places = map[string]bool{"dir": true, "home": true, "tmp": true, "program": true, "bin": true, "userhome": true, "user": true, "host": true}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
