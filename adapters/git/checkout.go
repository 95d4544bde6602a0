package git

import (
	"context"
	"os"
)

// A checkout is a linked worktree of the repository, outside it.
type checkout struct {
	repo      *Repo
	label     string
	namespace string
	branch    string // short name
	dir       string
	gitDir    string     // the admin folder recorded when it was made
	files     []*os.File // the run lock's descriptors, for git children
}

// run runs git on the checkout: on the recorded admin folder and on this
// directory, whatever the files in it say.
func (c *checkout) run(ctx context.Context, cl call) ([]byte, error) {
	cl.gitDir, cl.workTree, cl.files = c.gitDir, c.dir, append(cl.files, c.files...)
	return c.repo.run(ctx, cl)
}
