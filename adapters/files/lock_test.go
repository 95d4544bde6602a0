//go:build unix

package files_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/files"
	"example.com/agl/ports"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestALockIsHeldUntilItIsReleased(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := files.New(home, "p")
	who, err := s.Holder(quiet, label)
	require.NoError(t, err)
	require.Empty(t, who)

	lock, err := s.Lock(quiet, label)
	require.NoError(t, err)
	_, err = s.Lock(quiet, label)
	var inUse *ports.InUseError
	require.ErrorAs(t, err, &inUse, "a second goroutine")
	require.Contains(t, inUse.Holder, "this process "+itoa(os.Getpid()))
	_, err = files.New(home, "p").Lock(quiet, "ISSUE-7")
	require.ErrorAs(t, err, &inUse, "a label that clashes, through another store")
	elsewhere, err := s.Lock(quiet, "another")
	require.NoError(t, err)
	require.NoError(t, elsewhere.Release())

	require.NoError(t, lock.Release())
	require.NoError(t, lock.Release())
	who, err = s.Holder(quiet, label)
	require.NoError(t, err)
	require.Empty(t, who)
	again, err := s.Lock(quiet, label)
	require.NoError(t, err)
	require.NoError(t, again.Release())
}

func TestTheLockOutlivesTheDocumentsAndGoesWithItsHolder(t *testing.T) {
	t.Parallel()
	s := files.New(t.TempDir(), "p")
	require.NoError(t, s.Write(quiet, label, "run.json", nil, ports.Durable))
	lock, err := s.Lock(quiet, label)
	require.NoError(t, err)
	require.NoError(t, s.Remove(quiet, label, "run.json"))
	_, err = s.Lock(quiet, label)
	require.ErrorIs(t, err, ports.Conflicted)
	require.NoError(t, lock.Release())
	left, err := filepath.Glob(filepath.Join(s.Path("x", ""), "../../locks/*"))
	require.NoError(t, err)
	require.Empty(t, left, "the lock file of a removed run")
}

func TestALockFileThatWasRemovedMeanwhileIsNotTheLock(t *testing.T) {
	t.Parallel()
	s := files.New(t.TempDir(), "p")
	first, err := s.Lock(quiet, label)
	require.NoError(t, err)
	path := first.Files()[0].Name()
	late, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer late.Close()
	require.NoError(t, first.Release()) // of a run without documents: the file goes

	ok, err := files.Claim(late, path)
	require.NoError(t, err)
	require.False(t, ok, "it is gone")
	second, err := s.Lock(quiet, label)
	require.NoError(t, err)
	defer second.Release()
	ok, err = files.Claim(late, path)
	require.NoError(t, err)
	require.False(t, ok, "it is another")
}

// A lock file that is removed while others wait to lock it must not let two of
// them in.
func TestOnlyOneHasTheLockWhileItsFileComesAndGoes(t *testing.T) {
	t.Parallel()
	s := files.New(t.TempDir(), "p")
	var inside, taken atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				lock, err := s.Lock(quiet, label)
				if err != nil {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two have the lock")
				}
				taken.Add(1)
				for range 50 { // give the others time to get in too
					runtime.Gosched()
				}
				inside.Add(-1)
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if taken.Load() == 0 {
		t.Error("nobody had it")
	}
}

// Case D6: what a dead holder's children still do is waited for.
func TestTheChildrenOfADeadHolderAreWaitedFor(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	holder, child, kill := startHolder(t, "holder with a child", home)
	s := files.New(home, "p")
	_, err := s.Lock(quiet, label)
	require.ErrorContains(t, err, "in use by process "+itoa(holder.Process.Pid))
	kill()

	who, err := s.Holder(quiet, label)
	require.NoError(t, err)
	require.Empty(t, who, "the holder is dead")
	synctest.Test(t, func(t *testing.T) { // whose clock runs ahead
		began := time.Now()
		_, err := s.Lock(t.Context(), label)
		var inUse *ports.InUseError
		require.ErrorAs(t, err, &inUse)
		require.Contains(t, inUse.Holder, "a child of process "+itoa(holder.Process.Pid))
		require.Contains(t, inUse.Holder, ".lock open")
		require.InDelta(t, 30, time.Since(began).Seconds(), 1)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Lock(ctx, label)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})

	got := make(chan error, 1)
	go func() {
		lock, err := s.Lock(quiet, label)
		if err == nil {
			err = lock.Release()
		}
		got <- err
	}()
	require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
	require.NoError(t, <-got)
}

// Cases E7 and E8: a number alone says nothing.
func TestAHolderIsNotTakenForAnotherProcessOfItsNumber(t *testing.T) {
	t.Parallel()
	s := files.New(t.TempDir(), "p")
	lock, err := s.Lock(quiet, label)
	require.NoError(t, err)
	file := lock.Files()[0].Name()
	doc, err := os.ReadFile(file)
	require.NoError(t, err)
	record := make(map[string]any)
	require.NoError(t, json.Unmarshal(doc, &record))
	rewrite := func(key string, value any) {
		changed := make(map[string]any)
		for k, v := range record {
			changed[k] = v
		}
		changed[key] = value
		doc, err := json.Marshal(changed)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, doc, 0o600))
	}

	rewrite("start", 1)
	who, err := s.Holder(quiet, label)
	require.NoError(t, err)
	require.Empty(t, who, "this process was started at another time")

	rewrite("space", "pid:[1]")
	who, err = s.Holder(quiet, label)
	require.NoError(t, err)
	require.Regexp(t, `^process \d+ on .`, who, "it holds the lock, and is in another container")

	rewrite("pid", os.Getpid())
	require.NoError(t, lock.Release())
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	rewrite("pid", os.Getpid())
	who, err = s.Holder(quiet, label)
	require.NoError(t, err)
	require.Empty(t, who, "this process lives and does not hold the lock")
}

func TestALockRecordThatCannotBeReadIsNobodys(t *testing.T) {
	t.Parallel()
	s := files.New(t.TempDir(), "p")
	lock, err := s.Lock(quiet, label)
	require.NoError(t, err)
	defer lock.Release()
	file := lock.Files()[0].Name()
	for _, doc := range []string{"", "{", "[]", `{"pid":"x"}`, `{"pid":-1}`, "\x00\x00"} {
		require.NoError(t, os.WriteFile(file, []byte(doc), 0o600))
		who, err := s.Holder(quiet, label)
		require.NoError(t, err)
		require.Empty(t, who)
		synctest.Test(t, func(t *testing.T) {
			_, err := s.Lock(t.Context(), label)
			require.ErrorContains(t, err, "does not say who it is")
		})
	}
}

func TestWhatDeadWritersLeftGoesWhenTheRunIsLocked(t *testing.T) {
	t.Parallel()
	s := files.New(t.TempDir(), "p")
	require.NoError(t, s.Write(quiet, label, "records/1", nil, ports.Durable))
	dead := s.Path(label, "records/~tmp.1.1.x")
	odd := s.Path(label, "~tmp.x")
	living := s.Path(label, "records/~tmp."+self(t)+".x")
	for _, path := range []string{dead, odd, living} {
		leave(t, path)
	}
	lock, err := s.Lock(quiet, label)
	require.NoError(t, err)
	defer lock.Release()
	require.NoFileExists(t, dead)
	require.NoFileExists(t, odd)
	require.FileExists(t, living)
	require.FileExists(t, s.Path(label, "records/1"))
}

// People remove lock files.
func TestALockWhoseFileWasRemovedIsTakenAgainOrNothingIsWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s, other := files.New(home, "p"), files.New(home, "p")
	lock, err := s.Lock(quiet, label)
	require.NoError(t, err)
	file := filepath.Join(home, "projects/p/locks", label+".lock")
	require.NoError(t, os.RemoveAll(filepath.Dir(file)))
	require.NoError(t, s.Write(quiet, label, "a.json", []byte("1"), ports.Durable))
	var inUse *ports.InUseError
	_, err = other.Lock(quiet, label)
	require.ErrorAs(t, err, &inUse, "it is locked again")

	require.NoError(t, os.Remove(file))
	theirs, err := other.Lock(quiet, label)
	require.NoError(t, err)
	err = s.Write(quiet, label, "a.json", []byte("2"), ports.Durable)
	require.ErrorAs(t, err, &inUse)
	require.Contains(t, err.Error(), "when the lock file was removed")
	require.NoError(t, other.Write(quiet, label, "b.json", nil, ports.Durable))
	doc, err := other.Read(quiet, label, "a.json")
	require.NoError(t, err)
	require.Equal(t, "1", string(doc))

	require.NoError(t, lock.Release())
	_, err = s.Lock(quiet, label)
	require.ErrorAs(t, err, &inUse, "the other's is untouched")
	require.NoError(t, theirs.Release())
}
