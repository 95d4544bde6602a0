// Package porttest grades implementations of ports: one suite for each
// interface.
//
//	func TestStore(t *testing.T) {
//		porttest.Store(t, porttest.StoreOptions{
//			New: func(t testing.TB) ports.Store { return files.New(t.TempDir()) },
//		})
//	}
//
// A suite is a list of rules, each a subtest named by its rule. A failure
// quotes the rule that was broken. Every rule has a deadline, so that an
// implementation that hangs fails by name. What an implementation cannot do is
// said in the suite's options, never found out by trying.
package porttest
