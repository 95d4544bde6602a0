//go:build unix

// Package ptytest opens pseudo-terminals for tests.
package ptytest

import (
	"os"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// Open returns both ends of a pseudo-terminal of a size: master is where a person
// would sit, tty is what a program is given. A read of master ends when it is
// closed, as one of a file of the operating system's does not by itself.
func Open(t testing.TB, columns, rows int) (master, tty *os.File) {
	t.Helper()
	blocking, tty, err := pty.Open()
	if err != nil {
		t.Fatalf("open a pseudo-terminal: %v", err)
	}
	if err := pty.Setsize(blocking, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		t.Fatalf("size a pseudo-terminal: %v", err)
	}
	fd, err := syscall.Dup(int(blocking.Fd()))
	if err == nil {
		err = blocking.Close()
	}
	if err == nil {
		syscall.CloseOnExec(fd)
		err = syscall.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatalf("open a pseudo-terminal: %v", err)
	}
	return os.NewFile(uintptr(fd), "pty"), tty
}
