//go:build !unix

package cli

import (
	"context"
	"os"
	"os/signal"
)

// lastingStderr returns standard error.
func lastingStderr() *os.File { return os.Stderr }

// onSignals returns a context that the first interrupt cancels; the second
// ends the process. A process cannot die of a signal here: it ends with the
// exit code of its command.
func onSignals(parent context.Context, screen *screen) (ctx context.Context, stopped func()) {
	ctx, cancel := context.WithCancel(parent)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	go func() {
		<-caught
		screen.tell(stopping)
		cancel()
		<-caught
		screen.restore()
		os.Exit(exitCancelled)
	}()
	return ctx, func() {}
}
