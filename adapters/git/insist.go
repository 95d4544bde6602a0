package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// insist runs git; if it fails for want of permission it is run once more
// after the folders of the checkout have been made writable. Some tools (Go's
// module cache is one) leave folders that are not.
func (c *checkout) insist(ctx context.Context, cl call) error {
	_, err := c.run(ctx, cl)
	if !notPermitted(err) {
		return err
	}
	if openErr := openFolders(c.dir); openErr != nil {
		return errors.Join(err, openErr)
	}
	_, err = c.run(ctx, cl)
	return err
}

func notPermitted(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && strings.Contains(exit.Stderr, "Permission denied")
}

// openFolders makes the folders below dir writable for their owner. It follows
// no link.
func openFolders(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var open func(name string) error
	open = func(name string) error {
		info, err := root.Lstat(name)
		if err != nil || !info.IsDir() {
			return err
		}
		if mode := info.Mode().Perm(); mode&0o700 != 0o700 {
			if err := root.Chmod(name, mode|0o700); err != nil {
				return err
			}
		}
		entries, err := fs.ReadDir(root.FS(), name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() {
				if err := open(path.Join(name, e.Name())); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return open(".")
}
