package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// A status is what git status says about a checkout.
type status struct {
	oid       string   // the commit HEAD is at; "" if it is at none
	tracked   []string // paths that differ between HEAD, index and files
	changed   []string // those of them whose file differs from the index, unmerged ones among them
	untracked []string // paths that are neither tracked nor ignored; a nested repository ends in a slash
	closed    bool     // git could not look into a folder: what is in it is in none of these
}

// status asks git how the checkout differs from its HEAD, after it has been
// made to look at every file. Submodules are compared by the commit they are
// at: to look into one, git would run a git that obeys the nested repository's
// own configuration, filters included.
func (c *checkout) status(ctx context.Context) (status, error) {
	x, err := c.readIndex(ctx)
	if err != nil {
		return status{}, err
	}
	if err := c.showAll(ctx, x); err != nil {
		return status{}, err
	}
	var stderr bytes.Buffer
	out, err := c.run(ctx, call{read: true, stderr: &stderr, args: []string{
		"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all",
		"--ignore-submodules=dirty", "--no-ahead-behind", "--no-renames",
	}})
	if err != nil {
		return status{}, err
	}
	st, err := parseStatus(out)
	st.closed = bytes.Contains(stderr.Bytes(), []byte("warning: could not open directory '"))
	return st, err
}

func (s status) clean() bool { return len(s.tracked) == 0 && len(s.untracked) == 0 }

// parseStatus reads git status --porcelain=v2 --branch -z.
func parseStatus(out []byte) (status, error) {
	var s status
	entries := bytes.Split(out, []byte{0})
	if last := len(entries) - 1; len(entries[last]) == 0 {
		entries = entries[:last]
	}
	for i := 0; i < len(entries); i++ {
		entry := entries[i]
		if len(entry) < 2 || entry[1] != ' ' {
			return status{}, unreadable(entry)
		}
		rest := entry[2:]
		fields := map[byte]int{'1': 7, '2': 8, 'u': 9}[entry[0]] // how many stand before the path
		switch entry[0] {
		case '#':
			if oid, ok := bytes.CutPrefix(rest, []byte("branch.oid ")); ok && !bytes.HasPrefix(oid, []byte("(")) {
				s.oid = string(oid)
			}
		case '1', '2', 'u':
			parts := bytes.SplitN(rest, []byte(" "), fields+1)
			if len(parts) != fields+1 || len(parts[fields]) == 0 {
				return status{}, unreadable(entry)
			}
			s.tracked = append(s.tracked, string(parts[fields]))
			if entry[0] == 'u' || len(parts[0]) == 2 && parts[0][1] != '.' {
				s.changed = append(s.changed, string(parts[fields]))
			}
			if entry[0] == '2' { // the path it was renamed from follows
				if i++; i == len(entries) {
					return status{}, unreadable(entry)
				}
				s.tracked = append(s.tracked, string(entries[i]))
			}
		case '?':
			s.untracked = append(s.untracked, string(rest))
		case '!':
		default:
			return status{}, unreadable(entry)
		}
	}
	slices.Sort(s.tracked)
	slices.Sort(s.changed)
	return s, nil
}

func unreadable(entry []byte) error {
	return fmt.Errorf("git status wrote what cannot be read: %q", entry[:min(len(entry), 200)])
}
