//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
)

// block returns the block of README.md that begins after intro.
func block(t *testing.T, intro string) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), intro+"\n")
	require.True(t, found, intro)
	text, _, found := strings.Cut(rest, "\n```\n")
	require.True(t, found, intro)
	return text + "\n"
}

func TestTheREADMEsCommandsRunAsPrinted(t *testing.T) {
	t.Parallel()
	install, commands, _ := strings.Cut(block(t, "readme_test.go -->\n```sh"), "\n")
	require.True(t, strings.HasPrefix(install, "go install ./examples/agl "), "the command under test is in the PATH already: %s", install)
	out := shell(t, commands+"git log --format=%s; ls")
	require.Contains(t, out, "issue-12 is done")
	require.Contains(t, out, "cleared issue-12\nfix: greet the world (round 2)\nfix: greet the world (round 1)\nfirst\ngreet.go\ngreet_test.go\n")
}

func TestTheREADMEsCommandsOfSplitRunAsPrinted(t *testing.T) {
	t.Parallel()
	out := shell(t, block(t, "by the same test -->\n```sh")+"ls")
	require.Contains(t, out, "issue-13 is done")
	require.Regexp(t, `(?m)^page +2 +1,384 +[0-9a-f]{10} +-$`, out)
	require.Contains(t, out, "cleared issue-13\nfrench.txt\ngerman.txt\ngreetings.txt\npage.md\n")
}

// shell runs commands as a person at the root of a clone would.
func shell(t *testing.T, commands string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(gittest.Env(t), "TMPDIR="+t.TempDir(),
		"GIT_AUTHOR_NAME=Tess", "GIT_AUTHOR_EMAIL=tess@example.com", "GIT_COMMITTER_NAME=Tess", "GIT_COMMITTER_EMAIL=tess@example.com")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", out, &stderr)
	return string(out)
}

func TestTheREADMEsScriptPlaysFix(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "fix.txtar")
	require.NoError(t, os.WriteFile(file, []byte(block(t, "plays this -->\n```")), 0o600))
	repo := gittest.New(t, nil)
	ask(t, repo, "run", "fix", "-n", "demo", "-r", "x", "--script", file)
	require.Equal(t, "Hello, world!", repo.Git("show", "agl/demo:greet.txt"))
}
