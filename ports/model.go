package ports

import "strings"

// A Model names an agent's model as "provider/name". The engine routes by the
// provider; the name goes to that agent untouched.
type Model string

// Provider returns the part before the first slash.
func (m Model) Provider() string {
	provider, _, _ := strings.Cut(string(m), "/")
	return provider
}

// Name returns the part after the first slash, or "" if there is none.
func (m Model) Name() string {
	_, name, _ := strings.Cut(string(m), "/")
	return name
}

// A Restriction is something a role's agent must not do.
type Restriction string

// The restrictions a role can declare.
const (
	NoShell   Restriction = "no-shell"   // runs no commands
	NoNetwork Restriction = "no-network" // its commands and tools reach no network
	NoVCS     Restriction = "no-vcs"     // runs no version-control command that writes
)

// NoWrite holds a Reader: its agent writes no file in the checkout.
const NoWrite Restriction = "no-write"

// Capabilities say what an agent can do with a model. They are stable during a
// run.
type Capabilities struct {
	Tools   bool          // can call the role's tools, and so its report
	Enforce []Restriction // the restrictions it can hold its agent to
}
