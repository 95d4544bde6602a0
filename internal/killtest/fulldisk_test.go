//go:build linux

package killtest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// envTmpfs names a folder on which this process is to mount a small file
// system of its own.
const envTmpfs = "KILLTEST_TMPFS"

// small is the size of that file system; it holds all the documents of a run,
// and little more.
const small = 256 << 10

// TestARunStopsAtAFullDiskAndGoesOnWhenThereIsRoom fills the file system that
// AGL's home is on, at several points of a run.
func TestARunStopsAtAFullDiskAndGoesOnWhenThereIsRoom(t *testing.T) {
	if home := os.Getenv(envTmpfs); home != "" {
		stopAtAFullDisk(t, home)
		return
	}
	takeTurn(t)
	self, err := os.Executable()
	require.NoError(t, err)
	// The same test again, in a mount name space where it may mount.
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), envTmpfs+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || exit != nil && exit.ExitCode() == cannotMount {
		t.Skipf("no file system can be mounted here, so none can be full: %v\n%s", err, out)
	}
	require.NoError(t, err, "%s", out)
}

const cannotMount = 97

// mountSmall mounts the file system that a full disk is played on.
func mountSmall(dir string) {
	err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+itoa(small)))
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(cannotMount)
	}
}

func stopAtAFullDisk(t *testing.T, home string) {
	w := fixPlay.uninterrupted(t)
	stops := 0
	for room := 4; room <= 100; room += 28 { // KiB left for the run; a document takes 4 at least
		s := newSandbox(t, fixPlay.script())
		s.home, s.trees = home, filepath.Join(s.dir, "trees")
		s.env = append(s.env, "AGL_HOME="+s.home, "AGL_TREES="+s.trees)
		operators := s.operators()
		filler := filepath.Join(home, "filler")
		require.NoError(t, fill(filler, room<<10))
		r := s.agl(fixPlay.run(s)...)
		stopped := r.code != 0
		if stopped {
			stops++
			assert.Equal(t, 6, r.code, "%s", r)
			assert.Contains(t, r.stderr, "no space left")
			assert.Contains(t, r.stderr, home)
			records := len(s.documents("records"))
			if exists(filepath.Join(s.runDir(), "run.json")) {
				assert.Len(t, s.show().Records, records, "nothing recorded is lost")
			}
		}
		require.NoError(t, os.Remove(filler))
		r = s.agl(s.next(fixPlay)...)
		require.Zero(t, r.code, "%s", r)
		s.sameAs(w)
		s.leavesNothing(operators)
		require.NoError(t, os.RemoveAll(filepath.Join(home, "projects")))
		if !stopped {
			break
		}
	}
	assert.Greater(t, stops, 1, "the disk was not full often enough")
}

// fill leaves room bytes on the file system that path is on.
func fill(path string, room int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 4<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(max(0, info.Size()-int64(room))), f.Close())
}
