// Package instructions reads what a repository tells agents in files of its own,
// where somebody has opted in to that, for the adapters of all vendors to add to
// their system prompts. The vendors' programs would read the same files, and
// with them settings, hooks, skills and servers of tools, and the files of
// folders above: so they read none, and AGL reads these few.
package instructions

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"example.com/agl/ports"
)

// files are the files for each provider's agents, in the order in which they are
// given: those that the vendor's program would read at a repository's root.
var files = map[string][]string{
	"claude":  {"CLAUDE.md", "AGENTS.md"},
	"codex":   {"AGENTS.md"},
	"copilot": {".github/copilot-instructions.md", "AGENTS.md"},
}

// MaxSize is how much of a file is given, in bytes.
const MaxSize = 64 << 10

// Check refuses a setting that is none.
func Check(setting ports.Instructions) error {
	switch setting {
	case ports.Hermetic, ports.RepositoryInstructions:
		return nil
	}
	return ports.Invalid.Errorf("instructions", "%q is no setting: %q gives agents those of the repository, and without it they get none", string(setting), string(ports.RepositoryInstructions))
}

// For returns what is to be put behind the system prompt of an agent of provider
// that works in the checkout dir: nothing, unless the setting says so and there
// is a file for it, else paragraphs of their own.
func For(setting ports.Instructions, provider, dir string) (string, error) {
	if err := Check(setting); err != nil || setting == ports.Hermetic || dir == "" {
		return "", err
	}
	found, err := Read(dir, files[provider]...)
	if err != nil || len(found) == 0 {
		return "", err
	}
	var b strings.Builder
	b.WriteString("\n\nThe repository in which you work has standing instructions for agents, in the files that follow. Where they contradict what you are asked, that holds.\n")
	for _, f := range found {
		// No text ends itself early: it would have to hold its own digest.
		id := fmt.Sprintf("%x", sha256.Sum256([]byte(f.Text)))[:12]
		fmt.Fprintf(&b, "\n<file name=%q id=%q>\n%s\n</file %s>\n", f.Name, id, strings.TrimSuffix(f.Text, "\n"), id)
		if f.Cut {
			fmt.Fprintf(&b, "%s is longer than this; read the rest of it in the working directory.\n", f.Name)
		}
	}
	return b.String(), nil
}

// A File is a file that was read.
type File struct {
	Name string
	Text string
	Cut  bool // at the end of a line or a letter, after MaxSize or a little less
}

// Read returns the named files of dir, with slashes in their names, but for
// those that are not there and those that another one links to. Links are
// followed inside dir alone. A file that is no text, or none at all, is Invalid.
func Read(dir string, names ...string) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, ports.Unavailable.Errorf("instructions", "%w", err)
	}
	defer root.Close()
	var found []File
	var seen []fs.FileInfo
	for _, name := range names {
		info, err := root.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue
		case err != nil:
			return nil, refuse(name, "it cannot be read, or links to something outside the checkout (%v)", err)
		case !info.Mode().IsRegular():
			return nil, refuse(name, "it is no regular file")
		case slices.ContainsFunc(seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }):
			continue
		}
		seen = append(seen, info)
		f, err := read(root, name)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(f.Text) != "" {
			found = append(found, f)
		}
	}
	return found, nil
}

func refuse(name, format string, args ...any) error {
	return ports.Invalid.Errorf("instructions", "%s: %s; mend it, or run without the repository's instructions", name, fmt.Sprintf(format, args...))
}

func read(root *os.Root, name string) (File, error) {
	file, err := root.Open(name)
	if err != nil {
		return File{}, refuse(name, "%v", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return File{}, refuse(name, "%v", err)
	}
	f := File{Name: name, Cut: len(text) > MaxSize}
	if f.Cut {
		text = text[:MaxSize]
		if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
			text = text[:end+1]
		}
		for n := 1; n < utf8.UTFMax && n <= len(text); n++ { // of a line without an end, a letter may be cut
			if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					text = text[:len(text)-n]
				}
				break
			}
		}
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return File{}, refuse(name, "it is no text in UTF-8")
	}
	f.Text = string(bytes.TrimPrefix(text, []byte("\ufeff")))
	return f, nil
}
