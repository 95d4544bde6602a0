package codex

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/agl/ports"
)

// A room is what a program of ours has for itself, until it has ended: a home
// folder in which nothing but the user's login is, so that no file of the user's
// configures the agent, and a folder for temporary files beside it.
type room struct{ dir, home, tmp string }

// logins are the files of the user's home that the room shares: the login, which
// the program renews in its place, and what it locks meanwhile.
var logins = []string{"auth.json", "auth.lock"}

// newRoom makes a room. userHome is "" for one without a login.
func newRoom(userHome string) (*room, error) {
	dir, err := os.MkdirTemp("", "agl-codex-")
	if err != nil {
		return nil, ports.Unavailable.Errorf(op, "making a folder for it: %w", err)
	}
	// A home below the folder of temporary files would not do for the program's
	// helpers: it has one of its own beside the home.
	r := &room{dir: dir, home: filepath.Join(dir, "home"), tmp: filepath.Join(dir, "tmp")}
	err = errors.Join(os.Mkdir(r.home, 0o700), os.Mkdir(r.tmp, 0o700))
	if userHome != "" && err == nil {
		err = r.share(userHome)
	}
	if err != nil {
		r.remove()
		return nil, ports.Unavailable.Errorf(op, "making a folder for it: %w", err)
	}
	return r, nil
}

// share links the login into the room: what the program writes to it, it writes
// to the user's.
func (r *room) share(userHome string) error {
	for _, name := range logins {
		there, here := filepath.Join(userHome, name), filepath.Join(r.home, name)
		if _, err := os.Stat(there); errors.Is(err, fs.ErrNotExist) {
			continue // nobody is logged in, or nothing was locked yet
		}
		if err := os.Symlink(there, here); err != nil {
			if err := os.Link(there, here); err != nil { // where symbolic links are a privilege
				return err
			}
		}
	}
	return nil
}

func (r *room) remove() { _ = os.RemoveAll(r.dir) }
