//go:build unix

package proc

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// detach gives cmd a session of its own: a group to be ended by, and no
// terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func shellCommand(line string) *exec.Cmd { return exec.Command("sh", "-c", line) }

// A group is the processes a leader leads. Its number is not given to another
// while it has a member, so signalling an ended group hits nobody.
type group struct {
	leader *os.Process
	grace  time.Duration
	until  time.Time // when the grace ends; zero if nobody was asked to end yet
}

// terminate asks the members to end.
func (g *group) terminate() {
	if g.until.IsZero() {
		g.until = time.Now().Add(g.grace)
	}
	_ = syscall.Kill(-g.leader.Pid, syscall.SIGTERM)
}

// kill ends the members.
func (g *group) kill() { _ = syscall.Kill(-g.leader.Pid, syscall.SIGKILL) }

// end ends the members that outlived the leader, and reports whether there
// were any.
func (g *group) end() bool {
	if !g.alive() {
		return false
	}
	g.terminate()
	for pause := time.Millisecond; g.alive() && time.Now().Before(g.until); pause = min(2*pause, 20*time.Millisecond) {
		time.Sleep(min(pause, time.Until(g.until)))
	}
	// Once even where none is seen: one may have been born behind the look.
	// What does not end within a second is stuck in the kernel.
	g.kill()
	for deadline := time.Now().Add(time.Second); g.alive() && time.Now().Before(deadline); g.kill() {
		time.Sleep(time.Millisecond)
	}
	return true
}

// alive reports whether the group has a member that runs. One that has ended
// and was not waited for has its number still.
func (g *group) alive() bool {
	return syscall.Kill(-g.leader.Pid, 0) == nil && !onlyZombies(g.leader.Pid)
}

func deathSignal(state *os.ProcessState) string {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}

// signalName names signal n, or is "" if there is none.
func signalName(n int) string {
	if n < 1 || n > 31 {
		return ""
	}
	return syscall.Signal(n).String()
}
