// Package sealed makes the environments in which the vendors' programs talk to
// a fake on loopback: in tests, and where it is looked into whether an installed
// one can be worked with. An environment is made from nothing: none of this
// process's variables, no key, no login and no setting of anybody's is in it,
// and with it a program asks no other host.
package sealed

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Claude returns the whole environment for Claude Code to talk to the service at
// url. All that it writes is in dir.
func Claude(dir, url string) ([]string, error) {
	home, env, err := base(dir)
	return append(
		env,
		"CLAUDE_CONFIG_DIR="+filepath.Join(home, "claude"),
		"ANTHROPIC_BASE_URL="+url,
		"ANTHROPIC_API_KEY=fake-key",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", // with it, it asks no other host
	), err
}

// Codex returns the whole environment for Codex to talk to the service at url.
// That is one of the user's own, in the file config.toml of CODEX_HOME: the
// vendor's would be asked over a websocket first, and other hosts for what has
// been bought. All that it writes is in dir.
func Codex(dir, url string) ([]string, error) {
	home, env, err := base(dir)
	if err != nil {
		return nil, err
	}
	config := `model_provider = "fake"

[model_providers.fake]
name = "a fake"
base_url = "` + url + `/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
`
	codex := filepath.Join(home, "codex")
	if err := os.MkdirAll(codex, 0o700); err != nil {
		return nil, err
	}
	return append(env, "CODEX_HOME="+codex, "FAKE_KEY=fake-key"), os.WriteFile(filepath.Join(codex, "config.toml"), []byte(config), 0o600)
}

// Copilot returns the whole environment for the Copilot CLI to talk to the service
// at url. All that it writes is in dir, and that are 235 MB which it is made of: a
// caller that has them already names their folder, in COPILOT_PKG_CACHE_HOME.
func Copilot(dir, url string) ([]string, error) {
	home, env, err := base(dir)
	return append(
		env,
		"COPILOT_HOME="+filepath.Join(home, "copilot"),
		"COPILOT_OFFLINE=true", // with it, it asks no other host
		"COPILOT_AUTO_UPDATE=false",
		"COPILOT_PROVIDER_BASE_URL="+url+"/v1",
		"COPILOT_PROVIDER_API_KEY=fake-key",
		"COPILOT_MODEL=fake-model",
	), err
}

// WithPath returns env with the PATH of another environment, on which an installed
// program may have to find what it is run by. It is all that env takes from it.
func WithPath(env, from []string) []string {
	for _, entry := range from {
		name, _, _ := strings.Cut(entry, "=")
		if name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			env = append(env, entry)
		}
	}
	return env
}

// base returns what every program needs, with a home and a folder for temporary
// files below dir, none of which is in the other.
func base(dir string) (home string, env []string, err error) {
	home, temp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, folder := range []string{home, temp} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return "", nil, err
		}
	}
	env = []string{
		"HOME=" + home,
		"TMPDIR=" + temp,
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"LANG=C.UTF-8",
		"TERM=dumb",
	}
	if runtime.GOOS == "windows" { // where these are what HOME and TMPDIR are elsewhere
		env = append(env, "USERPROFILE="+home, "APPDATA="+home, "LOCALAPPDATA="+home, "TEMP="+temp, "TMP="+temp)
	}
	return home, env, nil
}
