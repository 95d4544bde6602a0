package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
)

// The test's own executable is started as the working process.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == workArg {
		if err := work(context.Background(), os.Args[2], os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(gittest.Main(m))
}

func TestTheQuickstartKeepsWhatWasBought(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out strings.Builder
	require.NoError(t, show(t.Context(), &out))
	text := out.String()
	for _, line := range []string{
		`implementer #2 begins\n(      .*\n)*\nThe process was killed at this point`,
		`implementer #1 is recorded: nothing is bought\n  reviewer #1 is recorded: nothing is bought\n  implementer #2 begins`,
		`(?m)^  implementer #1  1 +once +2252$`,
		`(?m)^  reviewer #1 +1 +once +2466$`,
		`(?m)^  implementer #2  2 +once +2555$`,
		`(?m)^  reviewer #2 +1 +once +2568$`,
		`(?m)^ +9841$`,
		`(?m)^  [0-9a-f]{7,} fix: greet the world where no name is given \(round 2\)$`,
	} {
		require.Regexp(t, regexp.MustCompile(line), text)
	}
}
