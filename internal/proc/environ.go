package proc

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// gitLocal are the variables that point git at one repository, as `git
// rev-parse --local-env-vars` lists them in the versions there are. Git sets
// them for its hooks; what is started from one would inherit them and work on
// that repository wherever it runs.
var gitLocal = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR",
	"GIT_CONFIG",
	"GIT_CONFIG_COUNT",
	"GIT_CONFIG_PARAMETERS",
	"GIT_DIR",
	"GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE",
	"GIT_INDEX_FILE",
	"GIT_INTERNAL_SUPER_PREFIX",
	"GIT_NO_REPLACE_OBJECTS",
	"GIT_OBJECT_DIRECTORY",
	"GIT_PREFIX",
	"GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE",
	"GIT_WORK_TREE",
}

// Environ returns base (nil: this process's environment) without the variables
// that point git at one repository, and then add, whose values win. Entries
// are "NAME=value".
func Environ(base []string, add ...string) []string {
	if base == nil {
		base = os.Environ()
	}
	env := make([]string, 0, len(base)+len(add))
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if !slices.Contains(gitLocal, name) {
			env = append(env, entry)
		}
	}
	return append(env, add...)
}
