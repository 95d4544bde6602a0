package proc

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// createNoWindow keeps a console program from having a console.
const createNoWindow = 0x08000000

func detach(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.HideWindow = true
	cmd.SysProcAttr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow
}

// shellCommand passes line as it is: cmd does not read quotes as other
// programs do.
func shellCommand(line string) *exec.Cmd {
	cmd := exec.Command("cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /S /C "` + line + `"`}
	return cmd
}

// A group is the leader alone: here there are no groups to be ended by.
type group struct {
	leader *os.Process
	grace  time.Duration
}

// terminate ends the leader: it cannot be asked.
func (g *group) terminate() { g.kill() }

func (g *group) kill() { _ = g.leader.Kill() }

func (g *group) end() bool { return false }

func deathSignal(*os.ProcessState) string { return "" }

func signalName(int) string { return "" }
