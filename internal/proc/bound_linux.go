package proc

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// begin starts cmd. The kernel asks a program with a mark to end when this
// process dies; that is, when the thread dies that started it, which is why it
// is one that never ends.
func (c *Cmd) begin(cmd *exec.Cmd) error {
	if c.Mark == "" {
		return cmd.Start()
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	started := make(chan error)
	starter() <- func() { started <- cmd.Start() }
	return <-started
}

// starter returns what takes functions to be run on the thread that never ends.
var starter = sync.OnceValue(func() chan<- func() {
	fns := make(chan func())
	go func() {
		runtime.LockOSThread()
		for fn := range fns {
			fn()
		}
	}()
	return fns
})

// avenge is a script that waits until its input ends, and then has a second to
// end the group $1 and what carries the mark $2, wherever it has gone.
const avenge = `read -r _
marked() { grep -lzxF -e "$1" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do kill -"$2" "$pid"; done; }
kill -TERM -"$1"; marked "$2" TERM
sleep 0.4
kill -KILL -"$1"; marked "$2" KILL; marked "$2" KILL
`

// watch has a shell end what belongs to the program when this process dies,
// which can no longer do it then and of which the kernel tells only the program
// itself. stop ends the shell. Where it cannot be started, the kernel's word is
// all there is.
func (c *Cmd) watch(leader int) (stop func()) {
	if c.Mark == "" {
		return func() {}
	}
	r, w, err := os.Pipe() // whose other end is in this process alone
	if err != nil {
		return func() {}
	}
	defer r.Close()
	shell := exec.Command("sh", "-c", avenge, "sh", strconv.Itoa(leader), c.Mark)
	shell.Dir, shell.Env = "/", []string{"PATH=" + os.Getenv("PATH")}
	shell.Stdin = r
	detach(shell) // the keys that end this process do not end it
	if err := shell.Start(); err != nil {
		w.Close()
		return func() {}
	}
	return func() {
		_ = shell.Process.Kill()
		_ = shell.Wait()
		w.Close()
	}
}
