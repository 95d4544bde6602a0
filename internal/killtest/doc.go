// Package killtest breaks the built command from outside, and holds nothing
// but tests.
//
// The test binary runs again under other names: as the command (agl), as the
// same workflows over a store that ends its process at a chosen write (work),
// as the git that AGL finds first in PATH (git), which counts AGL's calls and
// kills AGL before, after or while one of them runs, and as an agent's program
// (agent). Every run is then resumed until it is done, and compared with one
// that nobody interrupted.
//
//	go test ./internal/killtest                    a spread of points
//	go test ./internal/killtest -kill=500          500 random instants on top
//	go test ./internal/killtest -kill.all -timeout 1h    every point there is
package killtest
