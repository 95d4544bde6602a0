// Package examine looks into an installed program of a vendor: whether it is
// there, which version it is, whether that speaks the channel by which an
// adapter talks to it, and whether somebody is logged in. An adapter says how
// each is done; what is made of it is the same for all.
package examine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"sync"

	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// A Program is a vendor's program, as its adapter knows it.
type Program struct {
	*vendorprog.Program
	Named   bool     // its Name is the user's own word, so that it has to be there
	Environ []string // its whole environment, when it is asked for its version
	Range   Range

	// Login says, as an error, why nobody is logged in at the program at path,
	// and what to do.
	Login func(ctx context.Context, path string) error
	// Open returns an agent over the program at path, in an environment that is
	// made from nothing, with a fake of its vendor's service that does what call
	// says. All that is written is below dir. It is used until end is called.
	Open func(path, dir string, call Call) (agent ports.Agent, end func(), err error)
}

// Examine returns what is found out about the program. It takes as long as the
// slowest of what it looks at, and no longer than ctx.
func (p *Program) Examine(ctx context.Context) ports.Examination {
	e := ports.Examination{Supported: p.Range.String()}
	found := func(f ports.Finding) { e.Findings = append(e.Findings, f) }
	path, err := p.Find()
	if err != nil {
		found(p.missing(err))
		return e
	}
	e.Program = path
	version, err := Version(ctx, path, p.Environ)
	switch {
	case ctx.Err() != nil:
		found(ports.Finding{Name: "program", State: ports.FoundProblem, Detail: late(ctx, "--version was not answered"), Fix: p.Install})
		return e
	case errors.As(err, new(*startError)):
		found(ports.Finding{Name: "program", State: ports.FoundProblem, Detail: err.Error(), Fix: p.Install})
		return e
	}
	e.Version = version
	found(ports.Finding{Name: "program", State: ports.FoundOK, Detail: path})
	found(p.version(version, err))

	var channel, login ports.Finding
	var both sync.WaitGroup
	both.Go(func() { channel = p.channel(ctx, path) })
	both.Go(func() { login = p.login(ctx, path) })
	both.Wait()
	found(channel)
	found(login)
	return e
}

// missing is the finding of a program that is not there.
func (p *Program) missing(err error) ports.Finding {
	f := ports.Finding{Name: "program", State: ports.FoundAbsent, Detail: "there is no program " + p.Name, Fix: p.Install}
	switch {
	case !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist):
		f.State, f.Detail = ports.FoundProblem, err.Error()
	case p.Named:
		f.State, f.Fix = ports.FoundProblem, "correct what names it, or install it there: "+p.Install
	}
	return f
}

// version judges a version, or why it is not known. One that is not known may be
// all right: whether it is, the channel tells.
func (p *Program) version(version string, err error) ports.Finding {
	f := ports.Finding{Name: "version", State: ports.FoundOK, Detail: fmt.Sprintf("%s; tested with %s", version, p.Range)}
	switch {
	case err != nil:
		f.State, f.Detail, f.Fix = ports.FoundWarning, err.Error(), p.Install
	case p.Range.Older(version):
		f.State, f.Detail, f.Fix = ports.FoundProblem, fmt.Sprintf("%s is too old; AGL works with %s and later", version, p.Range.Oldest), p.Install
	case p.Range.Newer(version):
		f.State, f.Detail = ports.FoundWarning, fmt.Sprintf("%s is newer than what AGL was tested with, %s", version, p.Range)
	}
	return f
}

func (p *Program) login(ctx context.Context, path string) ports.Finding {
	f := ports.Finding{Name: "login", State: ports.FoundOK, Detail: "logged in, as the program says; no service was asked"}
	if err := p.Login(ctx, path); err != nil {
		f.State = ports.FoundProblem
		what := strings.TrimPrefix(err.Error(), p.Op+": ")
		f.Detail, f.Fix, _ = strings.Cut(what, "; ") // adapters say first what is wrong, and then what to do
		if ctx.Err() != nil {
			f.Detail, f.Fix = late(ctx, "whether somebody is logged in was not answered"), ""
		}
	}
	return f
}

// Ready is what an adapter's Ready has to ask before anything else: it refuses a
// program whose version is too old for the channel. One that does not tell its
// version is left to the turn, which cannot go wrong unseen.
func (p *Program) Ready(ctx context.Context, path string) error {
	version, err := Version(ctx, path, p.Environ)
	if err != nil {
		return nil
	}
	return p.Refuse(version)
}

// Refuse returns the error of a version that is too old, nil if it is not. An
// adapter whose channel tells the version needs no more than this of Ready.
func (p *Program) Refuse(version string) error {
	if !p.Range.Older(version) {
		return nil
	}
	return ports.Unavailable.Errorf(p.Op, "version %s is too old; AGL works with %s and later (%s)", version, p.Range.Oldest, p.Install)
}

// late says that something did not come before the end of ctx.
func late(ctx context.Context, what string) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return what + " in time"
	}
	return what + " before it was stopped"
}
