package vendorprog

import (
	"context"
	"io"

	"example.com/agl/internal/proc"
)

// A Process is a program that runs, and what is written to it and read from it.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser // to be read to its end, or closed: the program waits for its reader
	Stderr *proc.Tail

	end  context.CancelFunc
	gone chan struct{}
	exit proc.Exit
	err  error
}

// Start starts a program, whose Stdin, Stdout and Stderr are not set. It is ended
// by End, and by nothing else. That it could not be started is what Exit says.
func Start(cmd *proc.Cmd) *Process {
	ctx, end := context.WithCancel(context.Background())
	p := &Process{end: end, gone: make(chan struct{}), Stderr: new(proc.Tail)}
	stdin, toStdin := io.Pipe()
	fromStdout, stdout := io.Pipe()
	p.Stdin, p.Stdout = toStdin, fromStdout
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, p.Stderr
	go func() {
		p.exit, p.err = cmd.Run(ctx)
		close(p.gone)
		stdin.Close() // nobody reads any more what is written
		stdout.Close()
	}()
	return p
}

// Gone is closed when the program has ended, before its last output was read.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Exit returns how the program ended; the error says why it could not be
// started, or its output not be read. It is called once Gone is closed.
func (p *Process) Exit() (proc.Exit, error) { return p.exit, p.err }

// End ends the program if it runs, and returns when it has ended.
func (p *Process) End() {
	p.end()
	<-p.gone
}
