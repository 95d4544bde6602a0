// Package exampletest lets an Example hold the lines of a test: what fails is
// printed, so that the Example's output is not what it should be.
package exampletest

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Run runs test, and then its cleanups, as the testing package would, under
// the name of the Example that calls it. It prints failures, and no logs.
func Run(test func(t testing.TB)) {
	pc, _, _, _ := runtime.Caller(1)
	name := runtime.FuncForPC(pc).Name()
	ctx, cancel := context.WithCancel(context.Background())
	t := &tb{name: name[strings.LastIndex(name, ".")+1:], ctx: ctx}
	t.alone(func() { test(t) })
	cancel()
	for len(t.cleanups) > 0 {
		last := t.cleanups[len(t.cleanups)-1]
		t.cleanups = t.cleanups[:len(t.cleanups)-1]
		t.alone(last)
	}
}

// A tb is the part of a *testing.T that has a meaning in an Example; what it
// leaves out panics.
type tb struct {
	testing.TB
	name string
	ctx  context.Context

	mu       sync.Mutex
	failed   bool
	skipped  bool
	cleanups []func()
}

// alone runs f in a goroutine that FailNow may end.
func (t *tb) alone(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func (t *tb) Name() string             { return t.name }
func (t *tb) Context() context.Context { return t.ctx }
func (t *tb) Helper()                  {}
func (t *tb) Log(...any)               {}
func (t *tb) Logf(string, ...any)      {}

func (t *tb) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *tb) TempDir() string {
	dir, err := os.MkdirTemp("", t.name+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (t *tb) Fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

func (t *tb) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

func (t *tb) FailNow() {
	t.Fail()
	runtime.Goexit()
}

func (t *tb) Error(args ...any) {
	fmt.Print("FAIL: ", fmt.Sprintln(args...))
	t.Fail()
}

func (t *tb) Errorf(format string, args ...any) { t.Error(fmt.Sprintf(format, args...)) }

func (t *tb) Fatal(args ...any) {
	t.Error(args...)
	runtime.Goexit()
}

func (t *tb) Fatalf(format string, args ...any) { t.Fatal(fmt.Sprintf(format, args...)) }

func (t *tb) SkipNow() {
	t.mu.Lock()
	t.skipped = true
	t.mu.Unlock()
	runtime.Goexit()
}

func (t *tb) Skipped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}
