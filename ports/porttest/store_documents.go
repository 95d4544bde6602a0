package porttest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"example.com/agl/ports"
)

var documentRules = []rule[*store]{
	{
		"a new store is empty",
		"A store in which nothing was written has no runs, no names and no documents; none of that is an error but Read's NotFound.",
		func(c *check, s *store) {
			s.has(c)
			s.lists(c, "run", "")
			s.lists(c, "run", "records")
			s.lacks(c, "run", "run.json")
		},
	},
	{
		"documents are read as they were written",
		"Read returns the very bytes that were written, whatever they are and however many: the store does not look into documents.",
		func(c *check, s *store) {
			var every []byte
			for b := range 256 {
				every = append(every, byte(b))
			}
			for i, doc := range []string{
				"{}", string(every), "\x00", "no newline", "\r\n", "\n\n", "\xff\xfe\xed\xa0\x80", " ", "\ufeffä",
				strings.Repeat("a long document\n", 1<<16), strings.Repeat("a longer one\r\n\xff", 5<<20/15) + "its end",
			} {
				s.write(c, "run", "durable", doc)
				s.holds(c, "run", "durable", doc)
				c.must(s.Write(c.Context(), "run", "volatile", []byte(doc), ports.Volatile), fmt.Sprintf("writing volatile document %d", i))
				s.holds(c, "run", "volatile", doc)
			}
		},
	},
	{
		"an empty document is there",
		"A document without bytes is a document: it is listed and read, where one that was not written is NotFound.",
		func(c *check, s *store) {
			s.write(c, "run", "empty", "")
			c.must(s.Write(c.Context(), "run", "nil", nil, ports.Durable), "writing nil")
			s.holds(c, "run", "empty", "")
			s.holds(c, "run", "nil", "")
			s.lists(c, "run", "", "empty", "nil")
			s.has(c, "run")
		},
	},
	{
		"a write replaces the document",
		"Write replaces what is there, whole: nothing of the old document is left, however much longer it was.",
		func(c *check, s *store) {
			for _, doc := range []string{"a long document", "short", "", "longer again"} {
				s.write(c, "run", "x", doc)
				s.holds(c, "run", "x", doc)
				c.must(s.Write(c.Context(), "run", "notes/x", []byte(doc), ports.Volatile), "writing a volatile document")
				s.holds(c, "run", "notes/x", doc)
			}
			s.lists(c, "run", "", "x")
		},
	},
	{
		"written bytes are the caller's",
		"What the caller does with the bytes after Write has returned changes no document.",
		func(c *check, s *store) {
			doc := []byte("written")
			c.must(s.Write(c.Context(), "run", "x", doc, ports.Durable), "writing")
			copy(doc, "changed")
			s.holds(c, "run", "x", "written")
			c.must(s.Write(c.Context(), "run", "notes/x", doc, ports.Volatile), "writing")
			copy(doc, "another")
			s.holds(c, "run", "notes/x", "changed")
		},
	},
	{
		"read bytes are the caller's",
		"The caller owns the bytes that Read returns: changing them changes no document and nobody else's copy.",
		func(c *check, s *store) {
			s.write(c, "run", "x", "written")
			mine, err := s.Read(c.Context(), "run", "x")
			c.must(err, "reading")
			theirs, err := s.Read(c.Context(), "run", "x")
			c.must(err, "reading again")
			copy(mine, "changed")
			_ = append(mine[:0], "longer than it was"...)
			same(c, string(theirs), "written", "another reader's copy")
			s.holds(c, "run", "x", "written")
		},
	},
	{
		"names are apart",
		"Each name of each run is a document of its own, and so is one name in two folders.",
		func(c *check, s *store) {
			places := [][2]string{
				{"run", "x"},
				{"run", "a/x"},
				{"run", "a/b/x"},
				{"run", "b/x"},
				{"run", "a.x"},
				{"run", "a-x"},
				{"run", "a_x"},
				{"run-2", "x"},
				{"run.2", "x"},
				{"a", "x"},
				{"run", "x.json"},
				{"run", "0001"},
				{"run", "1"},
				{"run", ".x"},
				{"run", "-x"},
			}
			for _, p := range places {
				s.write(c, p[0], p[1], "document "+p[0]+" "+p[1])
			}
			for _, p := range places {
				s.holds(c, p[0], p[1], "document "+p[0]+" "+p[1])
			}
		},
	},
	{
		"what is no name leads nowhere",
		"What is no name (elements of letters, digits, '.', '_' and '-', joined by slashes) is refused as Invalid, or kept apart from every other.",
		func(c *check, s *store) {
			s.write(c, "other", "x", "kept")
			s.write(c, "run", "x", "kept")
			s.write(c, "run", "a/x", "kept")
			for _, bad := range []string{
				"", ".", "..", "../x", "../other/x", "../../x", "/x", "x/", "a//x", "a/../x", "./x", "a/./x", `..\other\x`, `a\x`,
				"a b", "a:b", "x\x00", "é", "x\n", "~x", strings.Repeat("x", 5000),
			} {
				s.keepsOut(c, "run", bad)
				s.keepsOut(c, bad, "x")
			}
			s.holds(c, "other", "x", "kept")
			s.holds(c, "run", "x", "kept")
			s.holds(c, "run", "a/x", "kept")
			s.lists(c, "other", "", "x")
		},
	},
	{
		"a folder is no document",
		"What is only a folder cannot be read.",
		func(c *check, s *store) {
			s.write(c, "run", "records/1", "one")
			if doc, err := s.Read(c.Context(), "run", "records"); err == nil {
				c.Errorf("reading a folder returned %s; want an error", excerpt(string(doc)))
			} else if ports.KindOf(err) == "" {
				c.Errorf("the error has no kind; want one: %v", err)
			}
		},
	},
	{
		"a missing document is NotFound",
		"If there is no document, Read's error is NotFound, also beside others and where it was deleted.",
		func(c *check, s *store) {
			s.write(c, "run", "a/x", "x")
			s.write(c, "run", "y", "y")
			c.must(s.Delete(c.Context(), "run", "y"), "deleting")
			for _, p := range [][2]string{{"run", "x"}, {"run", "y"}, {"run", "a/y"}, {"run", "b/x"}, {"other", "a/x"}} {
				s.lacks(c, p[0], p[1])
			}
		},
	},
	{
		"a person can find a document",
		"Path says, for messages, where a document is: something else for each, and the same each time.",
		func(c *check, s *store) {
			paths := map[string]string{}
			for _, p := range [][2]string{{"run", "x"}, {"run", "y"}, {"run", "a/x"}, {"run-2", "x"}} {
				path := s.Path(p[0], p[1])
				if was, ok := paths[path]; ok || path == "" {
					c.Errorf("the path of %v is %q, as is that of %q; want one for each", p, path, was)
				}
				paths[path] = fmt.Sprint(p)
				same(c, s.Path(p[0], p[1]), path, "the path when asked again")
			}
		},
	},
	{
		"readers see whole documents",
		"Whoever reads a durable document while it is replaced sees the old one or the new one, whole.",
		func(c *check, s *store) {
			whole := func(i int) []byte { return document(byte('a'+i%26), 700) }
			c.must(s.Write(c.Context(), "run", "x", whole(0), ports.Durable), "writing")
			var written atomic.Bool
			var reads atomic.Int32
			c.together(4, func(i int) {
				if i == 0 {
					defer written.Store(true)
					for n := 0; (n < 60 || reads.Load() < 2000) && !c.Failed() && c.Context().Err() == nil; n++ {
						c.must(s.Write(c.Context(), "run", "x", whole(n), ports.Durable), "writing")
					}
					return
				}
				for last := false; !last && c.Context().Err() == nil; reads.Add(1) {
					last = written.Load()
					doc, err := s.Read(c.Context(), "run", "x")
					if err != nil || len(doc) == 0 || !bytes.Equal(doc, document(doc[0], 700)) {
						c.Errorf("read %d bytes that nobody wrote, %s (error: %v); want a whole document", len(doc), excerpt(string(doc)), err)
						return
					}
					if names, err := s.Names(c.Context(), "run", ""); err != nil || len(names) != 1 {
						c.Errorf("while it is written there are the names %q (error: %v); want the document's alone", names, err)
						return
					}
				}
			})
		},
	},
	{
		"writers do not disturb each other",
		"Several goroutines may write at once: every document of its own is there, and of one that they share one of theirs.",
		func(c *check, s *store) {
			const writers, documents = 8, 12
			c.together(writers, func(w int) {
				for d := range documents {
					own := fmt.Sprintf("records/%d-%d", w, d)
					err := errors.Join(
						s.Write(c.Context(), "run", own, []byte(own), ports.Durable),
						s.Write(c.Context(), fmt.Sprintf("run-%d", w), "x", []byte(own), ports.Durable),
						s.Write(c.Context(), "run", "shared", []byte(own), ports.Durable))
					if err != nil {
						c.Errorf("writing %s: got error %v; want none", own, err)
					}
				}
			})
			names, err := s.Names(c.Context(), "run", "records")
			c.must(err, "listing")
			same(c, len(names), writers*documents, "how many documents there are")
			for w := range writers {
				for d := range documents {
					own := fmt.Sprintf("records/%d-%d", w, d)
					s.holds(c, "run", own, own)
				}
				s.holds(c, fmt.Sprintf("run-%d", w), "x", fmt.Sprintf("records/%d-%d", w, documents-1))
			}
			shared, err := s.Read(c.Context(), "run", "shared")
			c.must(err, "reading what all wrote")
			if !strings.HasSuffix(string(shared), fmt.Sprintf("-%d", documents-1)) {
				c.Errorf("what all wrote is %s, which nobody wrote last; want the last document of a writer", excerpt(string(shared)))
			}
		},
	},
	{
		"an epoch lasts",
		"Epoch stays the same as long as nothing was lost: over writes, locks and stores.",
		func(c *check, s *store) {
			epoch := s.Epoch()
			s.write(c, "run", "x", "x")
			c.must(s.locked(c, "run").Release(), "releasing")
			same(c, s.Epoch(), epoch, "the epoch")
			if s.opts.Reopen != nil {
				same(c, s.opts.Reopen(c, s.Store).Epoch(), epoch, "the epoch of a second store")
			}
		},
	},
	{
		"stores share their state",
		"What one store wrote, a second one over the same state reads, durable or volatile, and the other way round.",
		func(c *check, s *store) {
			c.needs(s.opts.Reopen != nil, "StoreOptions.Reopen")
			second := &store{s.opts.Reopen(c, s.Store), s.opts}
			s.write(c, "run", "x", "durable")
			c.must(s.Write(c.Context(), "run", "notes/x", []byte("volatile"), ports.Volatile), "writing")
			second.holds(c, "run", "x", "durable")
			second.holds(c, "run", "notes/x", "volatile")
			second.has(c, "run")
			second.write(c, "run", "x", "new")
			s.holds(c, "run", "x", "new")
			c.must(second.Remove(c.Context(), "run", "x"), "removing the run")
			s.has(c)
			s.write(c, "run", "x", "written again")
			second.holds(c, "run", "x", "written again")
		},
	},
}

// keepsOut fails the rule unless something is refused as a name, or holds a
// document of its own.
func (s *store) keepsOut(c *check, label, name string) {
	const doc = "of no name"
	where := excerpt(label) + " " + excerpt(name)
	err := s.Write(c.Context(), label, name, []byte(doc), ports.Durable)
	if err != nil {
		c.kind(err, ports.Invalid, "writing "+where)
		if got, err := s.Read(c.Context(), label, name); err == nil {
			c.Errorf("what was refused is there: %s holds %s; want nothing", where, excerpt(string(got)))
		}
		return
	}
	s.holds(c, label, name, doc)
	c.must(s.Delete(c.Context(), label, name), "deleting "+where)
}

// excerpt quotes what is short, and says how long the rest is.
func excerpt(s string) string {
	if len(s) <= 60 {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:60], len(s))
}
