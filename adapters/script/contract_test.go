//go:build unix

package script_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/agl/adapters/script"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func TestAScriptKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Agent(t, porttest.AgentOptions{
		Play: func(t testing.TB, turn porttest.Turn) ports.Agent {
			agent, err := script.Parse("turn.txtar", []byte(scriptOf(turn)))
			if err != nil {
				t.Fatal(err)
			}
			return agent
		},
		Model:    "script/x",
		NotReady: func(testing.TB) ports.Agent { return script.Missing() },
		Programs: true,
		Live:     true,
	})
}

// scriptOf returns the script that plays a turn.
func scriptOf(turn porttest.Turn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s --\n", porttest.Role)
	for _, act := range turn.Acts {
		switch {
		case act.Activity != "":
			fmt.Fprintf(&b, "activity %s\n", strings.ReplaceAll(act.Activity, "\n", " "))
		case act.Text != "":
			fmt.Fprintf(&b, "say %s\n", act.Text)
		case act.Usage != ports.Usage{}:
			fmt.Fprintf(&b, "usage %d %d\n", act.Usage.Input, act.Usage.Output)
		case act.SaveEnv != "":
			fmt.Fprintf(&b, "exec printf %%s \"$%s\" >%[1]s\n", act.SaveEnv)
		}
		for _, call := range act.Calls {
			fmt.Fprintf(&b, "call %s %s\n", call.Tool, call.Args)
		}
	}
	switch {
	case turn.Hang:
		b.WriteString("sleep 10m\n")
	case turn.Fail != "":
		fmt.Fprintf(&b, "fail %s the turn was to fail\n", turn.Fail)
	case turn.Stop == ports.StopLimit:
		b.WriteString("stop limit\n")
	}
	return b.String()
}
