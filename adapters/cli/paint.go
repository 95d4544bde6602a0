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

// The colours of words.
const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
)

func (p painter) state(state agl.State) string {
	switch state {
	case agl.StateDone:
		return p.in(green, string(state))
	case agl.StateFailed:
		return p.in(red, string(state))
	case agl.StateStopped, agl.StateInterrupted:
		return p.in(yellow, string(state))
	}
	return string(state)
}

func (p painter) in(colour, word string) string {
	if !p {
		return word
	}
	return colour + word + "\x1b[0m"
}
