package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"example.com/agl/ports"
)

// WriteFile writes a file of the checkout, and makes its folders.
func (c *checkout) WriteFile(ctx context.Context, name string, data []byte) error {
	op := fmt.Sprintf("write %s in %s", name, c.dir)
	return c.change(ctx, op, name, func(root *os.Root, local string, was fs.FileInfo) error {
		if was != nil && !was.Mode().IsRegular() { // a pipe would be waited at
			return ports.Invalid.Errorf(op, "a file cannot be written there: what is there is a %s", kindOf(was))
		}
		if err := root.MkdirAll(filepath.Dir(local), 0o777); err != nil {
			return err
		}
		return root.WriteFile(local, data, 0o666)
	})
}

// Remove removes a file of the checkout, or a folder with all that is in it.
func (c *checkout) Remove(ctx context.Context, name string) error {
	op := fmt.Sprintf("remove %s in %s", name, c.dir)
	return c.change(ctx, op, name, func(root *os.Root, local string, was fs.FileInfo) error {
		if was == nil {
			return nil
		}
		var err error
		if was.IsDir() {
			err = fs.WalkDir(root.FS(), name, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && dotGit(entry.Name()) {
					return ports.Invalid.Errorf(op, "%s is a repository's own; it is not removed", path)
				}
				return err
			})
		}
		if err == nil {
			err = root.RemoveAll(local)
		}
		for dir := filepath.Dir(local); err == nil && dir != "." && root.Remove(dir) == nil; {
			dir = filepath.Dir(dir)
		}
		return err
	})
}

// change calls do with what is at name, nil if there is nothing, once it is
// known to be a place in the checkout. Links are not followed, even inside: they
// can lead to git's own files, and a checkout in memory has none.
func (c *checkout) change(ctx context.Context, op, name string, do func(root *os.Root, local string, was fs.FileInfo) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	local, err := filepath.Localize(name)
	if err != nil || name == "." {
		return ports.Invalid.Errorf(op, "%q is no path of a file in a checkout: elements joined by slashes, none of them empty, . or ..", name)
	}
	for element := range strings.SplitSeq(name, "/") {
		if dotGit(element) {
			return ports.Invalid.Errorf(op, "what is called %q is git's own", element)
		}
	}
	if !isDir(c.dir) {
		return ports.NotFound.Errorf(op, "the checkout is not there")
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return c.repo.fault(op, err)
	}
	defer root.Close()
	was, err := root.Lstat(local)
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(filepath.FromSlash(dir)); err == nil && !info.IsDir() {
			return ports.Invalid.Errorf(op, "%s is a %s, and not a folder", dir, kindOf(info))
		}
	}
	if err == nil || missing(err) {
		err = do(root, local, was)
	}
	if errors.Is(err, syscall.ENAMETOOLONG) {
		return ports.Invalid.Errorf(op, "%w", err)
	}
	return c.repo.fault(op, err)
}

// kindOf says what is at a path, for a message.
func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	default:
		return "special file"
	}
}
