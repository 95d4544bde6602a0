package cassette_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/cassette"
)

func TestAFileThatIsNoneIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	const head, take, exit = `{"cassette":1,"program":"p","framing":"lines"}` + "\n", `{"take":1,"args":["a"]}` + "\n", `{"at":9,"exit":0}` + "\n"
	for _, tt := range []struct{ name, doc, says string }{
		{"good", head + take + `{"at":0,"in":{"a":"⟦uuid1⟧⟦3×ab⟧⟦⟧"}}` + "\n" + exit, ""},
		{"no takes", head, ""},
		{"empty", "", "it is empty"},
		{"another file", "hello\n", "line 1: it is no cassette"},
		{"JSON", "{}\n", "line 1: it is no cassette"},
		{"a later version", `{"cassette":2,"of":"things"}` + "\n", "version 2, and this is read: 1"},
		{"an unknown key", `{"cassette":1,"program":"p","framing":"lines","x":1}` + "\n", `"x"`},
		{"a framing", `{"cassette":1,"program":"p","framing":"x"}` + "\n", `no framing "x"`},
		{"a program elsewhere", `{"cassette":1,"program":"../p","framing":"lines"}` + "\n", "no name of a file"},
		{"no expression", `{"cassette":1,"program":"p","framing":"lines","volatile":{"id":"("}}` + "\n", "volatile id"},
		{"no pointer", `{"cassette":1,"program":"p","framing":"lines","unread":["method=log"]}` + "\n", "no JSON pointer"},
		{"no pattern", `{"cassette":1,"program":"p","framing":"lines","unread":["/method=["]}` + "\n", "pattern"},
		{"a variable's name", `{"cassette":1,"program":"p","framing":"lines","volatile":{"uuid":"x"}}` + "\n", `"uuid" is no name`},
		{"cut off", head + take + exit[:5], "cut off"},
		{"no end", head + take + `{"at":0,"out":1}` + "\n", "take 1 has no end"},
		{"an event too early", head + exit, "line 2: something happens before"},
		{"an event too late", head + take + exit + exit, "line 4: something happens after"},
		{"takes out of order", head + `{"take":2,"args":[]}` + "\n" + exit, "it is take 2, after 0 others"},
		{"two at once", head + take + `{"at":0,"in":1,"out":2}` + "\n" + exit, "2 things happen"},
		{"nothing", head + take + `{"at":0}` + "\n" + exit, "0 things happen"},
		{"before the start", head + take + `{"at":-1,"out":1}` + "\n" + exit, "after the start"},
		{"an unknown event", head + take + `{"at":0,"sang":1}` + "\n" + exit, `"sang"`},
		{"an unknown variable", head + take + `{"at":0,"out":{"a":["⟦nope1⟧"]}}` + "\n" + exit, `line 3: there is no variable "nope1"`},
		{"an unknown variable in a key", head + take + `{"at":0,"out":{"⟦nope⟧":1}}` + "\n" + exit, "nope"},
		{"an open variable", head + take + `{"at":0,"err":"⟦uuid1"}` + "\n" + exit, "not closed"},
		{"no variable", head + take + `{"at":0,"err":"⟦A B⟧"}` + "\n" + exit, "neither a variable nor a repetition"},
		{"a text without end", head + take + `{"at":0,"err":"⟦99999999×abc⟧"}` + "\n" + exit, "16 MiB"},
		{"many of them", head + take + `{"at":0,"err":"⟦3999999×abc⟧⟦3999999×abc⟧"}` + "\n" + exit, "16 MiB"},
		{"a file elsewhere", head + take + `{"at":0,"file":{"name":"../a","text":""}}` + "\n" + exit, "not in the working directory"},
		{"an absolute one", head + take + `{"at":0,"gone":"/etc/passwd"}` + "\n" + exit, "not in the working directory"},
		{"no JSON", head + take + `{"at":0,` + "\n" + exit, "line 3"},
		{"no text", head + "\xff\n", "no UTF-8"},
		{"a status", head + take + `{"at":0,"exit":256}` + "\n", "no exit status 256"},
	} {
		path := filepath.Join(t.TempDir(), "tape.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(tt.doc), 0o600))
		err := cassette.Check(path)
		if tt.says == "" {
			require.NoError(t, err, tt.name)
			continue
		}
		require.ErrorContains(t, err, tt.says, tt.name)
		require.ErrorContains(t, err, path, tt.name)
	}
	require.ErrorIs(t, cassette.Check(filepath.Join(t.TempDir(), "none")), os.ErrNotExist)
}

func TestAFileThatIsTooLargeIsNotRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 65<<20))
	require.ErrorContains(t, cassette.Check(path), "at most")
}
