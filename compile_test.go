package agl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var wantComment = regexp.MustCompile(`// want (".*")$`)

// Each package below testdata/nocompile has one mistake, on a line that says
// what the compiler must say of it, and nothing else wrong.
func TestMistakesThatMustNotCompile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/nocompile/*/x.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out, err := exec.Command("go", "build", "-gcflags=-e", "./testdata/nocompile/...").CombinedOutput()
	require.Error(t, err)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			line, want := expectation(t, file)
			found := false
			for _, said := range strings.Split(string(out), "\n") {
				if !strings.HasPrefix(said, file+":") {
					continue
				}
				if !strings.HasPrefix(said, fmt.Sprintf("%s:%d:", file, line)) {
					t.Errorf("another mistake than the one that is meant: %s", said)
				}
				found = found || strings.Contains(said, want)
			}
			if !found {
				t.Errorf("the compiler does not say %q of line %d", want, line)
			}
		})
	}
}

func expectation(t *testing.T, file string) (line int, want string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for i, l := range strings.Split(string(text), "\n") {
		if m := wantComment.FindStringSubmatch(l); m != nil {
			require.Zero(t, line, "%s has two mistakes", file)
			line = i + 1
			want, err = strconv.Unquote(m[1])
			require.NoError(t, err)
		}
	}
	require.NotZero(t, line, "%s has no mistake", file)
	return line, want
}
