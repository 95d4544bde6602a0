package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
)

func TestNoVariableWithAKeyOfTheServiceReachesACommand(t *testing.T) {
	t.Parallel()
	api := fakeapi.New(t, func(r fakeapi.Request) fakeapi.Reply {
		if r.Turn == 0 {
			return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "exec_command", Args: `{"cmd":"env"}`}}}
		}
		return fakeapi.Reply{Texts: []string{"done"}}
	})
	program, env := vendortest.Codex(t, api.URL)
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "CODEX_HOME="); ok {
			path := filepath.Join(dir, "config.toml")
			config, err := os.ReadFile(path)
			require.NoError(t, err)
			config = append(config, "[model_providers.fake.env_http_headers]\nX-Gateway = \"GATEWAY_PASS\"\n"...)
			require.NoError(t, os.WriteFile(path, config, 0o600))
		}
	}
	env = append(env, "GATEWAY_PASS=gateway-secret", "OPENAI_API_KEY=fake-openai", "CODEX_API_KEY=fake-codex", "PLAIN=plain-value")
	agent := codex.New(codex.Options{Program: program, Env: env, Retries: -1})
	_, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	said := api.Requests()[len(api.Requests())-1].Results()
	require.NotEmpty(t, said)
	require.Contains(t, said[0].String(), "plain-value")
	for _, secret := range []string{"fake-key", "fake-openai", "fake-codex", "gateway-secret"} {
		require.NotContains(t, said[0].String(), secret)
	}
}
