package files

import "os"

// Failure gives the tests what an error of the filesystem becomes.
var Failure = failure

// Claim gives the tests the taking of a lock whose file is open already; it
// reports whether the lock is worth something.
func Claim(f *os.File, path string) (bool, error) {
	got, err := claim(f, path)
	return got == taken, err
}
