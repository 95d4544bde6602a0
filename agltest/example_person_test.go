package agltest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/internal/exampletest"
	"example.com/agl/ports"
)

// releaser may ask a person.
var releaser = implementer.With(agl.AskTool())

// Release asks what it is to be, and shows how far it is.
var Release = agl.NewWorkflow(agl.Spec{Name: "release", Version: 1, Roles: []agl.Role{releaser}},
	func(ctx context.Context, run *agl.Run, _ agl.None) error {
		version := ""
		what := agl.Choose("What is in it?", agl.Opt("a fix", "1.2.1"), agl.Opt("a feature", "1.3.0"))
		if err := run.Ask(ctx, what.Into(&version)); err != nil {
			return err
		}
		run.Show(func(s agl.Status) agl.Screen {
			return agl.Screen{Title: "Release " + version, Body: []agl.Block{agl.Paragraph(s.Namespaces[0].Activity)}}
		})
		return run.Step(ctx, releaser.Commit("release "+version), agl.In("version", version))
	})

// A question of the workflow is answered by the label of an option, one of an
// agent by a text.
func ExampleHarness_Answer() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		h.Answer("What is in it", "a feature")
		h.Answer("thank", "Ada")
		agltest.Handle(h, releaser, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			turn.WriteFile("NEWS", "Thanks to "+turn.Ask("Whom do we thank?"))
			return Patch{}, nil
		})
		require.NoError(t, h.Start(Release.With(agl.None{})))
		require.Equal(t, "release 1.3.0", h.Commits()[0].Message)
		require.Equal(t, "Thanks to Ada", h.Files()["NEWS"])
		h.Replay(Release) // which asks nobody
		h.Golden("testdata/release.journal.txt")
	})
	// Output:
}

// A function answers whatever is asked.
func ExampleHarness_Person() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		h.Person(func(q ports.Question) string {
			if len(q.Options) > 0 {
				return q.Options[0]
			}
			return "I do not know, " + q.From
		})
		agltest.Handle(h, releaser, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			turn.WriteFile("NEWS", turn.Ask("Whom do we thank?"))
			return Patch{}, nil
		})
		require.NoError(t, h.Start(Release.With(agl.None{})))
		require.Equal(t, "I do not know, implementer", h.Files()["NEWS"])
	})
	// Output:
}

// Client builds one part, whose conflicts a person mends.
var Client = agl.NewWorkflow(agl.Spec{Name: "client", Version: 1, Roles: []agl.Role{builder}},
	func(ctx context.Context, run *agl.Run, _ agl.None) error {
		part, err := run.Worktree(ctx, "client")
		if err != nil {
			return err
		}
		if err := part.Step(ctx, builder.Commit("build client")); err != nil {
			return err
		}
		return part.Integrate(ctx, byHand)
	})

func byHand(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
	mended := false
	q := agl.Choose("Mend "+c.Dir, agl.Opt("mended", true), agl.Opt("give it up", false))
	if err := c.Ask(ctx, q.Into(&mended)); err != nil || !mended {
		return c.Abort(), err
	}
	return c.Retry(), nil
}

// A person mends a conflict in the folder that the question names.
func ExampleHarness_Person_conflict() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.Options{Git: true}.New(t)
		buildParts(h)
		h.Conflicts("client", "client.go")
		h.Person(func(q ports.Question) string {
			path := filepath.Join(strings.TrimPrefix(q.Text, "Mend "), "client.go")
			if err := os.WriteFile(path, []byte("package client // mended\n"), 0o600); err != nil {
				t.Error(err)
			}
			return "mended"
		})
		require.NoError(t, h.Start(Client.With(agl.None{})))
		require.Equal(t, "package client // mended\n", h.Files()["client.go"])
		h.Replay(Client) // which asks nobody
	})
	// Output:
}

// With nobody there, the run stops at the question, and goes on when it was
// answered.
func ExampleHarness_AnswerElsewhere() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.Options{Unattended: true}.New(t)
		agltest.Reply(h, releaser, Patch{})
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, h.Start(Release.With(agl.None{})), &unanswered)
		require.Equal(t, "What is in it?", unanswered.Questions[0].Text)
		require.Empty(t, h.Agents())

		h.AnswerElsewhere("What is in it", "a fix") // as agl answer does
		require.NoError(t, h.Resume(Release))
		require.Equal(t, "release 1.2.1", h.Commits()[0].Message)
	})
	// Output:
}

// What the workflow shows can be looked at while it runs, and afterwards.
func ExampleHarness_Screen() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		h.Answer("What is in it", "a fix")
		agltest.Handle(h, releaser, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			turn.Activity("Read CHANGELOG.md")
			want := agl.Screen{Title: "Release 1.2.1", Body: []agl.Block{agl.Paragraph("Read CHANGELOG.md")}}
			require.Equal(t, want, h.Screen())
			turn.WriteFile("NEWS", "a fix\n")
			return Patch{}, nil
		})
		require.NoError(t, h.Start(Release.With(agl.None{})))
		require.Equal(t, "Release 1.2.1", h.Screen().Title)
	})
	// Output:
}
