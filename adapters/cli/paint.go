package cli

import (
	"os"

	"example.com/agl"
)

// A painter colours words, or does not.
type painter bool

// paint returns the painter for standard output: colours are for a terminal
// whose owner has not asked for none (https://no-color.org).
func (s *session) paint() painter {
	return painter(os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && s.showsAnswers())
}

// showsAnswers reports whether standard output is a terminal, or another device
// that nothing is read from, rather than a pipe or a file.
func (s *session) showsAnswers() bool {
	file, ok := s.stdout.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p painter) state(state agl.State) string {
	colour := ""
	switch state {
	case agl.StateDone:
		colour = "\x1b[32m"
	case agl.StateFailed:
		colour = "\x1b[31m"
	case agl.StateStopped, agl.StateInterrupted:
		colour = "\x1b[33m"
	}
	if !p || colour == "" {
		return string(state)
	}
	return colour + string(state) + "\x1b[0m"
}
