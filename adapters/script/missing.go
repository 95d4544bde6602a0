package script

import (
	"context"

	"example.com/agl/ports"
)

// Missing returns the agent to register where no script was given: it is never
// ready, and says what to do.
func Missing() ports.Agent { return missing{} }

type missing struct{}

var _ ports.Examiner = missing{}

func (missing) err() error {
	return ports.Unavailable.Errorf("", "there is no script to play: give --script FILE")
}

func (missing) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return capabilities(), nil
}

func (m missing) Ready(context.Context, ports.Model) error { return m.err() }

func (m missing) Run(context.Context, ports.Task, func(ports.AgentEvent)) (ports.Outcome, error) {
	return ports.Outcome{}, m.err()
}

// Examine says that no script was given.
func (missing) Examine(context.Context) ports.Examination {
	return ports.Examination{Findings: []ports.Finding{{
		Name: "script", State: ports.FoundAbsent, Detail: "there is no script to play", Fix: "give --script FILE",
	}}}
}
