package local

import (
	"testing"

	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func TestTheClockKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Clock(t, porttest.ClockOptions{New: func(testing.TB) ports.Clock { return clock{} }, System: true})
}
