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
