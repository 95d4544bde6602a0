package script_test

import (
	"context"
	"fmt"

	"example.com/agl/adapters/script"
	"example.com/agl/ports"
)

func ExampleParse() {
	agent, err := script.Parse("play.txtar", []byte(`
The reviewer is content the second time.

-- reviewer#1 --
say one thing is wrong
-- reviewer --
say nothing to add
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := range 3 {
		task := ports.Task{Namespace: ports.Base, Role: "reviewer", Ordinal: n + 1}
		outcome, err := agent.Run(context.Background(), task, func(ports.AgentEvent) {})
		fmt.Println(outcome.Text, err)
	}
	// Output:
	// one thing is wrong <nil>
	// nothing to add <nil>
	// nothing to add <nil>
}

func ExampleParse_malformed() {
	_, err := script.Parse("play.txtar", []byte("-- reviewer --\nreport {\"items\": [}\n"))
	fmt.Println(err)
	// Output: play.txtar:2: in section reviewer: report JSON: "{\"items\": [}" is no JSON: invalid character '}' looking for beginning of value
}
