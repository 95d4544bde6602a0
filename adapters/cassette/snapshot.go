package cassette

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"
)

// Limits of what is looked at in a working directory.
const (
	maxFiles    = 2000
	maxFileSize = 1 << 20
)

// A snapshot says how the files of a folder were last seen. What is below a
// ".git" is not looked at.
type snapshot map[string]seenFile

type seenFile struct {
	size     int64
	modified time.Time
	mode     fs.FileMode
}

func takeSnapshot(dir string) (snapshot, error) {
	s := make(snapshot)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			if err == nil && entry.IsDir() && entry.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil // it is gone again
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		if len(s) == maxFiles {
			return fmt.Errorf("the working directory has more than %d files", maxFiles)
		}
		name, err := filepath.Rel(dir, path)
		s[filepath.ToSlash(name)] = seenFile{info.Size(), info.ModTime(), info.Mode()}
		return err
	})
	return s, err
}

// changes returns the events that lead from one snapshot to the next.
func (s snapshot) changes(next snapshot, dir string, redact func(string) string) ([]event, error) {
	var events []event
	for name, now := range next {
		if s[name] == now {
			continue
		}
		doc, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			continue // it is gone again
		}
		if len(doc) > maxFileSize || !utf8.Valid(doc) {
			return nil, fmt.Errorf("the program wrote %s, which is no text of at most %d bytes; such a file cannot be recorded", name, maxFileSize)
		}
		events = append(events, event{File: &file{Name: redact(name), Exec: now.mode&0o100 != 0, Text: redact(string(doc))}})
	}
	for name := range s {
		if _, there := next[name]; !there {
			events = append(events, event{Gone: redact(name)})
		}
	}
	return events, nil
}

// write does to a working directory what the program did.
func (e event) write(dir string, v *variables) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if e.Gone != "" {
		return root.Remove(filepath.FromSlash(e.Gone))
	}
	text, err := v.render(e.File.Text)
	if err != nil {
		return err
	}
	name, mode := filepath.FromSlash(e.File.Name), fs.FileMode(0o644)
	if e.File.Exec {
		mode = 0o755
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, []byte(text), mode)
}
