package aglvet_test

import (
	"testing"

	"example.com/agl/agltest/aglvet"
)

// One test holds every workflow of a module to it.
func ExampleTest() {
	_ = func(t *testing.T) { // func TestWorkflowsCanBeResumed(t *testing.T)
		aglvet.Test(t, "./...")
	}
}
