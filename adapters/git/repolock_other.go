//go:build !unix || solaris || aix

package git

import "os"

// tryLock locks nothing: here only the goroutines of one process exclude each
// other, so one process at a time may open or clear worktrees of a repository.
func tryLock(*os.File) (bool, error) { return true, nil }
