//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
)

// A cast is the models of both vendors. Each plays one role, in two replies; the
// second may be held back, and then whoever waits for it is in the middle of a turn.
type cast struct {
	*testing.T
	repo *gittest.Repo
	env  []string

	mu    sync.Mutex
	begun map[string]int           // conversations, by model
	held  map[string]chan struct{} // a model whose second reply waits until that is closed
	waits map[string]int           // for it
}

// newCast starts the services of models that make these first replies.
func newCast(t *testing.T, first map[string]func(heard string) []fakeapi.Call) *cast {
	c := &cast{T: t, repo: gittest.New(t, nil), begun: map[string]int{}, held: map[string]chan struct{}{}, waits: map[string]int{}}
	script := func(r fakeapi.Request) fakeapi.Reply {
		for name := range first { // Claude Code has longer names than it is given
			if strings.Contains(r.Model, name) {
				r.Model = name
			}
		}
		if r.Turn == 0 {
			c.mu.Lock()
			c.begun[r.Model]++
			c.mu.Unlock()
			return fakeapi.Reply{Calls: first[r.Model](r.Heard()), Usage: fakeapi.Usage{Input: 100, Output: 10}}
		}
		c.mu.Lock()
		hold := c.held[r.Model]
		c.waits[r.Model]++
		c.mu.Unlock()
		if hold != nil {
			<-hold
		}
		return fakeapi.Reply{Texts: []string{"done"}}
	}
	claude, codex := fakeapi.New(t, script), fakeapi.New(t, script)
	claudeProgram, env := vendortest.Claude(t, claude.URL)
	codexProgram, codexEnv := vendortest.Codex(t, codex.URL)
	env = append(env, codexEnv...) // the later ones win, and what Claude Code's own variables say stays
	c.env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "AGL_CLAUDE="+claudeProgram, "AGL_CODEX="+codexProgram)
	return c
}

func (c *cast) agl(args ...string) *exec.Cmd {
	cmd := exec.Command("agl", args...)
	cmd.Dir, cmd.Env = c.repo.Dir, c.env
	return cmd
}

// killedIn runs agl, and kills it when n turns of a model are in their middle.
func (c *cast) killedIn(model string, n int, args ...string) {
	c.Helper()
	hold := make(chan struct{})
	c.mu.Lock()
	c.held[model], c.waits[model] = hold, 0
	c.mu.Unlock()
	var out strings.Builder
	cmd := c.agl(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(c, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	require.Eventually(c, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.waits[model] == n || len(ended) > 0
	}, 2*time.Minute, 5*time.Millisecond)
	_ = cmd.Process.Kill()
	require.ErrorContains(c, <-ended, "killed", "%s", &out)
	c.mu.Lock()
	c.held[model] = nil
	c.mu.Unlock()
	close(hold)
}

// ends runs agl to its end.
func (c *cast) ends(args ...string) {
	c.Helper()
	out, err := c.agl(args...).CombinedOutput()
	require.NoError(c, err, "%s", out)
}

func (c *cast) bought(want map[string]int) {
	c.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Equal(c, want, c.begun)
}

func reports(value string) func(string) []fakeapi.Call {
	return func(string) []fakeapi.Call { return []fakeapi.Call{{Tool: "report", Args: value}} }
}

func TestFixIsKilledInTheTurnsOfBothVendorsAndGoesOn(t *testing.T) {
	t.Parallel()
	c := newCast(t, map[string]func(string) []fakeapi.Call{
		"opus": func(string) []fakeapi.Call {
			return []fakeapi.Call{
				{Tool: "Bash", Args: `{"command":"echo made >>made.txt"}`}, {Tool: "mcp__agl__report", Args: `{"summary":"make a file"}`},
			}
		},
		"gpt-5-codex": reports(`{"items":[]}`),
	})
	c.killedIn("opus", 1, "run", "fix", "-n", "demo", "-r", "make a file")
	c.killedIn("gpt-5-codex", 1, "resume", "demo")
	c.ends("resume", "demo")
	want := map[string]int{"opus": 2, "gpt-5-codex": 2} // each once more than it was killed
	c.bought(want)
	require.Equal(t, "made", c.repo.Git("show", "agl/demo:made.txt"), "what the killed turn had written is in salvage, and only there")
	c.ends("resume", "demo")
	c.bought(want)
}

func TestSplitIsKilledInTheTurnsOfBothVendorsAndGoesOn(t *testing.T) {
	t.Parallel()
	c := newCast(t, map[string]func(string) []fakeapi.Call{
		"opus": func(string) []fakeapi.Call {
			return []fakeapi.Call{{Tool: "mcp__agl__report", Args: `{"chunks":[{"id":"one","task":"Write one.txt."},{"id":"two","task":"Write two.txt."}]}`}}
		},
		"sonnet": func(heard string) []fakeapi.Call {
			file := "two.txt"
			if strings.Contains(heard, "one.txt") {
				file = "one.txt"
			}
			return []fakeapi.Call{
				{Tool: "Bash", Args: `{"command":"echo built >>` + file + `"}`}, {Tool: "mcp__agl__report", Args: `{"summary":"write ` + file + `"}`},
			}
		},
		"gpt-5-codex": reports(`{"items":[]}`),
	})
	c.killedIn("opus", 1, "run", "split", "-n", "demo", "-r", "write two files")
	c.killedIn("sonnet", 2, "resume", "demo")
	c.killedIn("gpt-5-codex", 1, "resume", "demo")
	c.ends("resume", "demo")
	want := map[string]int{"opus": 2, "sonnet": 4, "gpt-5-codex": 2}
	c.bought(want)
	require.Equal(t, "built\nbuilt", c.repo.Git("show", "agl/demo:one.txt")+"\n"+c.repo.Git("show", "agl/demo:two.txt"))
	c.ends("resume", "demo")
	c.bought(want)
}
