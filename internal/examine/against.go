package examine

import (
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/sealed"
	"example.com/agl/ports"
)

// A Setting is what an adapter brings for a turn against a fake of its vendor's
// service.
type Setting struct {
	// Seal makes the environment in which the program talks to the service at url:
	// one of package sealed.
	Seal func(dir, url string) ([]string, error)
	// Tool is the name by which the model calls a tool of the role's.
	Tool func(name string) string
	// Agent is the adapter's own, over the program at path in env. It should give
	// up soon: the service is there, or nowhere.
	Agent func(path string, env []string) ports.Agent
}

// Against is a Program's Open by package fakeapi. Of environ, the operator's own
// environment, it takes the PATH.
func Against(environ []string, s Setting) func(path, dir string, call Call) (ports.Agent, func(), error) {
	return func(path, dir string, call Call) (ports.Agent, func(), error) {
		api, end, err := fakeapi.Start(func(r fakeapi.Request) fakeapi.Reply {
			if r.Turn == 0 {
				return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: s.Tool(call.Tool), Args: call.Args}}}
			}
			for _, result := range r.Results() {
				call.Heard(result.String())
			}
			return fakeapi.Reply{Texts: []string{"done"}}
		})
		if err != nil {
			return nil, nil, err
		}
		env, err := s.Seal(dir, api.URL)
		if err != nil {
			end()
			return nil, nil, err
		}
		return s.Agent(path, sealed.WithPath(env, environ)), end, nil
	}
}
