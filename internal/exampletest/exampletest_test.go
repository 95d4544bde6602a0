package exampletest_test

import (
	"fmt"
	"testing"

	"example.com/agl/internal/exampletest"
)

func ExampleRun() {
	exampletest.Run(func(t testing.TB) {
		t.Cleanup(func() { fmt.Println("cleaned up", t.Name(), t.Failed()) })
		t.Log("not printed")
		t.Errorf("got %d, want %d", 1, 2)
		t.Fatal("no further")
		t.Error("not reached")
	})
	// Output:
	// FAIL: got 1, want 2
	// FAIL: no further
	// cleaned up ExampleRun true
}
