package examine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"example.com/agl/ports"
)

// A Call is what the fake of a vendor's service has the model do: it calls Tool
// with Args, and, when that has answered, ends its turn.
type Call struct {
	Tool  string             // its name as the role knows it
	Args  string             // a JSON object
	Heard func(reply string) // called with what the tool answered, as the model reads it
}

// channel runs one turn with a tool, all of the adapter's own code, and says what
// came of it.
func (p *Program) channel(ctx context.Context, path string) ports.Finding {
	f := ports.Finding{Name: "channel", State: ports.FoundOK, Detail: "a turn with a tool works, with a fake service on loopback"}
	if err := p.turn(ctx, path); err != nil {
		f.State, f.Fix = ports.FoundProblem, p.Install
		f.Detail = "a turn with a tool failed: " + strings.TrimPrefix(err.Error(), p.Op+": ")
		if ctx.Err() != nil {
			f.Detail = late(ctx, "a turn with a tool did not end")
		}
	}
	return f
}

func (p *Program) turn(ctx context.Context, path string) (err error) {
	dir, err := os.MkdirTemp("", "agl-doctor-")
	if err != nil {
		return err
	}
	defer func() { // the program has ended
		if removed := os.RemoveAll(dir); err == nil {
			err = removed
		}
	}()
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}

	// Words that nobody can have guessed go to the tool and come back from it.
	ask, answer := rand.Text(), rand.Text()
	var mu sync.Mutex
	var asked, heard string
	agent, end, err := p.Open(path, dir, Call{
		Tool: "knock", Args: fmt.Sprintf(`{"word":%q}`, ask),
		Heard: func(reply string) {
			mu.Lock()
			defer mu.Unlock()
			heard = reply
		},
	})
	if err != nil {
		return err
	}
	defer end()
	tool := ports.Tool{
		Name: "knock", Doc: "Answers a knock.",
		Schema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"],"additionalProperties":false}`),
		Call: func(_ context.Context, args json.RawMessage) ports.ToolResult {
			var in struct{ Word string }
			_ = json.Unmarshal(args, &in) // a word that is not there is not the one
			mu.Lock()
			defer mu.Unlock()
			asked = in.Word
			return ports.ToolResult{Text: answer}
		},
	}
	o, err := agent.Run(ctx, ports.Task{
		Run: "doctor", Namespace: ports.Base, Role: "doctor", Ordinal: 1, Model: "doctor/",
		Instructions: "Knock once.", Dir: work, Tools: []ports.Tool{tool}, Restrictions: []ports.Restriction{ports.NoWrite},
		Env: []string{ports.EnvStep + "=doctor-" + rand.Text()}, // by which it is ended, should this process be killed
	}, func(ports.AgentEvent) {})
	mu.Lock()
	defer mu.Unlock()
	switch {
	case err != nil:
		return err
	case o.Stop != ports.StopCompleted:
		return fmt.Errorf("the turn ended early (%s)", o.Stop)
	case asked != ask:
		return errors.New("the tool was not called")
	case !strings.Contains(heard, answer):
		return errors.New("the model did not get the tool's answer")
	}
	return nil
}
