package porttest

import (
	"testing"
	"time"

	"example.com/agl/ports"
)

// A Gate says what a build gate does, in this order.
type Gate struct {
	Output   string        // it writes this
	PrintEnv string        // it writes the value of the variable of this name; needs VerifierOptions.Programs
	Touch    string        // it makes this file in the directory it runs in; needs VerifierOptions.Programs
	ReadAll  bool          // it reads its standard input to the end; needs VerifierOptions.Programs
	Hang     bool          // it goes on until it is ended
	Fail     bool          // it ends as a build that failed; otherwise as one that passed
	Timeout  time.Duration // what it may take; 0: as long as the implementation likes, but not less than a minute
	Then     *Gate         // it does the Output and Fail of this from its second run on; needs VerifierOptions.Changes
}

// VerifierOptions say how to get at the verifiers to be graded. New is
// required; a rule that needs something that is not given is skipped, saying
// so.
type VerifierOptions struct {
	// New returns a verifier whose gate does what gate says.
	New func(t testing.TB, gate Gate) ports.Verifier

	// None returns a verifier that has no gate. Nil: there always is one.
	None func(t testing.TB) ports.Verifier

	// CannotStart returns a verifier and a task that it cannot start its gate
	// for. Nil: it always starts.
	CannotStart func(t testing.TB) (ports.Verifier, ports.VerifyTask)

	// Changes says that Gate.Then is done.
	Changes bool

	// Programs says that the gate is a program: it has an environment, a
	// standard input, and a directory to run in.
	Programs bool
}

// Verifier grades an implementation of ports.Verifier. Each rule of its
// contract is a parallel subtest.
func Verifier(t *testing.T, opts VerifierOptions) {
	t.Helper()
	grade(t, verifierRules, func(testing.TB) VerifierOptions { return opts })
}

// verify runs a gate in a checkout of its own, or ends the rule.
func (o VerifierOptions) verify(c *check, gate Gate, env ...string) (ports.Verdict, ports.VerifyTask) {
	task := ports.VerifyTask{Dir: c.TempDir(), Env: env}
	verdict, err := o.New(c, gate).Verify(c.Context(), task)
	c.must(err, "running the gate")
	return verdict, task
}
