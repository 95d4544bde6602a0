package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An operation is something git can leave unfinished in a checkout.
type operation struct {
	file string // in the admin folder, present while it is under way
	name string
}

// operations returns what can be unfinished, the most telling file first.
func operations() []operation {
	return []operation{
		{"rebase-merge", "rebase (HEAD is detached while it lasts)"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase (HEAD is detached while it lasts)"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", "sequence of cherry-picks or reverts"},
		{"BISECT_START", "bisect"},
		{"BISECT_LOG", "bisect"},
	}
}

// unfinished names what the checkout is in the middle of.
func (c *checkout) unfinished() []string {
	var names []string
	for _, op := range operations() {
		if _, err := os.Lstat(filepath.Join(c.gitDir, filepath.FromSlash(op.file))); err == nil {
			names = append(names, op.name)
		}
	}
	if slices.Contains(names, "am") {
		names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, "rebase") })
	}
	return slices.Compact(names)
}

// endOperations removes the state of every unfinished operation, which a reset
// alone leaves. What an operation holds in commits (an autostash, the commits
// made so far) has been salvaged by then.
func (c *checkout) endOperations() error {
	for _, name := range []string{
		"rebase-merge", "rebase-apply", "sequencer",
		"MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD",
		"BISECT_START", "BISECT_LOG", "BISECT_HEAD", "BISECT_NAMES", "BISECT_TERMS", "BISECT_EXPECTED_REV",
		"BISECT_ANCESTORS_OK", "BISECT_FIRST_PARENT", "BISECT_RUN", "refs/bisect", "refs/rewritten",
	} {
		if err := os.RemoveAll(filepath.Join(c.gitDir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}
