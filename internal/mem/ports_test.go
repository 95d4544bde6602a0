package mem_test

import (
	"context"
	"testing"
	"time"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func TestTheClockKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Clock(t, porttest.ClockOptions{
		New:     func(testing.TB) ports.Clock { return mem.NewClock() },
		Advance: func(_ testing.TB, c ports.Clock, d time.Duration) { c.(*mem.Clock).Advance(d) },
	})
}

func TestTheVerifierKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Verifier(t, porttest.VerifierOptions{
		New: func(_ testing.TB, gate porttest.Gate) ports.Verifier {
			return &mem.Verifier{Command: "make", Timeout: gate.Timeout, Find: func(ctx context.Context, _ ports.VerifyTask, n int) (ports.Verdict, error) {
				gate := gate
				if n > 1 && gate.Then != nil {
					gate = *gate.Then
				}
				if gate.Hang {
					<-ctx.Done()
				}
				return ports.Verdict{Passed: !gate.Fail, Output: gate.Output}, ctx.Err()
			}}
		},
		Changes: true,
		None:    func(testing.TB) ports.Verifier { return new(mem.Verifier) },
		CannotStart: func(testing.TB) (ports.Verifier, ports.VerifyTask) {
			return &mem.Verifier{Command: "make", Find: func(context.Context, ports.VerifyTask, int) (ports.Verdict, error) {
				return ports.Verdict{}, ports.Unavailable.Errorf("", "there is no make")
			}}, ports.VerifyTask{}
		},
	})
}

func TestAnAgentKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Agent(t, porttest.AgentOptions{
		Play:     func(_ testing.TB, turn porttest.Turn) ports.Agent { return mem.Agent(turn.Play) },
		Model:    "mem/x",
		Prompts:  true,
		Results:  true,
		Parallel: true,
		Refuses:  true,
		Cached:   true, Reasoning: true, Cost: true,
		Live: true,
	})
}
