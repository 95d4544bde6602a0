package proc

import (
	"fmt"
	"os"
)

// An Exit says how a program ended.
type Exit struct {
	Code   int    // its exit status; -1 if a signal ended it
	Signal string // the signal that ended it, in words ("killed"); "" if none did
	Left   bool   // it left processes in its group, which were ended
}

// OK reports whether the program ended by itself with status 0.
func (e Exit) OK() bool { return e.Code == 0 && e.Signal == "" }

// String says how the program ended: "exit status 2", "ended by a signal:
// killed".
func (e Exit) String() string {
	switch {
	case e.Signal != "":
		return "ended by a signal: " + e.Signal
	case e.Code > 128:
		if name := signalName(e.Code - 128); name != "" {
			return fmt.Sprintf("exit status %d, by which a shell says that its command was ended by a signal: %s", e.Code, name)
		}
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

func exitOf(state *os.ProcessState) Exit {
	if state == nil {
		return Exit{Code: -1}
	}
	return Exit{Code: state.ExitCode(), Signal: deathSignal(state)}
}
