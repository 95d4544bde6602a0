package codex

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/agl/internal/jsonrpc"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// A service is what the user's own configuration says of the service that Codex
// is to speak to: all that is taken of it.
type service struct {
	Config  object // the keys for a thread of ours
	EnvKey  string // the variable that has to hold the key; "" if none has to
	Missing bool   // and does not
	Login   bool   // somebody has to be logged in
	Account bool   // and is

	Keys []string // all variables of which the service is sent what they hold
}

type object = map[string]any

// serviceKeys are the keys of the configuration that say which service it is.
var serviceKeys = []string{"model_provider", "openai_base_url", "chatgpt_base_url"}

// userHome is the folder in which the user's Codex keeps its configuration and
// its login; "" if the environment names none, or none that is the same wherever
// the program runs.
func (a *Agent) userHome() string {
	env := a.prog.Env
	if env == nil {
		env = os.Environ()
	}
	value := func(name string) (found string) {
		for _, entry := range env {
			if v, ok := strings.CutPrefix(entry, name+"="); ok {
				found = v
			}
		}
		return found
	}
	dir := value("CODEX_HOME")
	if dir == "" {
		home := value("HOME")
		if runtime.GOOS == "windows" {
			home = value("USERPROFILE")
		}
		if home == "" {
			return "" // and not the .codex of the folder that AGL is in, which may be a repository's
		}
		dir = filepath.Join(home, ".codex")
	}
	if whole, err := filepath.Abs(dir); err == nil { // links to it lie elsewhere
		dir = whole
	}
	return dir
}

// patience is how long the program may take to answer what it is asked there.
func (a *Agent) patience() time.Duration { return min(a.idle(), vendorprog.Readiness) }

// ask starts the program at a path as its user has set it up, and asks what it would do.
// No thread is begun, so that nothing of what is set up there is started.
func (a *Agent) ask(ctx context.Context, program string) (*service, error) {
	room, err := newRoom("")
	if err != nil {
		return nil, err
	}
	defer room.remove()
	p := vendorprog.Start(&proc.Cmd{
		Args: append([]string{program}, arguments()...), Dir: room.tmp, Env: a.prog.Environ("TMPDIR=" + room.tmp), Grace: a.grace(),
	})
	conn := jsonrpc.New(ctx, p.Stdout, p.Stdin, jsonrpc.Options{Bare: true})
	defer conn.Close()
	defer p.End()
	asking, cancel := context.WithTimeout(ctx, a.patience())
	defer cancel()

	var config struct{ Config object }
	var account struct {
		Account            object
		RequiresOpenaiAuth bool
	}
	err = conn.Call(asking, "initialize", initialize(), nil)
	if err == nil {
		err = conn.Notify(asking, "initialized", nil)
	}
	if err == nil {
		err = conn.Call(asking, "config/read", object{"includeLayers": false}, &config)
	}
	if err == nil {
		err = conn.Call(asking, "account/read", object{"refreshToken": false}, &account)
	}
	conn.Finish()
	select { // it ends by itself when there is nothing more to read
	case <-p.Gone():
	case <-asking.Done():
	case <-time.After(a.grace()):
	}
	if err != nil {
		return nil, a.unasked(ctx, p, err)
	}
	s := &service{Config: object{}, Login: account.RequiresOpenaiAuth, Account: account.Account != nil}
	for _, key := range serviceKeys {
		if value := config.Config[key]; value != nil {
			s.Config[key] = value
		}
	}
	name, _ := config.Config["model_provider"].(string)
	providers, _ := config.Config["model_providers"].(object)
	if provider, ok := providers[name].(object); ok {
		s.provider(a, name, provider)
	}
	a.mu.Lock()
	a.known = s
	a.mu.Unlock()
	return s, nil
}

// provider takes what is said of a service that is not the vendor's own.
func (s *service) provider(a *Agent, name string, provider object) {
	provider, _ = whole(provider).(object)
	provider["request_max_retries"], provider["stream_max_retries"] = a.retries(), a.retries()
	// A stream that hangs is ended by the limit of this package: here it would be
	// tried again.
	provider["stream_idle_timeout_ms"] = 2 * a.idle().Milliseconds()
	s.Config["model_providers"] = object{name: provider}
	headers, _ := provider["env_http_headers"].(object)
	for _, variable := range headers {
		if held, ok := variable.(string); ok && held != "" {
			s.Keys = append(s.Keys, held)
		}
	}
	key, _ := provider["env_key"].(string)
	if key == "" {
		return
	}
	s.Keys = append(s.Keys, key)
	s.EnvKey, s.Missing = key, !slices.ContainsFunc(a.prog.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, key+"=") && len(entry) > len(key)+1
	})
}

// whole returns a value without its null members, which no configuration has.
func whole(value any) any {
	switch v := value.(type) {
	case object:
		kept := object{}
		for name, member := range v {
			if member != nil {
				kept[name] = whole(member)
			}
		}
		return kept
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return value
}

// service returns what is known of the user's configuration: of turns that begin
// at once, one asks for it.
func (a *Agent) service(ctx context.Context, program string) (*service, error) {
	select {
	case a.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, a.prog.Cancelled(ctx)
	}
	defer func() { <-a.asking }()
	a.mu.Lock()
	known := a.known
	a.mu.Unlock()
	if known != nil {
		return known, nil
	}
	return a.ask(ctx, program)
}

func (s *service) ready(a *Agent) error {
	switch {
	case s.Missing:
		return ports.Unavailable.Errorf(op, "there is no key for the service %v; set %s", s.Config["model_provider"], s.EnvKey)
	case s.Login && !s.Account:
		return ports.Unavailable.Errorf(op, "nobody is logged in; %s", a.howToLogIn())
	}
	return nil
}

func (a *Agent) howToLogIn() string {
	return "run \"" + a.prog.Name + " login\", or \"printenv OPENAI_API_KEY | " + a.prog.Name + " login --with-api-key\""
}

// unasked is the error of a program that did not answer.
func (a *Agent) unasked(ctx context.Context, p *vendorprog.Process, err error) error {
	failed := (*jsonrpc.Error)(nil)
	switch {
	case ctx.Err() != nil:
		return a.prog.Cancelled(ctx)
	case errors.Is(err, jsonrpc.ErrEnded):
		p.End()
		exit, err := p.Exit()
		if err != nil && !errors.Is(err, context.Canceled) {
			return a.prog.Unstarted(ctx, err)
		}
		return ports.Unavailable.Errorf(op, "%s does not speak its live channel (%v: %s); AGL works with version %s and later",
			a.prog.Name, exit, vendorprog.Quote(p.Stderr.String()), versions.Oldest)
	case errors.As(err, &failed):
		return ports.Unavailable.Errorf(op, "it does not answer as version %s does, which AGL works with: %s", versions.Oldest, vendorprog.Quote(failed.Message))
	case errors.Is(err, context.DeadlineExceeded):
		return ports.Unavailable.Errorf(op, "%s did not answer within %v", a.prog.Name, a.patience())
	default:
		return ports.Unavailable.Errorf(op, "%w", err)
	}
}

// initialize are the params of the first call.
func initialize() object {
	return object{
		"clientInfo":   object{"name": "agl", "title": "AGL", "version": "1"},
		"capabilities": object{"experimentalApi": true, "requestAttestation": false},
	}
}
