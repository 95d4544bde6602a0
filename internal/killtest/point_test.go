//go:build linux

package killtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// What the processes of a test find in their environment.
const (
	envMark    = "KILLTEST_MARK"    // finds every process of one sandbox
	envPoint   = "KILLTEST_POINT"   // where this process is killed
	envGit     = "KILLTEST_GIT"     // the real git
	envExe     = "KILLTEST_EXE"     // this binary, which runs AGL
	envShim    = "KILLTEST_SHIM"    // the git that kills
	envCalls   = "KILLTEST_CALLS"   // the file where this process's git calls are noted
	envCounter = "KILLTEST_COUNTER" // the file where agents note that they were started
	envProcess = "KILLTEST_PROCESS" // which process of the sandbox this is, from 1
	envGate    = "KILLTEST_GATE"    // the file for which a git that outlives AGL waits
	envWord    = "KILLTEST_WORD"    // a word of a prompt
	envShuffle = "KILLTEST_SHUFFLE" // a seed of the order in which goroutines start
)

// A point is where a process is killed. The zero value is nowhere.
type point struct {
	what event
	at   int // the at-th of its kind in the process, from 1
	when moment
}

type event string

const (
	gitCall  event = "git"
	write    event = "write"   // a document of the store is written or removed
	start    event = "start"   // an agent, or the build, is started by the engine
	program  event = "program" // an agent's own program runs
	diskCall event = "disk"    // the process syncs or renames a file itself
)

type moment string

const (
	before   moment = "before"
	after    moment = "after"
	outlived moment = "outlived" // the git call, or the agent, runs on without AGL
)

func (p point) String() string {
	if p.what == "" {
		return "nowhere"
	}
	return fmt.Sprintf("%s %d %s", p.what, p.at, p.when)
}

// here returns the point at which this process, or its parent, is to be
// killed.
func here() point {
	fields := strings.Fields(os.Getenv(envPoint))
	if len(fields) != 3 {
		return point{}
	}
	at, err := strconv.Atoi(fields[1])
	if err != nil {
		return point{}
	}
	return point{event(fields[0]), at, moment(fields[2])}
}

// isAGL reports whether a process is this binary under one of the names by
// which it runs workflows: nothing else is ever killed by a point.
func isAGL(pid int) bool {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return false
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || exe != self {
		return false
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	name, _, _ := strings.Cut(string(cmdline), "\x00")
	return filepath.Base(name) == "agl" || filepath.Base(name) == "work"
}

// killSelf ends this process as kill -9 would.
func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
