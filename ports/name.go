package ports

import (
	"fmt"
	"strings"
)

// maxName is the longest label, namespace or role name, in bytes.
const maxName = 100

// CheckName returns an Invalid error saying what is wrong with name as a
// label, a namespace, a role's, a tool's or a workflow's name: they become
// parts of branches and of file names on every system. what names it in the
// message.
func CheckName(what, name string) error {
	if problem := nameProblem(name); problem != "" {
		return Invalid.Errorf("", "%s %q %s", what, name, problem)
	}
	return nil
}

func nameProblem(name string) string {
	if name == "" {
		return "is empty"
	}
	for i, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		default:
			return fmt.Sprintf("has %q at byte %d; it may have ASCII letters, digits, '.', '_' and '-'", r, i+1)
		}
	}
	device, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.Contains(name, ".."):
		return `has ".."`
	case strings.ContainsAny(name[:1], ".-"):
		return "begins with '.' or '-'"
	case strings.ContainsAny(name[len(name)-1:], ".-"):
		return "ends with '.' or '-'"
	case strings.HasSuffix(strings.ToLower(name), ".lock"):
		return `ends with ".lock"`
	case windowsDevice(device):
		return "is the name of a device on Windows"
	case FoldName(name) == Base || FoldName(name) == "_work":
		return "is reserved"
	case name == "HEAD":
		return "is a name of git's own"
	}
	return ""
}

func windowsDevice(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) && name[3] >= '1' && name[3] <= '9'
}

// FoldName returns the form in which two names clash.
func FoldName(name string) string { return strings.ToLower(name) }
