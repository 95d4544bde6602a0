package copilot_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/copilot"
	"example.com/agl/ports"
)

// The program hangs when a tool has answered, and takes no note of the answer.
var hangsAfterATool = play("it hangs after a tool", begun(func(s *standIn) {
	s.say("external_tool.requested", object{"requestId": "r1", "toolName": "ask", "arguments": object{}})
	select {}
}))

func TestAProgramThatHangsWhenAToolHasAnsweredIsEnded(t *testing.T) {
	t.Parallel()
	agent, _ := standsIn(t, copilot.Options{Idle: time.Second}, hangsAfterATool)
	task := request(t, "hi")
	task.Tools = []ports.Tool{{Name: "ask", Call: func(context.Context, json.RawMessage) ports.ToolResult { return ports.ToolResult{Text: "at once"} }}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := agent.Run(ctx, task, silent)
	require.ErrorIs(t, err, ports.Unexpected)
	require.ErrorContains(t, err, "wrote nothing for")
}

// The agent has ended, and a command that it has left running writes on.
var chatters = play("a command that chatters on", begun(func(s *standIn) {
	s.answer("all done")
	s.say("assistant.idle", object{})
	for range time.Tick(100 * time.Millisecond) {
		s.say("tool.shell_output", object{"data": "GET /"})
	}
}))

func TestACommandThatWritesOnDoesNotHoldUpTheEndOfATurn(t *testing.T) {
	t.Parallel()
	agent, _ := standsIn(t, copilot.Options{}, chatters)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	o, err := agent.Run(ctx, request(t, "hi"), silent)
	require.NoError(t, err)
	require.Equal(t, ports.StopCompleted, o.Stop)
}

// The end of a command wakes the agent, whose model takes its time.
var wakes = play("an agent that is woken", begun(func(s *standIn) {
	s.answer("a command runs")
	s.say("assistant.idle", object{})
	s.say("assistant.turn_start", object{"turnId": "2"})
	<-time.After(3 * time.Second)
	s.answer("it has ended")
	s.end()
}))

func TestAnAgentThatIsWokenIsWaitedFor(t *testing.T) {
	t.Parallel()
	agent, _ := standsIn(t, copilot.Options{}, wakes)
	o, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	require.Equal(t, "it has ended", o.Text)
}
