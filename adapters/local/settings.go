package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"example.com/agl/ports"
)

// settings is a project's settings file.
type settings struct {
	Repo         string   `toml:"repo"` // the common git directory, as Init found it
	Build        *string  `toml:"build"`
	BuildTimeout duration `toml:"build_timeout"`
	Trees        string   `toml:"trees"`
}

// duration is a time.Duration as text.
type duration time.Duration

// UnmarshalText takes Go's duration text, more than nothing.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := parseTimeout(string(text))
	*d = duration(v)
	return err
}

func parseTimeout(text string) (time.Duration, error) {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration like \"90s\" or \"10m\"", text)
	case v <= 0:
		return 0, fmt.Errorf("%q is not more than nothing", text)
	}
	return v, nil
}

// readSettings reads a settings file; without one, every setting is zero.
func readSettings(file string) (settings, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	if err != nil {
		return settings{}, ports.Denied.Errorf("read the project's settings", "%w", err)
	}
	s, err := parseSettings(data)
	if err != nil {
		return settings{}, ports.Invalid.Errorf(file, "%w", err)
	}
	return s, nil
}

func parseSettings(data []byte) (settings, error) {
	var s settings
	meta, err := toml.NewDecoder(bytes.NewReader(data)).Decode(&s)
	var parse toml.ParseError
	switch {
	case errors.As(err, &parse):
		return settings{}, fmt.Errorf("line %d: %s", parse.Position.Line, strings.TrimSuffix(parse.Message, "."))
	case err != nil:
		return settings{}, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return settings{}, fmt.Errorf("key %q is not known; known are build, build_timeout, trees and repo", unknown[0].String())
	}
	for key, value := range map[string]string{"trees": s.Trees, "repo": s.Repo} {
		if meta.IsDefined(key) && !filepath.IsAbs(value) {
			return settings{}, fmt.Errorf("%s = %q is not an absolute path", key, value)
		}
	}
	return s, nil
}

// writeSettings writes a settings file that says in comments what can be set.
func writeSettings(file string, s settings, defaultTrees string) error {
	build, timeout, trees := "go test ./...", defaultTimeout, defaultTrees
	var setBuild, setTimeout, setTrees bool
	if s.Build != nil {
		build, setBuild = *s.Build, true
	}
	if s.BuildTimeout != 0 {
		timeout, setTimeout = time.Duration(s.BuildTimeout), true
	}
	if s.Trees != "" {
		trees, setTrees = s.Trees, true
	}
	var b strings.Builder
	b.WriteString("# AGL's settings for one repository. The environment (AGL_BUILD, AGL_BUILD_TIMEOUT, AGL_TREES) wins over them.\n\n" +
		"# The repository's common git directory; `init --moved` follows it.\n")
	line(&b, true, "repo", s.Repo)
	b.WriteString("\n# The build gate: a command line for the shell, run in the worktree.\n")
	line(&b, setBuild, "build", build)
	b.WriteString("\n# How long the build may take.\n")
	line(&b, setTimeout, "build_timeout", timeout.String())
	b.WriteString("\n# Where the worktrees go: absolute, outside the repository.\n")
	line(&b, setTrees, "trees", trees)
	return writeFile(file, b.String())
}

// line writes a setting, as a comment if it is not set.
func line(b *strings.Builder, set bool, key, value string) {
	if !set {
		b.WriteString("# ")
	}
	// An encoder writes to a strings.Builder without an error.
	_ = toml.NewEncoder(b).Encode(map[string]string{key: value})
}

// writeFile writes a file whole or not at all.
func writeFile(file, text string) error {
	const op = "write the project's settings"
	temp, err := os.CreateTemp(filepath.Dir(file), ".project-*")
	if err != nil {
		return ports.Denied.Errorf(op, "%w", err)
	}
	defer os.Remove(temp.Name()) // after the rename there is nothing to remove
	_, err = temp.WriteString(text)
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	if err := os.Rename(temp.Name(), file); err != nil {
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	return nil
}

// setRepo changes the repo key of a settings file and nothing else of it.
// Without a file there is nothing to change.
func setRepo(file, repo string) error {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return ports.Denied.Errorf("read the project's settings", "%w", err)
	}
	var b strings.Builder
	line(&b, true, "repo", repo)
	lines := strings.SplitAfter(string(data), "\n")
	for i, l := range lines {
		key, _, _ := strings.Cut(l, "=")
		if strings.TrimSpace(key) == "repo" {
			lines[i] = b.String()
			return writeFile(file, strings.Join(lines, ""))
		}
	}
	return writeFile(file, b.String()+string(data))
}
