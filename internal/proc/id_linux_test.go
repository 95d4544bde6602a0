package proc_test

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/proc"
)

func TestThisProcessLives(t *testing.T) {
	t.Parallel()
	if got := proc.Self().Life(); got != proc.Living {
		t.Errorf("life = %v, want Living", got)
	}
}

// Case E7.
func TestAProcessThatEndedAndWasNotWaitedForDoesNotLive(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	id := proc.Of(cmd.Process.Pid)
	if got := id.Life(); got != proc.Living {
		t.Errorf("before its end, life = %v, want Living", got)
	}
	stdin.Close()
	for deadline := time.Now().Add(10 * time.Second); id.Life() != proc.Ended; {
		require.True(t, time.Now().Before(deadline), "a zombie counts as living")
	}
	require.NoError(t, cmd.Wait())
}

// Case E8.
func TestAProcessOfTheSameNumberIsAnother(t *testing.T) {
	t.Parallel()
	id := proc.Self()
	for name, tt := range map[string]struct {
		change func(*proc.ID)
		want   proc.Life
	}{
		"another start":         {func(id *proc.ID) { id.Start-- }, proc.Ended},
		"another boot":          {func(id *proc.ID) { id.Boot = "other" }, proc.Ended},
		"another container":     {func(id *proc.ID) { id.Space = "pid:[1]" }, proc.Elsewhere},
		"another machine":       {func(id *proc.ID) { id.Boot, id.Host = "other", "other" }, proc.Elsewhere},
		"the host's name moved": {func(id *proc.ID) { id.Host = "other" }, proc.Living},
	} {
		other := id
		tt.change(&other)
		if got := other.Life(); got != tt.want {
			t.Errorf("%s: life = %v, want %v", name, got, tt.want)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("cat", uint64(7), 3)
	f.Add("a) R 1 (b", uint64(1<<63), 0)
	f.Fuzz(func(t *testing.T, name string, start uint64, group int) {
		proc.ParseStat([]byte(name))
		line := fmt.Sprintf("12 (%s) S 1 %d 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %d 99 1\n", name, group, start)
		gotStart, gotGroup, ok := proc.ParseStat([]byte(line))
		if !ok || gotStart != start || gotGroup != group {
			t.Errorf("%q: start %d, group %d, %v", line, gotStart, gotGroup, ok)
		}
	})
}
