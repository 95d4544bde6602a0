package agltest_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// A recorder is a testing.TB that keeps what failed instead of failing.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	logs     []string
	cleanups []func()
}

// failing runs a test that is expected to fail, its cleanups included, and
// returns what failed and what was logged.
func failing(t testing.TB, test func(t testing.TB)) (failures, logs string) {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // which FailNow may end
		defer close(done)
		test(r)
	}()
	<-done
	for len(r.cleanups) > 0 {
		last := r.cleanups[len(r.cleanups)-1]
		r.cleanups = r.cleanups[:len(r.cleanups)-1]
		last()
	}
	return strings.Join(r.failures, "\n"), strings.Join(r.logs, "\n")
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) FailNow() { r.Fatalf("FailNow") }
func (r *recorder) SkipNow() { runtime.Goexit() }
func (r *recorder) Helper()  {}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

func (r *recorder) Log(args ...any) { r.Logf("%s", fmt.Sprint(args...)) }

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}
