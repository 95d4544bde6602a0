package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
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
	var buf []byte
	line, err := readProc(pid, "stat", &buf)
	if err != nil {
		return stat{}, false
	}
	return parseStat(line)
}

// readProc reads a file of a process into buf, which grows as needed; what it
// returns is valid until the next call. Every process is looked at after each
// step and each gate, so it takes few system calls: os.ReadFile asks for a size,
// which these files have not, and registers them to be polled.
func readProc(pid int, file string, buf *[]byte) ([]byte, error) {
	fd, err := retried(func() (int, error) { return syscall.Open(proc(pid, file), syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	data := (*buf)[:0]
	for {
		data = slices.Grow(data, 1<<10)
		n, err := retried(func() (int, error) { return syscall.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return nil, err
		}
		data = data[:len(data)+n]
		*buf = data
		if n == 0 {
			return data, nil
		}
	}
}

// retried makes a system call until no signal interrupts it.
func retried(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != syscall.EINTR {
			return n, err
		}
	}
}

// parseStat reads a line of /proc/PID/stat. The second field, the program's
// name in parentheses, may hold anything, parentheses too.
func parseStat(line []byte) (s stat, ok bool) {
	end := bytes.LastIndexByte(line, ')')
	if end < 0 {
		return stat{}, false
	}
	const (
		state, group, flags, start = 0, 2, 6, 19 // counted from the third field
		kernelThread               = 0x00200000
	)
	n := 0
	for field := range bytes.FieldsSeq(line[end+1:]) {
		var err error
		switch n {
		case state:
			if len(field) != 1 {
				return stat{}, false
			}
			s.state = field[0]
		case group:
			s.group, err = strconv.Atoi(string(field))
		case flags:
			var set uint64
			set, err = strconv.ParseUint(string(field), 10, 64)
			s.kernel = set&kernelThread != 0
		case start:
			s.start, err = strconv.ParseUint(string(field), 10, 64)
			return s, err == nil
		}
		if err != nil {
			return stat{}, false
		}
		n++
	}
	return stat{}, false
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
