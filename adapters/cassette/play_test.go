package cassette_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/cassette"
)

const (
	anID    = "11111111-2222-4333-8444-555555555555"
	otherID = "99999999-8888-4777-8666-555555555555"
)

func TestWhatWasRecordedIsPlayed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long text, ", 40_000) + "⟦dir⟧ to its end"
	for _, framing := range []string{"lines", "content-length"} {
		t.Run(framing, func(t *testing.T) {
			t.Parallel()
			status := 3
			talk := func(id string) drive {
				return func(t testing.TB, program string) {
					c := connect(t, program, framing, []string{"--session", id}, "RETRIES=2")
					c.send(order{Say: map[string]any{"n": 9007199254740993, "f": 1.50, "s": "<äöü> \u2028 \" ⟧"}, ID: id})
					require.JSONEq(t, `{"said":{"n":9007199254740993,"f":1.5,"s":"<äöü> \u2028 \" ⟧"},"id":"`+id+`"}`, c.hear())
					c.send(order{Say: long})
					require.Contains(t, c.hear(), "a long text, a long text, ")
					c.send(order{Say: "in " + c.cmd.Dir + "/a and " + c.cmd.Dir + "b"})
					require.Contains(t, c.hear(), `"in `+c.cmd.Dir+`/a and `+c.cmd.Dir+`b"`)
					c.send("no JSON, and " + id)
					require.Contains(t, c.hear(), "no JSON, and "+id)
					if framing == "lines" {
						c.send(order{Raw: "a banner\r\n"})
						require.Equal(t, "a banner\r", c.hear())
					}
					c.send(order{Err: "a warning about " + id + "\n"})
					c.send(order{Exit: &status})
					code, errs := c.wait()
					require.Equal(t, status, code)
					require.Equal(t, "a warning about "+id+"\n", errs)
				}
			}
			opts := cassette.Options{Framing: cassette.Framing(framing), Env: []string{"RETR*"}}
			path := recording(t, opts, talk(anID))
			require.NotContains(t, content(t, path), anID)
			require.Contains(t, content(t, path), `⟦40000×a long text, ⟧⟦⟧dir⟧ to its end`)
			require.Empty(t, playing(t, path, opts, talk(otherID)))
		})
	}
}

func TestWhatTheProgramSaysFirstIsNewEachTime(t *testing.T) {
	t.Parallel()
	var ids []string
	drive := func(t testing.TB, program string) {
		c := connect(t, program, "lines", nil, "ID="+anID)
		c.send(order{Env: "ID"})
		id := c.hear()
		ids = append(ids, id)
		c.send(order{Say: id}) // and the adapter says it again
		require.Contains(t, c.hear(), strings.Trim(id, `{}"`)[20:40])
		c.end()
	}
	path := recording(t, cassette.Options{}, drive)
	require.Empty(t, playing(t, path, cassette.Options{}, drive))
	require.Empty(t, playing(t, path, cassette.Options{}, drive))
	require.Len(t, ids, 3)
	require.NotEqual(t, ids[0], ids[1])
	require.NotEqual(t, ids[1], ids[2])
}

func TestWhatTheAdapterDoesNotReadIsLeftOut(t *testing.T) {
	t.Parallel()
	opts := cassette.Options{Unread: []string{"/said/type=log.*", "/id=never"}}
	path := recording(t, opts, func(t testing.TB, program string) {
		c := connect(t, program, "lines", nil)
		for _, kind := range []string{"log.debug", "answer", "log.end"} {
			c.send(order{Say: map[string]any{"type": kind}})
			require.Contains(t, c.hear(), kind, "who records it hears it")
		}
		c.end()
	})
	require.Empty(t, playing(t, path, cassette.Options{}, func(t testing.TB, program string) {
		c := connect(t, program, "lines", nil)
		for _, kind := range []string{"log.debug", "answer", "log.end"} {
			c.send(order{Say: map[string]any{"type": kind}})
		}
		require.Contains(t, c.hear(), "answer")
		c.end()
	}))
}

func TestAnswersComeInAnyOrderAndAreAllWaitedFor(t *testing.T) {
	t.Parallel()
	inOrder := func(order3 ...string) drive {
		return func(t testing.TB, program string) {
			c := connect(t, program, "lines", nil)
			c.send(order{Calls: 3})
			for range order3 {
				require.Contains(t, c.hear(), "call")
			}
			for _, answer := range order3[:2] {
				c.send(order{Answer: answer})
			}
			said := make(chan string, 1)
			go func() { said <- c.hear() }()
			select {
			case text := <-said:
				t.Errorf("before the last answer it said %s", text)
			case <-time.After(50 * time.Millisecond):
			}
			c.send(order{Answer: order3[2]})
			require.Equal(t, `"done"`, <-said)
			code, _ := c.end()
			require.Equal(t, 5, code)
		}
	}
	path := recording(t, cassette.Options{}, inOrder("a", "b", "c"))
	for _, list := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}} {
		require.Empty(t, playing(t, path, cassette.Options{}, inOrder(list...)))
	}
}

func TestAnotherConversationFailsWithTheDifference(t *testing.T) {
	t.Parallel()
	ask := func(args []string, say any, times int, env ...string) drive {
		return func(t testing.TB, program string) {
			for range times {
				c := connect(t, program, "lines", args, env...)
				c.send(order{Say: say, ID: anID})
				c.hear()
				if code, errs := c.end(); code != 5 {
					t.Errorf("status %d: %s", code, errs)
				}
			}
		}
	}
	opts := cassette.Options{Env: []string{"RETRIES"}}
	was := map[string]any{"word": "yes", "list": []int{1, 2}}
	path := recording(t, opts, ask([]string{"-a"}, was, 2, "RETRIES=1"))
	for name, tt := range map[string]struct {
		drive drive
		says  []string
	}{
		"another text":     {ask([]string{"-a"}, map[string]any{"word": "no", "list": []int{1, 2}}, 2, "RETRIES=1"), []string{"status 97", "take 1", `"yes"`, `"no"`, "-recorded +sent"}},
		"a key more":       {ask([]string{"-a"}, map[string]any{"word": "yes", "list": []int{1, 2}, "x": 1}, 2, "RETRIES=1"), []string{`"x"`}},
		"another number":   {ask([]string{"-a"}, map[string]any{"word": "yes", "list": []int{1, 3}}, 2, "RETRIES=1"), []string{"3"}},
		"another argument": {ask([]string{"-b"}, was, 2, "RETRIES=1"), []string{"take 1", `"-a"`, `"-b"`}},
		"another variable": {ask([]string{"-a"}, was, 2, "RETRIES=7"), []string{`"1"`, `"7"`}},
		"no variable":      {ask([]string{"-a"}, was, 2), []string{"RETRIES"}},
		"once too seldom":  {ask([]string{"-a"}, was, 1, "RETRIES=1"), []string{"not started as in take 2 of 2"}},
		"once too often":   {ask([]string{"-a"}, was, 3, "RETRIES=1"), []string{"once more than in the recording"}},
		"nothing": {func(t testing.TB, program string) {
			_, errs := connect(t, program, "lines", []string{"-a"}, "RETRIES=1").end()
			require.Contains(t, errs, "input is closed")
		}, []string{"input is closed", "word"}},
		"silence": {func(t testing.TB, program string) {
			_, errs := connect(t, program, "lines", []string{"-a"}, "RETRIES=1").wait()
			require.Contains(t, errs, "still has not come")
		}, []string{"still has not come", "word"}},
		"a word more": {func(t testing.TB, program string) {
			c := connect(t, program, "lines", []string{"-a"}, "RETRIES=1")
			c.send(order{Say: was, ID: anID})
			c.hear()
			c.send(order{Say: "more"})
			c.wait()
		}, []string{"more than in the recording", `"more"`}},
		"another id in its place": {func(t testing.TB, program string) {
			c := connect(t, program, "lines", []string{"-a"}, "RETRIES=1")
			c.send(order{Say: was, ID: "no UUID"})
			c.wait()
		}, []string{"no UUID", "⟦uuid1⟧"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := opts
			if name == "silence" {
				opts.Patience = 300 * time.Millisecond
			}
			failure := playing(t, path, opts, tt.drive)
			for _, s := range tt.says {
				require.Contains(t, failure, s)
			}
		})
	}
}

func TestTheSpeedIsThatOfTheRecordingIfThatIsAskedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"cassette":1,"program":"p","framing":"lines"}
{"take":1,"args":[]}
{"at":100,"out":"soon"}
{"at":60100,"out":"later"}
{"at":60100,"exit":0}
`), 0o600))
	took := func(speed float64) (d time.Duration) {
		require.Empty(t, playing(t, path, cassette.Options{Speed: speed}, func(t testing.TB, program string) {
			c := connect(t, program, "lines", nil)
			require.Equal(t, `"soon"`, c.hear())
			began := time.Now()
			require.Equal(t, `"later"`, c.hear())
			d = time.Since(began)
			c.end()
		}))
		return d
	}
	require.GreaterOrEqual(t, took(100), 300*time.Millisecond) // of 600: when it was heard is not quite when it was said
	require.Less(t, took(0), 30*time.Second)
}

func TestFilesThatTheProgramWroteAreWritten(t *testing.T) {
	t.Parallel()
	opts := cassette.Options{Files: true}
	drive := func(t testing.TB, program string) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600))
		c := connectIn(t, dir, program, "lines", nil)
		c.send(order{Write: map[string]string{"a.txt": "in " + c.cmd.Dir + ": äöü\n"}})
		require.Equal(t, `"written"`, c.hear())
		require.Equal(t, "in "+c.cmd.Dir+": äöü\n", content(t, filepath.Join(c.cmd.Dir, "a.txt")))
		c.send(order{Write: map[string]string{"a.txt": "again"}})
		c.hear()
		require.Equal(t, "again", content(t, filepath.Join(c.cmd.Dir, "a.txt")))
		c.send(order{Remove: "old"})
		c.hear()
		require.NoFileExists(t, filepath.Join(c.cmd.Dir, "old"))
		c.end()
	}
	path := recording(t, opts, drive)
	require.Empty(t, playing(t, path, opts, drive))

	failure := spied(t, func(t testing.TB) {
		c := connect(t, cassette.Record(t, path+".2", self(t), opts).Program, "lines", nil)
		c.send(order{Say: "x"})
		c.hear()
		require.NoError(t, os.WriteFile(filepath.Join(c.cmd.Dir, "binary"), []byte{0xff, 0}, 0o600))
		c.send(order{Say: "y"})
		c.hear()
		c.end()
	})
	require.Contains(t, failure, "binary")
	require.NoFileExists(t, path+".2")
}

func TestNotesAreHadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	long := strings.Repeat("x", 1000) + " ⟦"
	require.Empty(t, spied(t, func(t testing.TB) {
		tape := cassette.Record(t, path, self(t), cassette.Options{})
		require.NoError(t, tape.Note(long))
		require.Same(t, tape, cassette.Record(t, path, self(t), cassette.Options{}))
		require.NoError(t, tape.Note([]int{1}))
	}))
	require.Less(t, len(content(t, path)), 300)
	require.Empty(t, spied(t, func(t testing.TB) {
		tape := cassette.Play(t, path, cassette.Options{})
		var text string
		require.NoError(t, tape.NextNote(&text))
		require.Equal(t, long, text)
		require.Same(t, tape, cassette.Play(t, path, cassette.Options{}))
		var list []int
		require.NoError(t, tape.NextNote(&list))
		require.Error(t, tape.NextNote(&list))
	}))
}

func TestARecordingOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	path := recording(t, cassette.Options{Version: "1.2.3"}, func(t testing.TB, program string) { connect(t, program, "lines", nil).end() })
	failure := playing(t, path, cassette.Options{Version: "1.2.4"}, func(testing.TB, string) {})
	require.Contains(t, failure, `"1.2.3"`)
	require.Contains(t, failure, `"1.2.4"`)
	require.Contains(t, failure, "record it again")
}

func TestNothingIsKeptOfATestThatFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	spied(t, func(t testing.TB) {
		connect(t, cassette.Record(t, path, self(t), cassette.Options{}).Program, "lines", nil).end()
		t.Errorf("it fails")
	})
	require.NoFileExists(t, path)
}

// It is skipped again when it is played, as far as it came.
func TestATestThatIsSkippedInItsMiddleIsRecorded(t *testing.T) {
	t.Parallel()
	for _, started := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "tape.jsonl")
		test := func(tape func(testing.TB) *cassette.Tape) string {
			return spied(t, func(t testing.TB) {
				program := tape(t).Program
				if started {
					connect(t, program, "lines", nil).end()
				}
				t.Skip("it cannot do more")
			})
		}
		require.Empty(t, test(func(t testing.TB) *cassette.Tape { return cassette.Record(t, path, self(t), cassette.Options{}) }))
		if !started {
			require.NoFileExists(t, path)
			continue
		}
		require.Empty(t, test(func(t testing.TB) *cassette.Tape { return cassette.Play(t, path, cassette.Options{}) }))
	}
}
