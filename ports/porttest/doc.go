// Package porttest grades implementations of ports: one suite for each
// interface.
//
//	func TestTheStoreKeepsTheContract(t *testing.T) {
//		porttest.Store(t, porttest.StoreOptions{
//			New: func(t testing.TB) ports.Store { return files.New(t.TempDir(), "p") },
//		})
//	}
//
// A suite is a list of rules, each a parallel subtest named by its rule. A
// failure quotes the rule that was broken. Every rule has a deadline, so that
// an implementation that hangs fails by name.
//
// What an implementation can do, and how to make happen to it what happens in
// the world (a power cut, a full disk, a program that hangs, a model's answer),
// is said in the suite's options, never found out by trying. A rule that needs
// what is not given is skipped and says which option it needs: go test -v shows
// them.
package porttest
