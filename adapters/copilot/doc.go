// Package copilot runs turns with the Copilot CLI.
package copilot
