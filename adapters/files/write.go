package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

// Write writes a document, replacing what is there. If it fails, what was
// there is there still; only if the very last act fails, flushing the folder,
// the new document may be in its place. A volatile document is written over
// what is there, and may be torn if that fails.
func (s *Store) Write(ctx context.Context, label, name string, doc []byte, durability ports.Durability) error {
	path, err := s.document(ctx, label, name)
	if err != nil {
		return err
	}
	if err := s.stillHeld(label); err != nil {
		return err
	}
	err = s.write(path, doc, durability)
	if errors.Is(err, fs.ErrNotExist) { // somebody removed the folder, or took the file for a leftover
		s.unsettle(filepath.Dir(path))
		err = s.write(path, doc, durability)
	}
	return failure("write", path, err)
}

func (s *Store) write(path string, doc []byte, durability ports.Durability) error {
	if err := s.settle(filepath.Dir(path)); err != nil {
		return err
	}
	if durability == ports.Volatile {
		return overwrite(path, doc)
	}
	return replace(path, s.temp, doc)
}

// overwrite writes a file in place: making a new one, and renaming it, takes
// ten times as long, and ext4 flushes a file that is renamed over another.
func overwrite(path string, doc []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(doc, 0); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil || info.Size() <= int64(len(doc)) {
		return err
	}
	return f.Truncate(int64(len(doc)))
}

// replace writes a file beside path and renames it to path, durably.
func replace(path, temp string, doc []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, temp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // again, perhaps, which is harmless
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(doc); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// settle makes a folder that survives a power cut. That an earlier process
// made it does not say that it also flushed the folders above it.
func (s *Store) settle(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled[dir] {
		return nil
	}
	top := dir // the lowest folder that is there already
	for {
		_, err := os.Stat(top)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || top == filepath.Dir(top) {
			return err
		}
		top = filepath.Dir(top)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var known []string
	for d := dir; len(d) > len(top) || len(d) >= len(s.home) && !s.settled[d]; d = filepath.Dir(d) {
		if err := syncFolder(filepath.Dir(d)); err != nil {
			return err
		}
		known = append(known, d)
	}
	for _, d := range known {
		s.settled[d] = true
	}
	return nil
}

// unsettle forgets what is known of dir and the folders in it.
func (s *Store) unsettle(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for d := range s.settled {
		if d == dir || strings.HasPrefix(d, dir+string(filepath.Separator)) {
			delete(s.settled, d)
		}
	}
}

// tempPrefix begins the name of a file that is being written. No document can
// have that name.
const tempPrefix = "~tmp."

// tempPattern names the process that writes, so that what it leaves behind can
// be told from what another is just writing.
func tempPattern(id proc.ID) string { return fmt.Sprintf("%s%d.%d.*", tempPrefix, id.PID, id.Start) }

// leftover reports whether a file of that name was being written by a process
// that has ended.
func leftover(name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return false
	}
	pid, rest, _ := strings.Cut(rest, ".")
	start, _, _ := strings.Cut(rest, ".")
	writer := proc.Self()
	var pidErr, startErr error
	writer.PID, pidErr = strconv.Atoi(pid)
	writer.Start, startErr = strconv.ParseUint(start, 10, 64)
	return pidErr != nil || startErr != nil || writer.Life() == proc.Ended
}

// sweep removes what writers that died left in dir and the folders in it. It
// is in nobody's way if that fails.
func sweep(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && leftover(d.Name()) {
			_ = os.Remove(path)
		}
		return nil
	})
}
