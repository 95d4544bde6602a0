package gittest

import (
	"slices"
	"strings"
	"testing"
)

// What the machine that runs the tests says of itself must not reach what they
// start: a CI, for one, is a place where nobody answers.
func TestTheEnvironmentIsNotThatOfWhoRunsTheTests(t *testing.T) {
	for _, name := range []string{"CI", "TERM", "NO_COLOR", "LANG", "GITHUB_ACTIONS", "AGL_BUILD", "GIT_DIR", "XDG_CONFIG_HOME", "EMAIL", "SOMETHING"} {
		t.Setenv(name, "leaked")
	}
	env := Env(t)
	if i := slices.IndexFunc(env, func(entry string) bool { return strings.Contains(entry, "leaked") }); i >= 0 {
		t.Errorf("%s gets through", env[i])
	}
}
