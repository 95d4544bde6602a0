//go:build linux

// Command gitshim is git as AGL finds it in a kill test: it notes AGL's calls,
// and kills AGL before, after or while one of them runs. Calls that are not
// AGL's own, such as an agent's, go straight through.
//
// It is a program of its own, and not the test binary under another name,
// because it starts for every call of git.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A call is what is noted of a call of AGL's.
type call struct {
	Args  []string  `json:"args"`  // without the settings every call has
	Began time.Time `json:"began"` // when git was called
}

func main() {
	args, parent := os.Args[1:], os.Getppid()
	if !isAGL(parent) {
		become(args)
	}
	n, err := noteOf(args).append(os.Getenv("KILLTEST_CALLS"))
	if err != nil {
		fail(err)
	}
	when, ok := strings.CutPrefix(os.Getenv("KILLTEST_POINT"), fmt.Sprintf("git %d ", n))
	if !ok {
		become(args)
	}
	switch when {
	case "before":
		kill(parent)
	case "after":
		code := run(args)
		kill(parent)
		os.Exit(code)
	case "outlived": // AGL, which is dead when the call begins to work
		kill(parent)
		gate := os.Getenv("KILLTEST_GATE")
		must(os.WriteFile(gate+".waiting", nil, 0o600))
		for !exists(gate) {
			time.Sleep(time.Millisecond)
		}
		run(args)
		must(os.WriteFile(gate+".ended", []byte(time.Now().Format(time.RFC3339Nano)), 0o600))
	}
}

// isAGL reports whether a process is the test binary under one of the names by
// which it runs workflows: nothing else is ever killed.
func isAGL(pid int) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || exe != os.Getenv("KILLTEST_EXE") {
		return false
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	name, _, _ := strings.Cut(string(cmdline), "\x00")
	return filepath.Base(name) == "agl" || filepath.Base(name) == "work"
}

// kill kills the process of AGL that called, and returns when it is dead.
func kill(parent int) {
	if os.Getppid() != parent {
		return
	}
	must(syscall.Kill(parent, syscall.SIGKILL))
	for os.Getppid() == parent {
		time.Sleep(time.Millisecond)
	}
}

// become replaces this process by git.
func become(args []string) {
	fail(syscall.Exec(os.Getenv("KILLTEST_GIT"), append([]string{"git"}, args...), os.Environ()))
}

// run runs git. It inherits the descriptors that this process inherited.
func run(args []string) (code int) {
	cmd := exec.Command(os.Getenv("KILLTEST_GIT"), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fail(err)
	}
	return cmd.ProcessState.ExitCode()
}

func noteOf(args []string) call {
	for len(args) > 0 {
		switch {
		case args[0] == "-c" && len(args) > 1:
			args = args[2:]
		case strings.HasPrefix(args[0], "--git-dir="), strings.HasPrefix(args[0], "--work-tree="), args[0] == "--no-pager":
			args = args[1:]
		default:
			return call{Args: args, Began: time.Now()}
		}
	}
	return call{Began: time.Now()}
}

// append adds the note to a file and returns which one of the file it is: calls
// that run at once do not get the same number.
func (c call) append(file string) (int, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return 0, err
	}
	line, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return 0, err
	}
	all, err := os.ReadFile(file)
	return bytes.Count(all, []byte("\n")), err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func must(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "gitshim:", err)
	os.Exit(99)
}
