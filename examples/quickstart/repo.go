package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// makeRepository makes a repository with one commit.
func makeRepository(ctx context.Context, dir string) error {
	repo := repository(dir)
	if err := os.Mkdir(repo, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"go.mod":   "module example.com/greet\n\ngo 1.26\n",
		"greet.go": "// Package greet greets.\npackage greet\n\n// Greet greets name.\nfunc Greet(name string) string { return \"Hello, \" + name + \"!\" }\n",
	} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "Quick Start"},
		{"config", "user.email", "quickstart@example.com"},
		{"add", "."},
		{"-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "greet people by name"},
	} {
		if _, err := git(ctx, repo, args...); err != nil {
			return err
		}
	}
	return nil
}

// git runs git in repo, whatever repository the environment is about.
func git(ctx context.Context, repo string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = repo
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GIT_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
