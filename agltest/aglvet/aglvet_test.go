package aglvet_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"example.com/agl/agltest/aglvet"
)

func TestEachMistakeIsReportedWhereItIsMade(t *testing.T) {
	t.Parallel()
	analysistest.Run(t, analysistest.TestData(), aglvet.Analyzer, "./...")
}
