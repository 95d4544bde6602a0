package porttest

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"testing"

	"example.com/agl/ports"
)

func TestBrokenWritesAreFound(t *testing.T) {
	t.Parallel()
	find(t, workspaceRules(), []broken[*worksite]{
		{fault: "makes no folders", rule: "files are written and removed", fresh: breakCheckout(func(w *brokenCheckout) {
			w.writeFile = func(ctx context.Context, name string, data []byte) error {
				if strings.Contains(name, "/") {
					return ports.Unavailable.Errorf("", "%w", fs.ErrNotExist)
				}
				return w.Workspace.WriteFile(ctx, name, data)
			}
		})},
		{fault: "removes a file and no folder", rule: "files are written and removed", fresh: breakCheckout(func(w *brokenCheckout) {
			w.remove = func(ctx context.Context, name string) error {
				if info, err := fs.Stat(w.Tree(), name); err == nil && info.IsDir() {
					return nil
				}
				return w.Workspace.Remove(ctx, name)
			}
		})},
		{fault: "removing nothing is an error", rule: "files are written and removed", fresh: breakCheckout(func(w *brokenCheckout) {
			w.remove = func(ctx context.Context, name string) error {
				if _, err := fs.Stat(w.Tree(), name); err != nil {
					return ports.NotFound.Errorf("", "%w", err)
				}
				return w.Workspace.Remove(ctx, name)
			}
		})},
		{fault: "cleans names", rule: "only files of the checkout are written", fresh: breakCheckout(func(w *brokenCheckout) {
			w.writeFile = func(ctx context.Context, name string, data []byte) error {
				return w.Workspace.WriteFile(ctx, strings.TrimPrefix(path.Clean("/"+name), "/"), data)
			}
		})},
		{fault: "replaces a folder", rule: "only files of the checkout are written", fresh: breakCheckout(func(w *brokenCheckout) {
			w.writeFile = func(ctx context.Context, name string, data []byte) error {
				if info, err := fs.Stat(w.Tree(), name); err == nil && info.IsDir() && name != "." {
					if err := w.Workspace.Remove(ctx, name); err != nil {
						return err
					}
				}
				return w.Workspace.WriteFile(ctx, name, data)
			}
		})},
		{fault: "writes git's own files elsewhere", rule: "only files of the checkout are written", fresh: breakCheckout(func(w *brokenCheckout) {
			w.writeFile = func(ctx context.Context, name string, data []byte) error {
				return w.Workspace.WriteFile(ctx, strings.ReplaceAll(name, ".git", "git"), data)
			}
		})},
	})
}

// writing makes r's checkouts write files by other names, or not where that is
// "".
func writing(r *Repository, rename func(path string) string) {
	r.Workspaces.(*brokenRepo).checkout = func(w *brokenCheckout) {
		w.writeFile = func(ctx context.Context, name string, data []byte) error {
			if name = rename(name); name == "" {
				return nil
			}
			return w.Workspace.WriteFile(ctx, name, data)
		}
	}
}
