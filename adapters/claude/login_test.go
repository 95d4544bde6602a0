package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// A key helper in somebody's settings, those of the folder that AGL is started in
// for one, helps no turn, which has no settings: it is no login.
func TestAKeyHelperInSettingsIsNoLogin(t *testing.T) {
	t.Parallel()
	program, all := vendortest.Claude(t, "http://127.0.0.1:1")
	var env []string
	for _, entry := range all {
		name, value, _ := strings.Cut(entry, "=")
		if name == "ANTHROPIC_API_KEY" {
			continue
		}
		env = append(env, entry)
		if name == "CLAUDE_CONFIG_DIR" {
			require.NoError(t, os.MkdirAll(value, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(value, "settings.json"), []byte(`{"apiKeyHelper":"echo k"}`), 0o600))
		}
	}
	err := claude.New(claude.Options{Program: program, Env: env}).Ready(t.Context(), "claude/haiku")
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, "nobody is logged in")
}
