package codex_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

func TestWhetherATurnCouldStartIsFoundOutWithoutTheService(t *testing.T) {
	t.Parallel()
	program, env := vendortest.Codex(t, "http://127.0.0.1:1")
	home := ""
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "CODEX_HOME="); ok {
			home = dir
		}
	}
	ready := func(env []string) error {
		return codex.New(codex.Options{Program: program, Env: env}).Ready(t.Context(), "codex/fake-model")
	}
	require.NoError(t, ready(env))
	without := slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, "FAKE_KEY=") })
	err := ready(without)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, "FAKE_KEY")

	// At the vendor's own service somebody has to be logged in.
	require.NoError(t, os.Remove(filepath.Join(home, "config.toml")))
	err = ready(env)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, " login")
	require.NoError(t, os.WriteFile(filepath.Join(home, "auth.json"), []byte(`{"auth_mode":"apikey","OPENAI_API_KEY":"fake-key"}`), 0o600))
	require.NoError(t, ready(env))
}
