package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// startOf returns when a process started, in ticks since boot, and whether it
// runs.
func startOf(pid int) (start uint64, ok bool) {
	stat, ok := readStat(pid)
	if !ok || stat.ended() {
		return 0, false
	}
	return stat.start, true
}

// A stat is what /proc says of a process.
type stat struct {
	state  byte
	group  int
	kernel bool // it is a thread of the kernel's
	start  uint64
}

func (s stat) ended() bool { return s.state == 'Z' || s.state == 'X' }

func readStat(pid int) (stat, bool) {
	line, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return stat{}, false
	}
	return parseStat(line)
}

// parseStat reads a line of /proc/PID/stat. The second field, the program's
// name in parentheses, may hold anything, parentheses too.
func parseStat(line []byte) (stat, bool) {
	end := bytes.LastIndexByte(line, ')')
	if end < 0 {
		return stat{}, false
	}
	const state, group, flags, start = 0, 2, 6, 19 // counted from the third field
	fields := strings.Fields(string(line[end+1:]))
	if len(fields) <= start || len(fields[state]) != 1 {
		return stat{}, false
	}
	g, groupErr := strconv.Atoi(fields[group])
	f, flagsErr := strconv.ParseUint(fields[flags], 10, 64)
	since, startErr := strconv.ParseUint(fields[start], 10, 64)
	if groupErr != nil || flagsErr != nil || startErr != nil {
		return stat{}, false
	}
	const kernelThread = 0x00200000
	return stat{state: fields[state][0], group: g, kernel: f&kernelThread != 0, start: since}, true
}

// onlyZombies reports whether every member of a group has ended and only was
// not waited for, as happens where nobody waits for orphans.
func onlyZombies(group int) bool {
	for _, pid := range pids() {
		if s, ok := readStat(pid); ok && s.group == group && !s.ended() {
			return false
		}
	}
	return true
}

// pids returns the numbers of all processes that can be seen.
func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var list []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			list = append(list, pid)
		}
	}
	return list
}

func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(id))
}

func pidSpace() string {
	space, _ := os.Readlink("/proc/self/ns/pid")
	return space
}
