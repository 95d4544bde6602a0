package proc

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/agl/ports"
)

// patience bounds the time that SIGKILL is repeated: a process may be stuck in
// the kernel, or have got an identity that we may not signal.
const patience = 10 * time.Second

func (r Reaper) reap(ctx context.Context, entry string) ([]string, error) {
	if _, err := os.ReadFile("/proc/self/environ"); err != nil {
		return nil, ports.Unavailable.Errorf("", "processes cannot be listed, is /proc mounted? %w", err)
	}
	var lines []string
	asked := make(map[marked]bool)
	began := time.Now()
	for calm := 0; calm < 2*sure; {
		if err := ctx.Err(); err != nil {
			return lines, err
		}
		found, whole := find(entry)
		if len(found) == 0 {
			calm++
			if whole {
				calm += sure - 1
			}
			continue
		}
		calm = 0
		kill, news := time.Since(began) > r.Grace, false
		if time.Since(began) > r.Grace+patience {
			return lines, ports.Conflicted.Errorf("", "still running: %s; end them, then try again", describe(found))
		}
		for _, m := range found {
			first := !asked[m]
			if !first && !kill {
				continue
			}
			line := m.line()
			if !m.signal(entry, kill) {
				continue
			}
			if first {
				asked[m], news = true, true
				lines = append(lines, line)
			}
		}
		if !news { // something that goes on forking is outrun, not waited for
			time.Sleep(2 * time.Millisecond)
		}
	}
	return lines, nil
}

// sure is how many looks that something slipped past make up for a whole one.
// Only on a machine where processes begin and end all the time is there none.
const sure = 10

// marked is a process that carries the entry.
type marked struct {
	pid   int
	start uint64
}

// find returns the processes of this user that carry entry, itself excepted.
// A look at all processes is no instant: whole reports whether nothing slipped
// past, by ending after it was listed (it may have left a child that was not)
// or by showing no environment at the moment.
func find(entry string) (found []marked, whole bool) {
	self, uid := os.Getpid(), uint32(os.Geteuid())
	whole = true
	var buf []byte
	for _, pid := range pids() {
		if pid == self {
			continue
		}
		// The environment comes first: of nearly all programs it is all that has
		// to be known. Another user's cannot be read, or does not carry entry.
		env, err := readProc(pid, "environ", &buf)
		if err == nil && len(env) > 0 && !carries(env, entry) {
			continue // whatever becomes of it is not ours
		}
		stat, ok := readStat(pid)
		if ok && stat.kernel {
			continue
		}
		info, statErr := os.Stat(proc(pid, ""))
		if statErr != nil {
			whole = false
			continue
		}
		if sys, ok := info.Sys().(*syscall.Stat_t); !ok || sys.Uid != uid {
			continue
		}
		switch {
		case !ok:
			whole = false
		case err != nil || stat.ended(): // what we may not look into is not ours
		case carries(env, entry):
			found = append(found, marked{pid: pid, start: stat.start})
		case len(env) == 0 && changing(pid):
			whole = false
		}
	}
	return found, whole
}

// changing reports whether a process without an environment has no arguments
// either: it is becoming another program, or is about to end.
func changing(pid int) bool {
	args, err := os.ReadFile(proc(pid, "cmdline"))
	return err != nil || len(args) == 0
}

// carries reports whether env, as /proc gives it, holds entry.
func carries(env []byte, entry string) bool {
	return bytes.Contains(env, []byte(entry)) && slices.Contains(strings.Split(string(env), "\x00"), entry)
}

// proc names a file of a process.
func proc(pid int, file string) string { return "/proc/" + strconv.Itoa(pid) + "/" + file }

// signal asks the process to end, or ends it, and reports whether it was
// reached. FindProcess holds on to the process there is under the number (a
// pidfd); that it is ours is read after that, so no other can be hit.
func (m marked) signal(entry string, kill bool) bool {
	p, err := os.FindProcess(m.pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if env, err := os.ReadFile(proc(m.pid, "environ")); err != nil || !carries(env, entry) {
		return false
	}
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	return p.Signal(sig) == nil
}

// line tells a person which process it is.
func (m marked) line() string {
	args, err := os.ReadFile(proc(m.pid, "cmdline"))
	text := ports.Printable(string(bytes.ReplaceAll(args, []byte{0}, []byte{' '})))
	if err != nil || text == "" {
		text = "ended meanwhile"
	}
	return "pid " + strconv.Itoa(m.pid) + " (" + ports.Clip(text, 80) + ")"
}

func describe(found []marked) string {
	lines := make([]string, len(found))
	for i, m := range found {
		lines[i] = m.line()
	}
	return strings.Join(lines, ", ")
}
