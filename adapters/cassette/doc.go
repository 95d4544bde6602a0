// Package cassette records what passes between an adapter and a vendor's
// program, and plays it back with no program there. It is for the tests of
// adapters: they run the real adapter, on a machine that has no vendor.
//
// It works in the program's place. [Record] and [Play] make an executable that
// the adapter starts as it starts the program: one runs the program and copies
// what passes in both directions, the other does what the program did. Both are
// the test binary itself, under another name; [Main] tells, and has to be
// called first in TestMain. Nothing in the adapter knows of it.
//
//	var record = flag.Bool("record", false, "record testdata again")
//
//	func TestMain(m *testing.M) {
//		cassette.Main()
//		os.Exit(m.Run())
//	}
//
//	func TestATurn(t *testing.T) {
//		opts, path := cassette.Options{Version: "1.2.3"}, "testdata/turn.jsonl"
//		var tape *cassette.Tape
//		if *record {
//			tape = cassette.Record(t, path, "/the/real/program", opts)
//		} else {
//			tape = cassette.Play(t, path, opts)
//		}
//		agent := New(tape.Program)
//		// … and the test, which is the same either way.
//	}
//
// Recordings are made anew with one command, as here: go test -record. It takes
// the program, and what it talks to: in this repository, that is a fake of the
// vendor's service on loopback. A recording of a test that fails is not kept.
//
// # What playing means
//
// A take is one start of the program; a file has as many as the test starts it.
// A program that is started plays the first take that was not played and that
// began with these arguments and these variables of the environment
// ([Options.Env]). Of a take, what came from the program is written as soon as
// all that the adapter had sent before it has come. What the adapter sends is
// compared by the structure of its JSON, and may come in any order, also before
// its time: tools that run at once return as they like. At a difference the
// executable ends with status 97, having written it to standard error, and
// the test fails, with the difference between what was recorded and what came. A
// message that does not come is waited for, but not for ever
// ([Options.Patience]); a take that is not played, or not to its end, fails the
// test as well.
//
// Signals are part of it: a program that was sent SIGTERM in the recording
// waits for it, and then does what it did. They have to be sent to the group of
// processes, as internal/proc does; what is sent to the recorder alone does not
// reach the program. What the program starts, and what it does to files, is not
// done again, but for text files in its working directory ([Options.Files]),
// outside of a ".git".
//
// # Variables
//
// What is another value in each run stands in the file as a variable, ⟦uuid1⟧,
// in messages, arguments, the environment and files: UUIDs, times in the form of
// RFC 3339, ports on loopback, paths below the system's folder for temporary
// files, and what [Options.Volatile] adds. When it is played, one that the
// adapter says first has the adapter's value from then on, and one that the
// program says first a new one. Further, ⟦dir⟧ is the working directory, ⟦home⟧ and
// ⟦tmp⟧ are what HOME and TMPDIR name, ⟦userhome⟧, ⟦user⟧ and ⟦host⟧ the user's folder,
// the user and the machine, ⟦program⟧ and ⟦bin⟧ the program and its folder. A text
// of its own is ⟦ written ⟦⟧, and ⟦1000×ab⟧ is "ab", a thousand times. All that is
// only within strings of JSON: a number that changes is compared as it is.
//
// # Secrets
//
// The values of variables of the environment whose names speak of keys, tokens,
// passwords and the like, those of members of objects that are called apiKey,
// authorization and so on, what looks like a well-known key, and what
// [Options.Secrets] names are ⟦secret1⟧ in the file, and when it is played any
// text. If one is left in another form — in base64, with escapes — nothing is
// recorded and the test fails. One thing is not seen: a secret, or a path, that
// the program writes in pieces, in several messages. So record with values
// made for it, as internal/vendortest does.
//
// # The file
//
// A file is lines of JSON, in UTF-8. The first is the header:
//
//	{"cassette":1,"program":"claude","version":"2.1.332","framing":"lines","noise":["/models"],"files":true}
//
// cassette is the version of this format; another one is refused. framing is "lines",
// for a message on each line, or "content-length". noise are the parts of the
// program's messages that were left out, with [] or {} or "" in their place; with
// a "/" at the end, the members of an object that were null. unread are messages
// that were left out. Then, for each take,
//
//	{"take":1,"args":["--session=⟦uuid1⟧"],"env":{"RETRIES":"0"}}
//
// and its events, each with the milliseconds since the start in "at" and one of
//
//	in       a message that the program was sent; inText: something that is none
//	closed   its input was closed
//	signal   it was sent a signal, "SIGTERM"
//	out      a message of the program's; outText: something that is none
//	err      what it wrote to its standard error
//	file     it wrote a file: {"name":"a/b.txt","text":"…"}, and "exec":true
//	gone     it removed one
//	exit     it ended, with a status
//	killed   it was ended by a signal
//
// of which the last is exit or killed. At the end are lines {"note":…}, which
// are [Tape.Note]'s. Unknown keys and variables are refused, as is a file that was
// cut off. A file has at most 64 MiB, a text with its repetitions at most 16 MiB.
package cassette
