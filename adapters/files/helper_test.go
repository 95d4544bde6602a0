//go:build unix

package files_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/files"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

// TestMain also is the other processes that the tests need.
func TestMain(m *testing.M) {
	home := os.Getenv("AGL_TEST_HOME")
	var err error
	switch role := os.Getenv("AGL_TEST_ROLE"); role {
	case "":
		os.Exit(m.Run())
	case "holder", "holder with a child":
		err = hold(home, role != "holder")
	case "limited":
		err = writeLimited(home)
	case "store":
		err = porttest.ServeStore(files.New(home, "p"), os.Stdin, os.Stdout)
	case "without room":
		err = writeWithoutRoom(home)
	case "small disk":
		err = writeToSmallDisk(home)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// other returns this program in another role.
func other(role, home string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AGL_TEST_ROLE="+role, "AGL_TEST_HOME="+home, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// hold takes the lock and keeps it until its input ends, then dies without
// letting go.
func hold(home string, child bool) error {
	lock, err := files.New(home, "p").Lock(context.Background(), label)
	if err != nil {
		return err
	}
	pid := 0
	if child {
		cmd := exec.Command("sleep", "600")
		cmd.ExtraFiles = lock.Files()
		if err := cmd.Start(); err != nil {
			return err
		}
		pid = cmd.Process.Pid
	}
	fmt.Println("held", pid)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startHolder returns a process that has the lock, its child if it was asked
// to have one, and what ends it.
func startHolder(t *testing.T, role, home string) (holder *exec.Cmd, child int, kill func()) {
	t.Helper()
	holder = other(role, home)
	stdin, err := holder.StdinPipe()
	require.NoError(t, err)
	stdout, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	kill = func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
		stdin.Close()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscanf(line, "held %d", &child)
	require.NoError(t, err, line)
	if child != 0 {
		t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	}
	return holder, child, kill
}

// writeLimited writes documents where no file may be larger than 64 KiB.
func writeLimited(home string) error {
	if err := limitFiles(); err != nil {
		return err
	}
	return writeTooMuch(home, func() error { return nil })
}

func limitFiles() error {
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10})
}

// writeTooMuch replaces a document by one that does not fit, makes room, and
// goes on. It fails if anything is not as it should be.
func writeTooMuch(home string, room func() error) error {
	ctx, s := context.Background(), files.New(home, "p")
	if err := s.Write(ctx, label, "records/1", []byte("old"), ports.Durable); err != nil {
		return fmt.Errorf("a small document: %w", err)
	}
	err := s.Write(ctx, label, "records/1", make([]byte, 1<<20), ports.Durable)
	if err := refusedFor(s, "records/1", err); err != nil {
		return err
	}
	got, err := s.Read(ctx, label, "records/1")
	if err != nil || string(got) != "old" {
		return fmt.Errorf("the old document is %q, %v", got, err)
	}
	entries, err := os.ReadDir(s.Path(label, "records"))
	if err != nil || len(entries) != 1 {
		return fmt.Errorf("left behind: %v, %v", entries, err)
	}
	err = s.Write(ctx, label, "notes/1", make([]byte, 1<<20), ports.Volatile)
	if err := refusedFor(s, "notes/1", err); err != nil {
		return err
	}
	if err := s.Delete(ctx, label, "notes/1"); err != nil { // it holds what fitted
		return err
	}
	if err := room(); err != nil {
		return err
	}
	if err := s.Write(ctx, label, "records/2", []byte("new"), ports.Durable); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	return nil
}

// refusedFor checks the error of a write that did not fit.
func refusedFor(s *files.Store, name string, err error) error {
	if ports.KindOf(err) != ports.Unavailable || !strings.Contains(err.Error(), s.Path(label, name)) {
		return fmt.Errorf("want Unavailable naming %s, got: %w", name, err)
	}
	fmt.Println("refused:", err)
	return nil
}
