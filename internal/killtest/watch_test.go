//go:build linux

package killtest_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// diskCalls are the system calls by which a program says that something is to
// survive, or puts it in its place.
var diskCalls = []uintptr{
	unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
}

// launch becomes the program that is called, watched: each of diskCalls, of it
// and of all that it starts, waits until the process at the other end of
// descriptor 3 has seen it.
func launch(args []string) int {
	runtime.LockOSThread()
	if err := watchThisThread(3); err != nil {
		fmt.Fprintln(os.Stderr, "killtest: system calls cannot be watched (seccomp):", err)
		return 99
	}
	err := syscall.Exec(args[0], args, os.Environ())
	fmt.Fprintln(os.Stderr, "killtest:", err)
	return 99
}

func watchThisThread(socket int) error {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(what uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
	}
	filter := []unix.SockFilter{load(0)} // the call's number
	for i, call := range diskCalls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(call), Jt: uint8(len(diskCalls) - i)})
	}
	filter = append(filter, answer(unix.SECCOMP_RET_ALLOW), answer(unix.SECCOMP_RET_USER_NOTIF))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	err := unix.Sendmsg(socket, []byte("!"), unix.UnixRights(int(fd)), nil, 0)
	return errors.Join(err, unix.Close(socket), unix.Close(int(fd)))
}

// A file names what a file, or a folder, held at one instant: a change makes
// another of it, a rename does not, nor does a new date, which git gives to an
// object that it finds to be there.
type file struct {
	inode uint64
	holds [sha256.Size]byte
}

func fileAt(path string) (file, bool) {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil {
		return file{}, false
	}
	return file{st.Ino, sha256.Sum256([]byte(read(path)))}, true
}

// A disk knows what was synced: the contents of files, and the names in
// folders.
type disk struct {
	calls atomic.Int64 // that watched processes made themselves

	mu      sync.Mutex
	files   map[file]bool
	writing map[file]bool     // written out, and safe once anything else is synced
	names   map[string]bool   // a path whose name its folder is known to have
	content map[string]string // of a reference when its lock file was last synced
}

// newDisk returns a disk on which everything there is below the roots is safe.
func newDisk(t testing.TB, roots ...string) *disk {
	t.Helper()
	d := &disk{files: map[file]bool{}, writing: map[file]bool{}, names: map[string]bool{}, content: map[string]string{}}
	for _, root := range roots {
		walk(t, root, func(_, path string, e os.DirEntry) bool {
			if f, ok := fileAt(path); ok {
				d.files[f], d.names[path] = true, true
			}
			if e.Type().IsRegular() {
				d.content[path] = read(path)
			}
			return false
		})
	}
	return d
}

// seen takes in a call before it is made.
func (d *disk) seen(call int, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := fileAt(path)
	if !ok {
		return
	}
	if uintptr(call) == unix.SYS_SYNC_FILE_RANGE {
		d.writing[f] = true
		return
	}
	d.files[f] = true
	for w := range d.writing {
		d.files[w] = true
	}
	clear(d.writing)
	entries, err := os.ReadDir(path)
	if err != nil { // it is a file
		d.content[path] = read(path)
		return
	}
	for _, e := range entries {
		d.names[filepath.Join(path, e.Name())] = true
	}
}

// holds reports whether what is in the file at path is safe.
func (d *disk) holds(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := fileAt(path)
	return ok && d.files[f]
}

// was returns what the reference in the file at path was when it was last
// synced.
func (d *disk) was(path string) (content string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if content, ok = d.content[path+".lock"]; !ok {
		content, ok = d.content[path]
	}
	return content, ok
}

// leadsTo reports whether the way to path, from below root on, is safe.
func (d *disk) leadsTo(root, path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ; path != root; path = filepath.Dir(path) {
		if !d.names[path] {
			return false
		}
	}
	return true
}

// watch starts a process whose disk calls d sees, killed at the at-th of its own.
func (d *disk) watch(at int, proc *process) {
	t := proc.s.t
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	ours, theirs := pair[0], os.NewFile(uintptr(pair[1]), "socket")
	defer unix.Close(ours)
	cmd := proc.cmd
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Args = append([]string{"watched", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = filepath.Join(proc.s.dir, "bin", "watched")
	proc.begin()
	require.NoError(t, theirs.Close())
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(ours, make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	require.NoError(t, err)
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	require.NoError(t, err)
	if len(messages) == 0 {
		r := proc.wait()
		t.Skipf("no power cut can be played here: %s", r.stderr)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	require.NoError(t, err)
	go d.serve(fds[0], cmd.Process.Pid, at)
}

// notification and response are the kernel's seccomp_notif and
// seccomp_notif_resp.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	call  int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// serve answers the calls of a process and its family until none of them is
// left. The process is killed at its at-th call, instead of making it; 0 is
// never.
func (d *disk) serve(listener int, pid, at int) {
	defer unix.Close(listener)
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			if poll[0].Revents != 0 {
				return // all have ended
			}
			continue
		}
		var got notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&got))); errno != 0 {
			continue // the caller died
		}
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", got.pid, got.args[0]))
		isSync := slices.Contains([]int32{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE}, got.call)
		if exists(fmt.Sprintf("/proc/%d/task/%d", pid, got.pid)) {
			if n := int(d.calls.Add(1)); n == at {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				continue
			}
		}
		if isSync {
			d.seen(int(got.call), path)
		}
		answer := response{id: got.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer)))
	}
}
