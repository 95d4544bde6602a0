//go:build !unix

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// lastingStderr returns standard error.
func lastingStderr() *os.File { return os.Stderr }

// onSignals returns a context that the first interrupt cancels; the second
// ends the process. A process cannot die of a signal here: it ends with the
// exit code of its command.
func onSignals(parent context.Context, stderr io.Writer) (ctx context.Context, stopped func()) {
	ctx, cancel := context.WithCancel(parent)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	go func() {
		<-caught
		fmt.Fprintln(stderr, "stopping in order; again to stop at once")
		cancel()
		<-caught
		os.Exit(exitCancelled)
	}()
	return ctx, func() {}
}
