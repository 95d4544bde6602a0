package ports

import (
	"context"
	"io/fs"
)

// A World is what a tool's handler or a recorded function is told of its
// surroundings: whose step or call this is, and its checkout. A run gives it;
// it is good until the handler or function has returned.
type World struct {
	Key string // whose step or call this is: the same on every attempt, an idempotency key

	// Dir is the checkout, absolute: for programs. Where the checkout is in
	// memory, as in a test without agltest.Options.Git, Dir is a path at which
	// nothing can be, so that whatever is tried there fails with an error that
	// says what to do, and nothing is done in the folder of the test itself.
	Dir string

	// Tree is the same checkout, to read.
	Tree fs.FS

	ctx context.Context // of this one call of the handler
	ws  Workspace
}

// noDir is Dir where there is none. Its first element is longer than file
// systems take, which keeps it from being made; a NUL would too, but os/exec
// then complains of the environment. The elements below keep a ".." or two from
// leading out of it.
const noDir = "/use World.WriteFile, World.Remove and World.Tree here, or agltest.Options.Git in the test" +
	" - this checkout is in memory and programs cannot see it" +
	" - its name is longer than a file system takes, so that what was meant for the checkout is not done in the folder" +
	" that the test happens to run in/checkout/in/memory"

// NewWorld returns the world of a handler or function that runs under ctx in
// the checkout ws.
func NewWorld(ctx context.Context, key string, ws Workspace) World {
	w := World{Key: key, Dir: ws.Dir(), Tree: ws.Tree(), ctx: ctx, ws: ws}
	if w.Dir == "" {
		w.Dir = noDir
	}
	return w
}

// WriteFile writes a file of the checkout, and makes its folders. It works in a
// folder and in memory alike, so that what is made with it can be tested
// without git. The name is slash-separated and below the checkout; what leads
// through a symbolic link, or to git's own files, is Invalid.
func (w World) WriteFile(name string, data []byte) error {
	if w.ws == nil {
		return errNoRun
	}
	return w.ws.WriteFile(w.ctx, name, data)
}

// Remove removes a file of the checkout, or a folder with all that is in it, as
// WriteFile writes one. It is no error if there is none.
func (w World) Remove(name string) error {
	if w.ws == nil {
		return errNoRun
	}
	return w.ws.Remove(w.ctx, name)
}

var errNoRun = Invalid.Errorf("", "this World has no checkout to write to: it was not given by a run")
