package gittest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// An original is a folder to copy.
type original struct {
	once  sync.Once
	files []file // a folder comes before what is in it
}

type file struct {
	name string
	mode fs.FileMode
	data []byte // a link's target
}

var originals sync.Map // of *original, by name

// Prepared makes the folder dir as prepare makes it, which is called for the
// first dir of a name in this process: the others get copies, for to make a
// repository takes several processes. Nothing in it may name dir, and
// everything of one name must be the same. Git does not know the times of the
// copied files: it takes them for files that may have changed, and looks. The
// sample hooks that git puts into a repository are removed: they are half of
// its files.
func Prepared(t testing.TB, dir, name string, prepare func()) {
	t.Helper()
	entry, _ := originals.LoadOrStore(name, &original{})
	o := entry.(*original)
	made := false
	o.once.Do(func() {
		prepare()
		made = true
		if err := o.read(dir); err != nil {
			t.Fatal(err)
		}
	})
	if made {
		return
	}
	if len(o.files) == 0 {
		t.Fatalf("the first repository of the name %q was not made", name)
	}
	if err := o.write(dir); err != nil {
		t.Fatal(err)
	}
}

func (o *original) read(dir string) error {
	var files []file
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && strings.HasSuffix(path, ".sample") {
			return os.Remove(path)
		}
		f := file{mode: info.Mode()}
		if f.name, err = filepath.Rel(dir, path); err != nil {
			return err
		}
		switch f.mode.Type() {
		case 0:
			f.data, err = os.ReadFile(path)
		case fs.ModeSymlink:
			var target string
			target, err = os.Readlink(path)
			f.data = []byte(target)
		}
		files = append(files, f)
		return err
	})
	if err == nil {
		o.files = files
	}
	return err
}

func (o *original) write(dir string) error {
	for _, f := range o.files {
		if err := f.write(filepath.Join(dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}

func (f file) write(path string) error {
	switch f.mode.Type() {
	case fs.ModeDir:
		return os.MkdirAll(path, f.mode.Perm())
	case fs.ModeSymlink:
		return os.Symlink(string(f.data), path)
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode.Perm())
	if err != nil {
		return err
	}
	_, err = to.Write(f.data)
	return errors.Join(err, to.Close())
}
