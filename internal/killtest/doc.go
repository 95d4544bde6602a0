// Package killtest breaks the built command from outside. It holds nothing but
// tests, for Linux.
//
// The test binary runs again under other names: as the command (agl); as the
// same workflows over ports that end their process where they are told to
// (work); as an agent's program (agent). The git that AGL finds first in PATH is
// gitshim, which kills AGL before, after or while a git call of its runs. Every
// run is then resumed until it is done, and compared with one that nobody
// interrupted.
//
// A power cut is played by watching which files and folders AGL and its git
// sync (seccomp notifications say so), and by removing all others.
//
//	go test ./internal/killtest                        a spread of points
//	go test ./internal/killtest -kill=500              500 runs killed at random instants
//	go test ./internal/killtest -kill.all -timeout 1h  every point there is
package killtest
