package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/agl"
	"example.com/agl/ports"
)

func TestShowSumsUsageUpByRoleAndByModel(t *testing.T) {
	t.Parallel()
	step := func(role, model string, input int64) agl.Record {
		return agl.Record{Kind: agl.KindStep, Name: role, Model: ports.Model(model), Usage: agl.Usage{
			Input: input, Output: 10, Cached: 5, Reasoning: 2, Cost: 0.5, Complete: true,
		}}
	}
	records := []agl.Record{
		step("builder", "claude/opus", 1000),
		step("reviewer", "codex/gpt", 1),
		step("builder", "claude/opus", 1000),
		step("mender", "claude/opus", 7),
		step("reviewer", "codex/new", 1),
		{Kind: agl.KindCall, Name: "count"},
		{Kind: agl.KindLanding, Name: "parser"},
		{Kind: agl.KindLanding, Name: "lexer", Usage: agl.Usage{Input: 3}},
	}
	want := `ROLE         MODEL        STEPS  INPUT  CACHED  OUTPUT  REASONING  COST
builder      claude/opus  2      2,000  10      20      4          $1.00
reviewer     codex/gpt    1      1      5       10      2          $0.50
mender       claude/opus  1      7      5       10      2          $0.50
reviewer     codex/new    1      1      5       10      2          $0.50
(conflicts)  -            1      ≥3     ≥0      ≥0      ≥0         -
reviewer     (all)        2      2      10      20      4          $1.00
(all)        claude/opus  3      2,007  15      30      6          $1.50
`
	if diff := cmp.Diff(want, usageText(records)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	sums := usageJSON(records)
	if sums.Total.Input != 2012 || sums.Total.Complete || len(sums.Roles) != 4 || len(sums.Models) != 4 {
		t.Errorf("%+v", sums)
	}
}
