package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/agl/ports"
)

// Init writes the settings file of a repository's project, with every key that
// can be set, and returns its path. A file that is there already is
// Conflicted: it is a person's. The file is not needed to run anything.
func Init(ctx context.Context, opts Options) (string, error) {
	p, _, err := find(ctx, opts)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(p.file()); err == nil {
		return "", ports.Conflicted.Errorf("", "%s exists already; edit it", p.file())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", ports.Denied.Errorf("write the project's settings", "%w", err)
	}
	if err := os.MkdirAll(p.dir(), 0o700); err != nil {
		return "", ports.Denied.Errorf("make the project's folder", "%w", err)
	}
	s := settings{Repo: p.Repo, Build: opts.Build, BuildTimeout: duration(opts.BuildTimeout), Trees: opts.Trees}
	return p.file(), writeSettings(p.file(), s, filepath.Dir(p.Trees))
}
