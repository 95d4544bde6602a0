package git

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/agl/ports"
)

// unfit says why a checkout that was just filled cannot be worked in: its
// attributes name filters nobody configured, so that git would commit raw
// files where pointers belong; or its paths differ only in case where the file
// system has one file for both.
func (c *checkout) unfit(ctx context.Context) error {
	x, err := c.readIndex(ctx)
	if err != nil {
		return err
	}
	for _, path := range x.attributes {
		data, err := readRegular(filepath.Join(c.dir, filepath.FromSlash(path)), 1<<20)
		if err != nil || !wantsLFS(data) {
			continue
		}
		if err := c.repo.lfsMissing(ctx, path); err != nil {
			return err
		}
		break
	}
	if !c.repo.ignoreCase {
		return nil
	}
	out, err := c.run(ctx, call{read: true, args: []string{"ls-files", "-z"}})
	if err != nil {
		return err
	}
	seen := make(map[string]string)
	for path := range strings.SplitSeq(string(out), "\x00") {
		folded := strings.ToLower(path)
		if other, ok := seen[folded]; ok {
			return ports.Invalid.Errorf("", "%q and %q differ only in case, and this file system keeps only one of them; rename one", other, path)
		}
		seen[folded] = path
	}
	return nil
}

var lfsAttribute = regexp.MustCompile(`(?m)^[ \t]*[^#\s].*\sfilter=lfs(?:\s|$)`)

// wantsLFS reports whether a .gitattributes file sends files through git-lfs.
func wantsLFS(attributes []byte) bool { return lfsAttribute.Match(attributes) }

// lfsMissing refuses to go on without git-lfs, which the attributes in a file
// want: git would silently commit whole files where pointers belong.
func (r *Repo) lfsMissing(ctx context.Context, file string) error {
	_, err := r.run(ctx, call{read: true, args: []string{"config", "--get-regexp", `^filter\.lfs\.(clean|process)$`}})
	var exit *exitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return ports.Unavailable.Errorf("", "%s wants the filter lfs, which is not configured, so whole files would be committed "+
			"where pointers belong; install git-lfs and run git lfs install", file)
	}
	return err
}
