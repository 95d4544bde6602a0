package agl_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage lie longer: thousands of runs in memory make much of
// it and hold little, and to collect it took a quarter of the time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
