package aglvet

import "testing"

// InDir is Test as it is called by a test in another folder.
func InDir(t testing.TB, dir string, patterns ...string) { test(t, dir, patterns) }
