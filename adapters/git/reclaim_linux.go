package git

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// heldOpen reports whether a process may still hold a lock file: one has it
// open, or a git works in its folder, or the file is somebody else's so that
// their processes cannot be looked into.
func heldOpen(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || int(stat.Uid) != os.Geteuid() {
		return true
	}
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(procs) == 0 {
		return true
	}
	for _, proc := range procs {
		if worksIn(proc, filepath.Dir(path)) {
			return true
		}
		fds, err := os.ReadDir(proc + "/fd")
		if err != nil {
			continue // gone, or another user's, who could not have made this file
		}
		for _, fd := range fds {
			if target, err := os.Readlink(proc + "/fd/" + fd.Name()); err == nil && target == path {
				return true
			}
		}
	}
	return false
}

// worksIn reports whether a process is a git that was given dir, or has it or
// the checkout it belongs to as its working directory: git closes some lock
// files while it waits for an editor.
func worksIn(proc, dir string) bool {
	name, err := os.ReadFile(proc + "/comm")
	if err != nil || !strings.HasPrefix(string(name), "git") {
		return false
	}
	if args, err := os.ReadFile(proc + "/cmdline"); err == nil && strings.Contains(string(args), dir) {
		return true
	}
	cwd, err := os.Readlink(proc + "/cwd")
	if err != nil {
		return false
	}
	if cwd == dir || below(cwd, dir) {
		return true
	}
	gitdir, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	checkout := filepath.Dir(strings.TrimSpace(string(gitdir)))
	return err == nil && (cwd == checkout || below(cwd, checkout))
}
