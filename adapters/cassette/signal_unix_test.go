//go:build unix

package cassette_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/cassette"
)

func TestASignalIsPartOfTheRecording(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"asked to end": syscall.SIGTERM, "interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			until := func(sent syscall.Signal) drive {
				return func(t testing.TB, program string) {
					c := connect(t, program, "lines", nil)
					c.send(order{Say: "a"})
					require.Contains(t, c.hear(), "said")
					if sent != 0 {
						c.signal(sent)
					}
					c.wait()
					if status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus); sent == sig && (!status.Signaled() || status.Signal() != sig) {
						t.Errorf("it ended otherwise: %v", c.cmd.ProcessState)
					}
				}
			}
			path := recording(t, cassette.Options{}, until(sig))
			require.Contains(t, content(t, path), `"signal":"SIG`)
			require.Empty(t, playing(t, path, cassette.Options{}, until(sig)))

			require.Contains(t, playing(t, path, cassette.Options{Patience: 2 * time.Second}, until(0)), "still has not come: a SIG")
			if sig != syscall.SIGKILL {
				require.Contains(t, playing(t, path, cassette.Options{}, until(syscall.SIGHUP)), "a SIGHUP, which it does not get in the recording")
				require.Contains(t, playing(t, path, cassette.Options{}, until(syscall.SIGKILL)), "ended before the end of take 1")
			}
		})
	}
}

func TestASignalThatWasNotRecordedFails(t *testing.T) {
	t.Parallel()
	path := recording(t, cassette.Options{}, func(t testing.TB, program string) {
		c := connect(t, program, "lines", nil)
		c.send(order{Say: "a"})
		c.hear()
		c.end()
	})
	require.Contains(t, playing(t, path, cassette.Options{}, func(t testing.TB, program string) {
		c := connect(t, program, "lines", nil)
		c.send(order{Say: "a"})
		c.hear()
		c.signal(syscall.SIGTERM)
		c.wait()
	}), "a SIGTERM, which it does not get in the recording")
}

func TestACrashIsPlayed(t *testing.T) {
	t.Parallel()
	drive := func(t testing.TB, program string) {
		c := connect(t, program, "lines", nil)
		c.send(order{Die: true})
		c.wait()
		if status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGSEGV {
			t.Errorf("it ended otherwise: %v, %s", c.cmd.ProcessState, c.errs.String())
		}
	}
	require.Empty(t, playing(t, recording(t, cassette.Options{}, drive), cassette.Options{}, drive))
}
