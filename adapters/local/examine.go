package local

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/agl/adapters/git"
	"example.com/agl/adapters/terminal"
	"example.com/agl/ports"
)

// DefaultExamination is how long each agent has to be examined.
const DefaultExamination = 30 * time.Second

// A Diagnosis is what a person needs to know whose first run does not begin.
type Diagnosis struct {
	Machine []ports.Finding // git, the repository, the settings, where things are kept, the gate, the terminal
	Agents  []ExaminedAgent // by name
}

// An ExaminedAgent is what one agent found out about itself.
type ExaminedAgent struct {
	Name string // its provider
	ports.Examination
	ports.Capabilities
}

// Examine looks into this machine and the agents of the names, or all of them, at
// once, each for at most so long; 0 is DefaultExamination. What is wrong is in the Diagnosis.
// The error is about what was asked: a name that no agent has is NotFound. When
// ctx is cancelled, Examine ends what it started and returns ctx's error.
func Examine(ctx context.Context, opts Options, names []string, limit time.Duration) (Diagnosis, error) {
	all, err := agents(opts)
	if err != nil {
		return Diagnosis{}, err
	}
	known := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		if !slices.Contains(known, name) {
			return Diagnosis{}, ports.NotFound.Errorf("", "there is no agent %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	if len(names) == 0 {
		names = known
	}
	if limit <= 0 {
		limit = DefaultExamination
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	d := Diagnosis{Agents: make([]ExaminedAgent, len(names))}
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			d.Agents[i] = examine(ctx, name, all[name])
		})
	}
	group.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		d.Machine = machine(ctx, opts)
	})
	group.Wait()
	return d, ctx.Err()
}

// examine asks an agent what it can. One that cannot be examined says whether it
// is ready.
func examine(ctx context.Context, name string, agent ports.Agent) ExaminedAgent {
	model := ports.Model(name + "/") // whichever the agent's default is
	e := ExaminedAgent{Name: name}
	if examiner, ok := agent.(ports.Examiner); ok {
		e.Examination = examiner.Examine(ctx)
	} else {
		e.Findings = []ports.Finding{judge("ready", agent.Ready(ctx, model))}
	}
	capabilities, err := agent.Capabilities(ctx, model)
	if err != nil {
		e.Findings = append(e.Findings, judge("capabilities", err))
	}
	e.Capabilities = capabilities
	return e
}

// judge makes a finding of what an agent says of its default model. That it has
// none is no problem: a role names its own.
func judge(name string, err error) ports.Finding {
	switch {
	case err == nil:
		return ports.Finding{Name: name, State: ports.FoundOK}
	case errors.Is(err, ports.Invalid):
		return ports.Finding{Name: name, State: ports.FoundWarning, Detail: "it can be told for a model alone: " + err.Error()}
	default:
		return ports.Finding{Name: name, State: ports.FoundProblem, Detail: err.Error()}
	}
}

// machine looks at all but the agents. What stands on something that is missing
// is left out.
func machine(ctx context.Context, opts Options) (found []ports.Finding) {
	add := func(name, detail string, err error) bool {
		f := ports.Finding{Name: name, State: ports.FoundOK, Detail: detail}
		if err != nil {
			f.State = ports.FoundProblem
			f.Detail, f.Fix, _ = strings.Cut(err.Error(), "; ") // what is wrong, and then what to do
		}
		found = append(found, f)
		return err == nil
	}
	program, version, err := git.Version(ctx, opts.Env)
	if add("git", version+", "+program, err) {
		at, err := git.Locate(ctx, opts.where(), opts.Env)
		if err != nil {
			add("repository", "", err)
		} else if p, err := Find(ctx, opts); err != nil {
			add("settings", "", err)
		} else {
			add("repository", cmp.Or(at.Top, at.Common), usable(ctx, opts, p))
			add("checkouts", p.Trees, writable(p.Trees))
			found = append(found, gate(p))
		}
	}
	home, err := findHome(opts, environmentOf(opts.Env))
	if err == nil {
		err = writable(home)
	}
	add("records", home, err)
	return append(found, person(opts))
}

// usable says what would keep a run from working in the repository.
func usable(ctx context.Context, opts Options, p *Project) error {
	repo, err := git.Open(ctx, git.Options{Repo: opts.where(), Trees: p.Trees, SalvageDir: p.salvage(), Env: opts.Env})
	if err != nil {
		return err
	}
	return repo.Check(ctx)
}

// writable says why a folder cannot be written in, or made. Nothing is left of
// the try.
func writable(dir string) error {
	for {
		_, err := os.Stat(dir)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return err
		}
		dir = filepath.Dir(dir) // it would be made
	}
	try, err := os.MkdirTemp(dir, ".agl-doctor-")
	if err != nil {
		return err
	}
	return os.Remove(try)
}

func gate(p *Project) ports.Finding {
	if p.Build == "" {
		return ports.Finding{
			Name: "build", State: ports.FoundWarning, Detail: "no build command: what lands is not built first",
			Fix: "the command init --build COMMAND, or --build with one run",
		}
	}
	return ports.Finding{Name: "build", State: ports.FoundOK, Detail: p.Build + ", for at most " + p.BuildTimeout.String()}
}

// person says whether somebody can be asked.
func person(opts Options) ports.Finding {
	f := ports.Finding{Name: "terminal", State: ports.FoundOK, Detail: "nobody is asked here; a run stops at a question"}
	if p := opts.Person; p != nil && terminal.New(p.options(opts.Env)).Attended() {
		f.Detail = "a person can be asked here"
	}
	return f
}
