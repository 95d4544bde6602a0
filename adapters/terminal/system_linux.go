package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput drops what was typed and not read yet.
func discardInput(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // the terminal may be gone
}
