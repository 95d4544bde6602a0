//go:build !unix

package cassette

import "os"

// ending are the signals by which a program is asked to end.
var ending = []os.Signal{os.Interrupt}

func outlivePipes() {}

func nameOf(s os.Signal) string { return s.String() }

func killedBy(*os.ProcessState) string { return "" }

func end(code int, _ string) { os.Exit(code) }
