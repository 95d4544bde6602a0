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
// Where children land at once, a kill may interrupt one agent of each, and what
// lands first is another child each time: compared is what must be the same
// whatever the order.
//
// A power cut is played by watching which files and folders AGL and its git
// sync (seccomp notifications say so), and by removing all others.
//
//	go test ./internal/killtest                        a spread of points
//	go test ./internal/killtest -kill=500              500 runs of each play killed at random instants
//	go test ./internal/killtest -kill.all -timeout 1h  every point there is
package killtest
