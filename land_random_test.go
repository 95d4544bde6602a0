package agl_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

var randomTrees = flag.Int("random", 40, "how many random trees of worktrees are changed, bought again and killed")

// A plant is what one namespace of a random workflow does, in order.
type plant struct {
	name string
	acts []act
}

// An act of a plant.
type act struct {
	kind    actKind
	id      string // of a step
	version int    // of a step: another one is another step
	child   *plant
}

type actKind string

const (
	stepping actKind = "step"
	opening  actKind = "open" // a worktree
	landing  actKind = "land" // all that is left to do in a worktree, and its landing
)

// grow returns a random plant, with up to three levels of worktrees below it.
func grow(r *rand.Rand, name string, depth int, seq *int) *plant {
	p := &plant{name: name}
	var open []*plant
	for range 1 + r.IntN(6) {
		switch k := r.IntN(10); {
		case k < 4:
			*seq++
			p.acts = append(p.acts, act{kind: stepping, id: fmt.Sprintf("%s-%d", name, *seq)})
		case k < 7 && depth < 3:
			*seq++
			child := grow(r, fmt.Sprintf("w%d", *seq), depth+1, seq)
			open = append(open, child)
			p.acts = append(p.acts, act{kind: opening, child: child})
		case len(open) > 0:
			p.acts = append(p.acts, act{kind: landing, child: open[r.IntN(len(open))]})
		}
	}
	for _, child := range open {
		if r.IntN(5) > 0 {
			p.acts = append(p.acts, act{kind: landing, child: child})
		}
	}
	return p
}

// all returns a plant and those below it.
func (p *plant) all() []*plant {
	all := []*plant{p}
	for _, a := range p.acts {
		if a.kind == opening {
			all = append(all, a.child.all()...)
		}
	}
	return all
}

// change makes a random step another one, and says which.
func (p *plant) change(r *rand.Rand) string {
	all := p.all()
	in := all[r.IntN(len(all))]
	if len(in.acts) == 0 {
		return "nothing"
	}
	a := &in.acts[r.IntN(len(in.acts))]
	if a.kind != stepping {
		return "nothing"
	}
	a.version++
	return a.id
}

func (p *plant) String() string {
	var words []string
	for _, a := range p.acts {
		switch a.kind {
		case stepping:
			words = append(words, fmt.Sprintf("%s.%d", a.id, a.version))
		case opening:
			words = append(words, "+"+a.child.String())
		case landing:
			words = append(words, "land "+a.child.name)
		}
	}
	return p.name + "[" + strings.Join(words, " ") + "]"
}

// workflow does what a plant says. A conflict is mended by an agent.
func (p *plant) workflow() *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		runs, done := map[*plant]*agl.Run{p: run}, map[*plant]bool{}
		var do func(p *plant) error
		do = func(p *plant) (err error) {
			for _, a := range p.acts {
				switch a.kind {
				case stepping:
					err = runs[p].Step(ctx, builder.Commit(a.id), agl.In("id", a.id), agl.In("version", a.version))
				case opening:
					runs[a.child], err = runs[p].Worktree(ctx, a.child.name)
				case landing:
					if !done[a.child] {
						done[a.child] = true
						err = do(a.child)
					}
					if err == nil {
						err = runs[a.child].Integrate(ctx, agl.ResolveWith(editor, 1, nil))
					}
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
		return do(p)
	}, builder, editor)
}

// newPlanted returns a world in which steps write a file of their own, and every
// other one a line of a file that all share. fails says whether an agent cannot
// be reached.
func newPlanted(t *testing.T, fails func() bool) *world {
	lines := func(tn *turn) []string {
		text, _ := fs.ReadFile(tn.Workspace.Tree(), "shared")
		return slices.Collect(strings.Lines(string(text)))
	}
	return newWorld(t, func(tn *turn) (any, error) {
		if tn.Role == editor.Name { // mends a conflict: every line of both sides, once
			all := slices.DeleteFunc(lines(tn), func(line string) bool { return strings.ContainsAny(line[:1], "<>=|") })
			slices.Sort(all)
			tn.write("shared", strings.Join(slices.Compact(all), ""))
			return patch{}, nil
		}
		if fails() {
			return nil, ports.Unavailable.Errorf("", "not today")
		}
		inputs := map[string]string{}
		for _, in := range tn.Inputs {
			inputs[in.Name] = string(in.Value)
		}
		id, err := strconv.Unquote(inputs["id"])
		line := fmt.Sprintf("%s.%s\n", id, inputs["version"])
		tn.write(id, line)
		if len(id)%2 == 0 {
			tn.write("shared", strings.Join(append(lines(tn), line), ""))
		}
		return patch{}, err
	})
}

// Whatever a run went through — steps that changed and were bought again,
// processes that died, agents that failed — its files and records are those of a
// run that asked for the same from the beginning, and its replay buys nothing.
func TestRandomTreesOfWorktreesComeToTheSameHoweverOftenTheyDie(t *testing.T) {
	t.Parallel()
	for seed := range *randomTrees {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := &planted{r: rand.New(rand.NewPCG(uint64(seed), 7))}
			p.tree = grow(p.r, "root", 0, new(int))
			p.world = newPlanted(t, func() bool { return p.failing && p.r.IntN(12) == 0 })
			t.Log(p.tree)
			if p.live(func() error { return p.start(job(p.tree.workflow())) }) != nil {
				if _, err := p.store.Read(t.Context(), "job", "run.json"); err != nil { // it had not begun
					require.NoError(t, p.start(job(p.tree.workflow())))
				}
			}
			for range 1 + p.r.IntN(4) {
				t.Log("changed:", p.tree.change(p.r))
				p.reachesTheEnd()
				p.isAsFresh()
			}
			_, err := p.engine().Clear(t.Context(), "job")
			require.NoError(t, err)
		})
	}
}

// planted is a run of a plant.
type planted struct {
	*world
	r       *rand.Rand
	tree    *plant
	failing bool // agents may fail now
}

// live lets a process do something, which may die at a random call of a port.
// Undisturbed it may fail only where an agent did.
func (p *planted) live(do func() error) error {
	p.t.Helper()
	f := &faults{}
	if p.r.IntN(2) == 0 {
		f = &faults{at: 1 + p.r.IntN(60), after: p.r.IntN(2) == 0, crash: true}
	}
	plain := p.set
	p.set, p.failing = f.wrap(plain), true
	err := do()
	p.set, p.failing = plain, false
	switch {
	case f.failed:
		p.t.Logf("died at call %d, %s, after=%v", f.at, f.names[f.at-1], f.after)
	case err != nil:
		require.ErrorContains(p.t, err, "not today")
	}
	return err
}

// reachesTheEnd resumes the run until it has ended well.
func (p *planted) reachesTheEnd() {
	p.t.Helper()
	for i := range 4 {
		opts := agl.ResumeOptions{Rebuy: true, Retry: i > 0}
		if p.live(func() error { return p.resume(p.tree.workflow(), opts) }) == nil {
			return
		}
	}
	require.NoError(p.t, p.resume(p.tree.workflow(), agl.ResumeOptions{Rebuy: true, Retry: true}))
}

// isAsFresh compares the run with one that was never disturbed.
func (p *planted) isAsFresh() {
	p.t.Helper()
	fresh := newPlanted(p.t, func() bool { return false })
	require.NoError(p.t, fresh.start(job(p.tree.workflow())))
	if diff := cmp.Diff(fresh.files(), maps.Clone(p.files())); diff != "" {
		p.t.Fatalf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(fresh.shapes(), p.shapes()); diff != "" {
		p.t.Fatalf("records (-want +got):\n%s", diff)
	}
	p.agents()
	require.NoError(p.t, p.resume(p.tree.workflow()))
	require.Empty(p.t, p.agents(), "a replay buys nothing")
}

// shapes is what was recorded in each namespace, whatever came before it.
func (w *world) shapes() map[string][]string {
	all := map[string][]string{}
	for _, r := range w.journal() {
		all[r.Namespace] = append(all[r.Namespace], fmt.Sprint(r.Kind, " ", r.Name, " ", r.Key[:8], r.Failure != nil, r.Landing.Moved()))
	}
	return all
}
