package agltest

import (
	"testing"

	"example.com/agl"
)

// CrashOneByOne is CrashEverywhere for a test that is expected to fail.
func CrashOneByOne(t testing.TB, build func(t testing.TB) *Harness, job agl.Job, def agl.Definition) {
	t.Helper()
	proof, err := surveyTwice(func() *Harness { return build(t) }, job, def)
	if err != nil {
		t.Fatalf("agltest: CrashEverywhere: %v", err)
	}
	for _, pass := range proof.passes() {
		for _, p := range pass.points {
			proof.crash(build(t), p, pass.powerCut)
		}
	}
}
