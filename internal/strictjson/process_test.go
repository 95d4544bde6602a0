package strictjson_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	_ "time/tzdata" // so that TZ means something on every machine

	"github.com/stretchr/testify/require"
)

// D17: neither the process, its environment, nor where it runs may reach a text.
func TestTheTextIsTheSameInEveryProcess(t *testing.T) {
	const printing = "STRICTJSON_PRINT"
	if os.Getenv(printing) != "" {
		fmt.Println(digests(t))
		return
	}
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	want := digests(t)
	for i, env := range [][]string{
		{"GOMAXPROCS=1", "TZ=Asia/Tokyo", "LANG=C", "HOME=/nonexistent"},
		{"GOMAXPROCS=2", "TZ=America/St_Johns", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "HOME=" + t.TempDir()},
		{"GOMAXPROCS=7", "TZ=UTC", "LANG=de_DE.UTF-8", "GODEBUG=randautoseed=0"},
		{"TZ=Pacific/Apia"},
	} {
		cmd := exec.Command(self, "-test.run=^"+t.Name()+"$")
		cmd.Dir = t.TempDir()
		cmd.Env = append(env, printing+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, strings.SplitN(string(out), "\n", 2)[0], "process %d, %v", i, env)
	}
}

func digests(t *testing.T) string {
	var all []string
	for _, g := range golden() {
		sum := sha256.Sum256([]byte(canonical(t, g.v)))
		all = append(all, hex.EncodeToString(sum[:8]))
	}
	return strings.Join(all, " ")
}
