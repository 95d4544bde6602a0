package gittest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Program writes a program, while no other is started: that one would hold the
// file open for an instant, in which it cannot be run ("text file busy").
func Program(t testing.TB, path, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}
