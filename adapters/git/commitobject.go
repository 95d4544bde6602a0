package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A signature says who makes a commit, and when.
type signature struct {
	name, email string
	at          time.Time
}

// env is the signature as git's variables.
func (s signature) env() []string {
	at := fmt.Sprintf("@%d %s", s.at.Unix(), s.at.Format("-0700"))
	return []string{
		"GIT_AUTHOR_NAME=" + s.name, "GIT_AUTHOR_EMAIL=" + s.email, "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=" + s.name, "GIT_COMMITTER_EMAIL=" + s.email, "GIT_COMMITTER_DATE=" + at,
	}
}

// plain reports whether git would write the signature as it is: it takes some
// characters off both ends of a name, and refuses times before 1970.
func (s signature) plain() bool {
	clean := func(text string) bool {
		return text != "" && text[0] > ' ' && text[len(text)-1] > ' ' && strings.Trim(text, ".,:;<>\"\\'") == text &&
			!strings.ContainsAny(text, "<>\n\x00") && plainText(text)
	}
	return clean(s.name) && clean(s.email) && s.at.Unix() >= 0
}

// plainText reports whether text is UTF-8 as git means it. It takes anything
// else for Latin-1, and converts it.
func plainText(text string) bool {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef {
			return false
		}
	}
	return true
}

// commitTree makes a durable commit of a tree, on no ref. Git makes it, unless
// all that it names is known to be there: then writing it takes no process.
func (r *Repo) commitTree(ctx context.Context, run func(context.Context, call) ([]byte, error), who signature, message, tree string, parents ...string) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if who.plain() && plainText(message) && r.loose(tree) && !slices.ContainsFunc(parents, func(id string) bool { return !r.loose(id) }) {
		return r.writeObject("commit", commitObject(who, message, tree, parents))
	}
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := run(ctx, call{durable: true, env: who.env(), stdin: strings.NewReader(message), args: append(args, "-F", "-")})
	return strings.TrimSpace(string(out)), err
}

// loose reports whether an object is in a file of its own.
func (r *Repo) loose(id string) bool {
	info, err := os.Lstat(r.loosePath(id))
	return err == nil && info.Mode().IsRegular()
}

func (r *Repo) loosePath(id string) string {
	return filepath.Join(r.common, "objects", id[:2], id[2:])
}

// commitObject returns the content of a commit, as git commit-tree writes it.
func commitObject(who signature, message, tree string, parents []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(&b, "%s %s <%s> %d %s\n", role, who.name, who.email, who.at.Unix(), who.at.Format("-0700"))
	}
	b.WriteString("\n" + message)
	return b.Bytes()
}

// writeObject writes an object into a file of its own, as git does, and syncs
// it. The format is that of gitformat-loose(5): a header and the content,
// deflated.
func (r *Repo) writeObject(kind string, content []byte) (id string, err error) {
	data := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	h := r.newHash()
	h.Write(data)
	id = hex.EncodeToString(h.Sum(nil))
	path := r.loosePath(id)
	if r.loose(id) {
		return id, r.syncObjects([]string{id})
	}
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	if err := r.makeFolder(filepath.Dir(path)); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "tmp_obj_") // git removes what a crash leaves of these
	if err != nil {
		return "", err
	}
	_, err = f.Write(deflated.Bytes())
	if err = errors.Join(err, f.Chmod(0o444), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return id, nil
}

// newHash returns the hash that names the repository's objects.
func (r *Repo) newHash() hash.Hash { return newHash(r.format) }

// newHash returns the hash that names objects of a format, sha1 or sha256.
func newHash(format string) hash.Hash {
	if format == "sha256" {
		return sha256.New()
	}
	return sha1.New()
}

// makeFolder makes a folder of objects, open to whom the others are: a
// repository may be shared by a group.
func (r *Repo) makeFolder(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(dir, info.Mode().Perm()|info.Mode()&os.ModeSetgid), syncFolder(filepath.Dir(dir)))
}
