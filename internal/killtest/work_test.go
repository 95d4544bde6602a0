//go:build linux

package killtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/fix"
	"example.com/agl/ports"
)

// work starts a workflow, or goes on with it, as a service would: over the
// ports of this machine, wrapped so that the process dies where it is told to.
func work(args []string) int {
	workflow, label, script := args[0], args[1], args[2]
	err := func() (err error) {
		ctx := context.Background()
		set, err := local.New(ctx, local.Options{Script: script})
		if err != nil {
			return err
		}
		p := here()
		set.Store = mortalStore{set.Store, &mortal{point: p, what: write}}
		starts := &mortal{point: p, what: start}
		for provider, agent := range set.Agents {
			set.Agents[provider] = mortalAgent{agent, starts}
		}
		set.Verifier = mortalVerifier{set.Verifier, starts}
		engine, err := agl.New(set, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, engine.Close()) }()
		return engine.Start(ctx, label, jobOf(workflow), &agl.StartOptions{Resume: true})
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
	}
	return agl.ExitCode(err)
}

func jobOf(workflow string) agl.Job {
	switch workflow {
	case "fix":
		return fix.Workflow.With(fix.Params{Request: request})
	case "crowd":
		return landings(workflow, "carefully", crowdPlay.chunks, true).With(agl.None{})
	case "pair":
		return landings(workflow, "carefully", pairPlay.chunks, false).With(agl.None{})
	}
	return relay("carefully").With(agl.None{})
}

const request = "say hello"

// A mortal counts what happens, and dies at its point.
type mortal struct {
	point point
	what  event
	n     atomic.Int64
}

func (m *mortal) around(do func()) {
	n := int(m.n.Add(1))
	hit := m.point.what == m.what && m.point.at == n
	if hit && m.point.when == before {
		killSelf()
	}
	do()
	if hit && m.point.when == after {
		killSelf()
	}
	if file := os.Getenv(envCalls); file != "" { // how many there are is the number of lines
		f, err := os.OpenFile(file+"."+string(m.what), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err == nil {
			_, _ = f.WriteString(".\n")
			_ = f.Close()
		}
	}
}

// mortalStore dies before or after a write or a removal.
type mortalStore struct {
	ports.Store
	writes *mortal
}

func (s mortalStore) Write(ctx context.Context, label, name string, doc []byte, d ports.Durability) (err error) {
	s.writes.around(func() { err = s.Store.Write(ctx, label, name, doc, d) })
	return err
}

func (s mortalStore) Delete(ctx context.Context, label, name string) (err error) {
	s.writes.around(func() { err = s.Store.Delete(ctx, label, name) })
	return err
}

// mortalAgent dies before or after a turn.
type mortalAgent struct {
	ports.Agent
	starts *mortal
}

func (a mortalAgent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (out ports.Outcome, err error) {
	a.starts.around(func() { out, err = a.Agent.Run(ctx, task, emit) })
	return out, err
}

// mortalVerifier dies before or after the build.
type mortalVerifier struct {
	ports.Verifier
	starts *mortal
}

func (v mortalVerifier) Verify(ctx context.Context, task ports.VerifyTask) (verdict ports.Verdict, err error) {
	v.starts.around(func() { verdict, err = v.Verifier.Verify(ctx, task) })
	return verdict, err
}

// playAgent is a program that an agent runs: agent NAME#N. It notes that the
// agent was started; at its point it kills AGL, and may live on.
func playAgent(args []string) int {
	if err := started(args[0]); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		return 1
	}
	p := here()
	if p.what != program {
		return 0
	}
	if n := strings.Count(read(os.Getenv(envCounter)), "\n"); n != p.at {
		return 0
	}
	for _, pid := range ancestors(os.Getpid()) {
		if isAGL(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if p.when == outlived { // until a resume ends it
		_ = os.WriteFile(filepath.Join(filepath.Dir(os.Getenv(envCounter)), "agent-lives"), nil, 0o600)
		_ = syscall.Pause()
	}
	return 0
}

// started notes that an agent, a function or a build was started.
func started(name string) error {
	f, err := os.OpenFile(os.Getenv(envCounter), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, name, os.Getenv(envProcess))
	return errors.Join(err, f.Close())
}

// ancestors returns the process that started pid, the one that started that,
// and so on.
func ancestors(pid int) []int {
	var found []int
	for pid > 1 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		var state string
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		if _, err := fmt.Sscan(rest, &state, &pid); err != nil || slices.Contains(found, pid) {
			break
		}
		found = append(found, pid)
	}
	return found
}
