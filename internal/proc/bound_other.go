//go:build !linux

package proc

import "os/exec"

func (c *Cmd) begin(cmd *exec.Cmd) error { return cmd.Start() }

func (c *Cmd) watch(int) (stop func()) { return func() {} }
