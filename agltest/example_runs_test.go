package agltest_test

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/internal/exampletest"
)

// The build fails, the implementer is told, and the next build passes.
func ExampleHarness_VerifierFails() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		h.VerifierFails("FAIL: TestNil", 1)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			var findings []string
			turn.Input("findings", &findings)
			turn.WriteFile("main.go", fmt.Sprintf("package main // %q\n", findings))
			return Patch{}, nil
		})
		agltest.Reply(h, reviewer, Findings{}) // once: a red build is not reviewed
		require.NoError(t, h.Start(job))
		require.Equal(t, "package main // [\"FAIL: TestNil\"]\n", h.Files()["main.go"])
	})
	// Output:
}

// A failure is recorded, and a resume tries it again.
func ExampleHarness_Resume() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{})
		agltest.Handle(h, reviewer, func(_ context.Context, turn *agltest.Turn) (Findings, error) {
			if turn.Attempt == 1 {
				return Findings{}, agl.Unavailable.Errorf("", "nobody is logged in")
			}
			return Findings{}, nil
		})
		require.ErrorIs(t, h.Start(job), agl.Unavailable)
		require.Equal(t, agl.StateFailed, h.Run().State)
		require.NoError(t, h.Resume(Repair))
		require.Equal(t, []string{"implementer #1", "reviewer #1", "reviewer #1"}, h.Agents())
	})
	// Output:
}

// A run that is cancelled can be resumed, whatever it was doing.
func ExampleHarness_Start() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		agltest.Reply(h, implementer, Patch{})
		agltest.Handle(h, reviewer, func(ctx context.Context, turn *agltest.Turn) (Findings, error) {
			if turn.Attempt == 1 {
				cancel()
				<-ctx.Done()
				return Findings{}, ctx.Err()
			}
			return Findings{}, nil
		})
		h.Context = ctx
		require.ErrorIs(t, h.Start(job), context.Canceled)
		h.Context = nil
		require.Equal(t, agl.StateInterrupted, h.Run().State)
		require.NoError(t, h.Resume(Repair))
	})
	// Output:
}

// What a killed agent had written is not in the branch, and not lost.
func ExampleHarness_Salvaged() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			if turn.Attempt == 1 {
				turn.WriteFile("idea.txt", "half of it")
				turn.Crash()
			}
			turn.WriteFile("main.go", "package main\n")
			return Patch{}, nil
		})
		agltest.Reply(h, reviewer, Findings{})
		require.ErrorIs(t, h.Start(job), agltest.ErrCrashed)
		require.NoError(t, h.Resume(Repair))
		require.NotContains(t, h.Files(), "idea.txt")

		require.Len(t, h.Salvaged(), 1)
		require.Equal(t, "half of it", h.SalvagedFiles(1)["idea.txt"])
	})
	// Output:
}

// The same test runs over real git.
func ExampleOptions() {
	exampletest.Run(func(t testing.TB) {
		for _, git := range []bool{false, true} {
			h := agltest.Options{Git: git, Files: map[string]string{"main.go": "package main\n"}}.New(t)
			agltest.Reply(h, implementer, Patch{})
			agltest.Reply(h, reviewer, Findings{})
			require.NoError(t, h.Start(job))
			require.Contains(t, h.Files(), "implementer.1.txt") // an Editor's Reply writes it
			h.Golden("testdata/repair.journal.txt")
		}
	})
	// Output:
}

// The clock stands still unless it is moved.
func ExampleHarness_Advance() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{})
		agltest.Handle(h, reviewer, func(context.Context, *agltest.Turn) (Findings, error) {
			h.Advance(time.Hour)
			return Findings{}, nil
		})
		require.NoError(t, h.Start(job))
		review := h.Journal()[2]
		require.Equal(t, time.Hour, review.Ended.Sub(review.Started).Truncate(time.Minute))
	})
	// Output:
}

// gofmt formats the Go files of the checkout. It reads and writes them by World,
// and so it needs no folder.
var gofmt = agl.Func("gofmt", func(_ context.Context, w agl.World) (int, error) {
	formatted := 0
	err := fs.WalkDir(w.Tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := fs.ReadFile(w.Tree, path)
		if err != nil {
			return err
		}
		tidy, err := format.Source(source)
		if err != nil || bytes.Equal(tidy, source) {
			return err
		}
		formatted++
		return w.WriteFile(path, tidy)
	})
	return formatted, err
}).Commit("gofmt")

var tidy = agl.NewWorkflow(agl.Spec{Name: "tidy", Version: 1, Roles: []agl.Role{implementer}},
	func(ctx context.Context, run *agl.Run, _ agl.None) error {
		if err := run.Step(ctx, implementer.Commit("change")); err != nil {
			return err
		}
		return run.Do(ctx, gofmt)
	})

// A recorded function that changes files, and ends in a commit, is tested as a
// step is.
func Example_committingDo() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			turn.WriteFile("main.go", "package   main\n")
			return Patch{}, nil
		})
		require.NoError(t, h.Start(tidy.With(agl.None{})))
		require.Equal(t, "package main\n", h.Files()["main.go"])
		require.Equal(t, "gofmt", h.Commits()[1].Message)
		h.Replay(tidy)
	})
	// Output:
}
