// Package vendortest is the only way in which tests come by the vendors'
// programs: those that testdata/vendors/package.json pins, never one that this
// machine has, and in an environment that is made from nothing. What they are
// told to talk to is a fake on loopback.
package vendortest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"example.com/agl/internal/sealed"
)

// Require is a variable of the environment under which a test that needs a
// program fails where that is not installed, instead of being skipped.
const Require = "AGL_REQUIRE_VENDORS"

// Claude returns the path of Claude Code, and the whole environment for it to
// talk to the service at url. The test is skipped if it is not installed.
func Claude(t testing.TB, url string) (program string, env []string) {
	t.Helper()
	return installed(t, "@anthropic-ai/claude-code-"+platform(), "claude"), ClaudeEnv(t, url)
}

// ClaudeEnv returns the whole environment for Claude Code, or something in its
// place. Nothing of this process's environment is in it.
func ClaudeEnv(t testing.TB, url string) []string {
	t.Helper()
	return made(t)(sealed.Claude(t.TempDir(), url))
}

// made fails the test if an environment could not be made.
func made(t testing.TB) func(env []string, err error) []string {
	return func(env []string, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
}

// Version returns the version of a package that testdata/vendors pins.
func Version(t testing.TB, pkg string) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(vendors(), "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var pinned struct{ Dependencies map[string]string }
	if err := json.Unmarshal(doc, &pinned); err != nil || pinned.Dependencies[pkg] == "" {
		t.Fatalf("testdata/vendors/package.json pins no %s (%v)", pkg, err)
	}
	return pinned.Dependencies[pkg]
}

// vendors is the folder in which the programs are installed.
func vendors() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "testdata", "vendors")
}

// Codex returns the path of Codex, and the whole environment for it to talk to
// the service at url. The test is skipped if it is not installed.
func Codex(t testing.TB, url string) (program string, env []string) {
	t.Helper()
	system := map[string]string{"linux": "unknown-linux-musl", "darwin": "apple-darwin", "windows": "pc-windows-msvc"}[runtime.GOOS]
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	return installed(t, "@openai/codex-"+platform(), "vendor/"+arch+"-"+system+"/bin/codex"), CodexEnv(t, url)
}

// CodexEnv returns the whole environment for Codex, or something in its place.
// Nothing of this process's environment is in it.
func CodexEnv(t testing.TB, url string) []string {
	t.Helper()
	return made(t)(sealed.Codex(t.TempDir(), url))
}

// Copilot returns the path of the Copilot CLI, and the whole environment for it to
// talk to the service at url. The test is skipped if it is not installed.
func Copilot(t testing.TB, url string) (program string, env []string) {
	t.Helper()
	return installed(t, "@github/copilot-"+platform(), "copilot"), CopilotEnv(t, url)
}

// A Handover is a program and its whole environment, as this package has made
// them, for another process of a test's own.
type Handover struct {
	Program string
	Env     []string
}

// CopilotEnv returns the whole environment for the Copilot CLI, or something in
// its place. Nothing of this process's environment is in it.
func CopilotEnv(t testing.TB, url string) []string {
	t.Helper()
	return append(made(t)(sealed.Copilot(t.TempDir(), url)), "COPILOT_PKG_CACHE_HOME="+unpacked(t))
}

// unpacked is where the Copilot CLI puts the 235 MB that it is made of, and looks
// for them: the same for all tests, beside the program if that may be written to.
func unpacked(t testing.TB) string {
	t.Helper()
	for _, dir := range []string{filepath.Join(vendors(), "node_modules", ".cache"), filepath.Join(os.TempDir(), fmt.Sprintf("agl-vendors-%d", os.Getuid()))} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			continue // nothing is installed there, or it is another's
		}
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
			continue // others could put something else there
		}
		if file, err := os.CreateTemp(dir, "writable"); err == nil {
			file.Close()
			os.Remove(file.Name())
			return dir
		}
	}
	return t.TempDir()
}

// platform is the end of a package's name for this system.
func platform() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	system := map[string]string{"windows": "win32"}[runtime.GOOS]
	if system == "" {
		system = runtime.GOOS
	}
	return system + "-" + arch
}

// installed returns the path of a program of a package.
func installed(t testing.TB, pkg, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(vendors(), "node_modules", filepath.FromSlash(pkg), filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		missing := fmt.Sprintf("%s is not installed; run: npm --prefix testdata/vendors ci", pkg)
		if os.Getenv(Require) == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return path
}
