//go:build unix

package local_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/local"
	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// waits is an agent that is examined until its context ends.
type waits struct {
	ports.Agent
	begun chan<- struct{}
}

func (waits) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{}, nil
}

func (w waits) Examine(ctx context.Context) ports.Examination {
	if w.begun != nil {
		close(w.begun)
		<-ctx.Done()
	}
	return ports.Examination{}
}

// third is the only agent that these tests examine: no vendor's program is
// started.
var third = map[string]ports.Agent{"third": waits{}}

func TestWhatIsWrongWithTheMachineIsFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(t *testing.T, opts *local.Options)
		want   string // the findings
		says   string // of the first that is a problem: detail and fix
	}{
		"nothing": {want: "git ok, repository ok, checkouts ok, build warning, records ok, terminal ok"},
		"a gate": {
			change: func(_ *testing.T, opts *local.Options) { opts.Build = ptr("make") },
			want:   "git ok, repository ok, checkouts ok, build ok, records ok, terminal ok",
		},
		"no git": {
			change: func(t *testing.T, opts *local.Options) { opts.Env = append(opts.Env, "PATH="+t.TempDir()) },
			want:   "git problem, records ok, terminal ok", says: "git is not installed, or not in PATH|install git 2.38 or newer",
		},
		"an old git": {
			change: func(t *testing.T, opts *local.Options) {
				dir := t.TempDir()
				gittest.Program(t, filepath.Join(dir, "git"), "#!/bin/sh\necho git version 2.37.7")
				opts.Env = append(opts.Env, "PATH="+dir+":/usr/bin:/bin")
			},
			want: "git problem, records ok, terminal ok", says: "git 2.37 is too old|install 2.38 or newer",
		},
		"no repository": {
			change: func(t *testing.T, opts *local.Options) { opts.Repo = t.TempDir() },
			want:   "git ok, repository problem, records ok, terminal ok", says: "not a git repository|run git init there",
		},
		"no commit": {
			change: func(t *testing.T, opts *local.Options) {
				require.NoError(t, os.RemoveAll(filepath.Join(opts.Repo, ".git", "refs", "heads", "main")))
				require.NoError(t, os.RemoveAll(filepath.Join(opts.Repo, ".git", "packed-refs")))
			},
			want: "git ok, repository problem, checkouts ok, build warning, records ok, terminal ok", says: "no commit yet|make one first",
		},
		"a setting": {
			change: func(_ *testing.T, opts *local.Options) { opts.Env = append(opts.Env, "AGL_BUILD=") },
			want:   "git ok, settings problem, records ok, terminal ok", says: "AGL_BUILD is set and empty|unset it",
		},
		"checkouts in the repository": {
			change: func(_ *testing.T, opts *local.Options) { opts.Trees = filepath.Join(opts.Repo, "trees") },
			want:   "git ok, settings problem, records ok, terminal ok", says: "inside the repository at",
		},
		"a home that is a file": {
			change: func(_ *testing.T, opts *local.Options) { opts.Home = filepath.Join(opts.Repo, "file") },
			want:   "git ok, settings problem, records problem, terminal ok", says: "not a directory",
		},
		"checkouts below a file": {
			change: func(t *testing.T, opts *local.Options) {
				opts.Trees = filepath.Join(t.TempDir(), "file")
				require.NoError(t, os.WriteFile(opts.Trees, nil, 0o600))
			},
			want: "git ok, repository ok, checkouts problem, build warning, records ok, terminal ok", says: "not a directory",
		},
		"a home that is nowhere": {
			change: func(_ *testing.T, opts *local.Options) { opts.Home = "agl" },
			want:   "git ok, settings problem, records problem, terminal ok", says: "is not an absolute path",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := gittest.New(t, map[string]string{"file": "text\n"})
			opts := local.Options{Repo: repo.Dir, Home: filepath.Join(t.TempDir(), "not", "there", "yet"), Env: repo.Env, Agents: third}
			if tt.change != nil {
				tt.change(t, &opts)
			}
			d, err := local.Examine(t.Context(), opts, []string{"third"}, 0)
			require.NoError(t, err)
			var found []string
			said := ""
			for _, f := range d.Machine {
				found = append(found, f.Name+" "+string(f.State))
				if f.State == ports.FoundProblem && said == "" {
					said = f.Detail + "|" + f.Fix
				}
			}
			require.Equal(t, tt.want, strings.Join(found, ", "), said)
			require.Contains(t, said, tt.says)
			require.NoDirExists(t, opts.Home, "it was made")
		})
	}
}

func TestAnExaminationThatIsStoppedFails(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	begun := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-begun
		cancel()
	}()
	opts := local.Options{Repo: repo.Dir, Home: t.TempDir(), Env: repo.Env, Agents: map[string]ports.Agent{"third": waits{begun: begun}}}
	_, err := local.Examine(ctx, opts, []string{"third"}, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, ports.KindOf(err))
}
