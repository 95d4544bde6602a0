// want package:"functions"

// Package settings has variables for others.
package settings

// The settings.
var (
	Mode  = "fast"
	Depth = 3
	Fixed = 1
)

// SetMode changes one.
func SetMode(m string) { Mode = m }

// Verbose reads it.
func Verbose() bool { return Mode == "verbose" }

// Level is changed through a pointer.
var Level = 1

// Raise changes it.
func Raise() { Set(&Level) }

// Set writes, and Get does not.
func Set(n *int) { *n = 2 }

// Get reads.
func Get(s *string) string { return *s }
