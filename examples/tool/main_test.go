package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/cli"
	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m)) }

func TestTheScribeNotesAChangeUnderTheNextVersion(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, map[string]string{"VERSION": "1.2.3\n", "CHANGELOG.md": "## 1.2.3\n\n- begin\n"})
	program := cli.Program{Name: "release", Workflows: []agl.Definition{workflow}, Agents: map[string]ports.Agent{"inprocess": scribe{}}}
	var out, errs strings.Builder
	code := program.Run(t.Context(), []string{
		"run", "note", "-n", "v1", "--text", "parse nil", "--repo", repo.Dir, "--home", t.TempDir(),
	}, strings.NewReader(""), &out, &errs)
	require.Zero(t, code, errs.String())
	require.Equal(t, "1.2.4", repo.Git("show", "agl/v1:VERSION"))
	require.Equal(t, "## 1.2.4\n\n- parse nil\n\n## 1.2.3\n\n- begin", repo.Git("show", "agl/v1:CHANGELOG.md"))
	require.Contains(t, errs.String(), "asks what changed")
}

func TestAToolsErrorIsWhatTheAgentReads(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, map[string]string{"VERSION": "one\n"})
	program := cli.Program{Name: "release", Workflows: []agl.Definition{workflow}, Agents: map[string]ports.Agent{"inprocess": scribe{}}}
	var errs strings.Builder
	code := program.Run(t.Context(), []string{
		"run", "note", "-n", "v1", "--text", "parse nil", "--quiet", "--repo", repo.Dir, "--home", t.TempDir(),
	}, strings.NewReader(""), io.Discard, &errs)
	require.Equal(t, 6, code)
	require.Contains(t, errs.String(), `VERSION holds`)
}
