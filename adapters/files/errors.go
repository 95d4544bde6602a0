package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"example.com/agl/ports"
)

// failure gives an error of the filesystem its Kind. path is what the reader
// knows: the error names a temporary file, perhaps. An error that has a Kind
// and nil are returned as they are.
func failure(verb, path string, err error) error {
	if err == nil || ports.KindOf(err) != "" {
		return err
	}
	op, cause := verb+" "+path, bare(err)
	switch {
	case noRoom(cause):
		return ports.Unavailable.Errorf(op, "no space left; make room, then resume: %w", cause)
	case errors.Is(cause, fs.ErrPermission), errors.Is(cause, errReadOnly):
		return ports.Denied.Errorf(op, "%w; make it writable for this user, or choose another AGL_HOME", cause)
	case errors.Is(cause, syscall.EISDIR), errors.Is(cause, syscall.ENOTDIR), errors.Is(cause, fs.ErrExist):
		return ports.Unexpected.Errorf(op, "something else is in its place; move it away: %w", cause)
	default:
		return ports.Unavailable.Errorf(op, "%w", cause)
	}
}

// bare returns err without the call and the path that package os adds.
func bare(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err
	case errors.As(err, &linkErr):
		return linkErr.Err
	}
	return err
}
