package git

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// inLFS reports whether a file is what head's Git LFS pointer at its path
// names, with the content in the repository's own LFS store. Then nothing of
// it is lost with the checkout, and to copy it would put into git what was
// meant to stay out of it. No filter is asked: the pointer follows from the
// content.
func (s *salvager) inLFS(set fileSettings, p string) (bool, error) {
	was, is := s.headTree[p], s.found.files[p]
	if !slices.Contains(set.filters, "lfs") || was.mode != is.mode || is.mode == modeLink {
		return false, nil
	}
	var oid string
	var length int64
	err := s.files.read(p, false, func(_ string, size int64, content io.Reader) error {
		h := sha256.New()
		_, err := io.Copy(h, content)
		oid, length = hex.EncodeToString(h.Sum(nil)), size
		return err
	})
	if err != nil {
		return false, err
	}
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, length)
	h := s.files.newBlobHash(int64(len(pointer)))
	io.WriteString(h, pointer)
	if hex.EncodeToString(h.Sum(nil)) != was.id {
		return false, nil
	}
	stored, err := os.Stat(filepath.Join(s.checkout.repo.common, "lfs", "objects", oid[:2], oid[2:4], oid))
	return err == nil && stored.Size() == length, nil
}
