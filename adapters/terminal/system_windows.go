package terminal

import (
	"os"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/windows"
)

// interrupt has the process do what it does about ctrl-c.
func interrupt() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, 0) // there is nobody to tell
}

func inBackground(*os.File) bool { return false }

// discardInput drops what was typed and not read yet.
func discardInput(f *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) // the console may be gone
}

// suspend does nothing: there is no job control.
func (s *screen) suspend() tea.Msg { return nil }

func (s *screen) continued() {}
