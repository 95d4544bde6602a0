package git

import (
	"context"
	"strings"
)

// Tree returns the id of a commit's tree.
func (r *Repo) Tree(ctx context.Context, commit string) (string, error) {
	out, err := r.run(ctx, call{read: true, args: []string{"rev-parse", "--verify", commit + "^{tree}"}})
	if err != nil {
		return "", r.fault("read the tree of "+commit, err)
	}
	return strings.TrimSpace(string(out)), nil
}
