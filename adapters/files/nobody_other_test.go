//go:build unix && !linux

package files_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

func writeToSmallDisk(string) error { return errors.New("only on Linux") }

func asNobody(t testing.TB) {
	if os.Geteuid() == 0 {
		t.Skip("root has every right here; run the tests as somebody else")
	}
}

func self(*testing.T) string { return fmt.Sprintf("%d.0", os.Getpid()) }
