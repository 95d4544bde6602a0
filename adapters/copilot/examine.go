package copilot

import (
	"context"
	"path/filepath"
	"runtime"
	"time"

	"example.com/agl/internal/examine"
	"example.com/agl/internal/sealed"
	"example.com/agl/ports"
)

var _ ports.Examiner = (*Agent)(nil)

// versions are those of the program that have the channel, and were tested.
var versions = examine.Range{Oldest: "1.0.102", Newest: "1.0.102"}

// Examine looks for the program, and into its version, its channel and its login.
func (a *Agent) Examine(ctx context.Context) ports.Examination { return a.examined().Examine(ctx) }

func (a *Agent) examined() *examine.Program {
	environ := a.environ("")
	return &examine.Program{
		Program: &a.program, Named: a.opts.Program != "", Environ: environ, Range: versions,
		Login: func(ctx context.Context, path string) error { return a.loggedIn(ctx, path, "") },
		Open: examine.Against(environ, examine.Setting{
			Seal: func(dir, url string) ([]string, error) {
				env, err := sealed.Copilot(dir, url)
				if own := packages(environ); own != "" {
					env = append(env, packageCache+"="+own)
				}
				return env, err
			},
			Tool: func(name string) string { return name },
			Agent: func(path string, env []string) ports.Agent {
				return New(Options{Program: path, Env: env, Retries: -1, Grace: time.Second})
			},
		}),
	}
}

// packageCache is the variable that says where the program unpacks what it is
// made of, and finds it: nothing else is there.
const packageCache = "COPILOT_PKG_CACHE_HOME"

// packages is where the program keeps what it is made of, in this environment: ""
// if that is not known. It asks for its own version there first, so that it is
// unpacked when a turn begins; in a folder of its own, a turn would unpack it once
// more.
func packages(env []string) string {
	home, below := valueIn(env, "HOME"), []string{".cache", "copilot"}
	for _, name := range []string{packageCache, "COPILOT_CACHE_HOME"} {
		if dir := valueIn(env, name); dir != "" {
			return dir
		}
	}
	cache := ""
	switch runtime.GOOS {
	case "darwin":
		below = []string{"Library", "Caches", "copilot"}
	case "windows":
		home, cache = valueIn(env, "USERPROFILE"), valueIn(env, "LOCALAPPDATA")
	default:
		cache = valueIn(env, "XDG_CACHE_HOME")
	}
	switch {
	case cache != "":
		return filepath.Join(cache, "copilot")
	case home != "":
		return filepath.Join(append([]string{home}, below...)...)
	}
	return ""
}
