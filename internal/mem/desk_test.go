package mem_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// An instant is a context that ends when it is first waited for, just after
// something else has happened.
type instant struct {
	context.Context
	end func()
}

func (i instant) Done() <-chan struct{} {
	i.end()
	return i.Context.Done()
}

func TestAnAnswerInTheInstantOfACancellationIsReturned(t *testing.T) {
	t.Parallel()
	for range 50 { // which of the two is noticed is up to chance
		d := &mem.Desk{}
		ctx, cancel := context.WithCancel(t.Context())
		got, err := d.Ask(instant{ctx, func() { d.Choose(1); cancel() }}, ports.Question{Text: "Go on?", Options: []string{"yes", "no"}})
		require.NoError(t, err)
		require.Equal(t, "no", got)
	}
}

func TestADeskShowsARunWithoutAView(t *testing.T) {
	t.Parallel()
	d := &mem.Desk{}
	d.Watch(ports.Watched{Status: func() ports.Status { return ports.Status{} }})
	require.Empty(t, d.Screen())
}
