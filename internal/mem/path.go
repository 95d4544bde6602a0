package mem

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"example.com/agl/ports"
)

// checkPath says what a file may be called that is written beside files, where
// staged are tracked. What no file system takes is Invalid; what git, or a
// file system other than this one, takes differently is ErrUnsupported.
func checkPath(path string, files, staged snapshot) error {
	if err := checkForm(path); err != nil {
		return err
	}
	if _, ok := files[path]; ok {
		return nil
	}
	for other := range files {
		if err := beside(path, other); err != nil {
			return err
		}
	}
	for other := range staged {
		if err := beside(path, other); errors.Is(err, ErrUnsupported) {
			return err
		}
	}
	return nil
}

// checkForm is checkPath for a path alone.
func checkForm(path string) error {
	switch {
	case !utf8.ValidString(path):
		return unsupported("the path %q is not UTF-8", path)
	case !fs.ValidPath(path) || path == "." || strings.ContainsRune(path, 0):
		return ports.Invalid.Errorf("", "%q is no path of a file in a checkout: elements joined by slashes, none of them empty, . or ..", path)
	case len(path) > 1000:
		return unsupported("the path %.40q… has %d bytes, which some systems refuse", path, len(path))
	}
	for name := range strings.SplitSeq(path, "/") {
		if len(name) > 255 {
			return pathError(path, syscall.ENAMETOOLONG)
		}
		if gitOwn(name) || strings.Contains(name, `\`) {
			return unsupported("the path %q means something to git", path)
		}
	}
	return nil
}

// beside says why a file cannot be at path while there is one at other.
func beside(path, other string) error {
	rest, beside := path, other
	for {
		var name, its string
		name, rest, _ = strings.Cut(rest, "/")
		its, beside, _ = strings.Cut(beside, "/")
		switch {
		case name != its && strings.EqualFold(name, its):
			return unsupported("%q and %q differ only in case, and some file systems have one file for both", path, other)
		case name != its || rest == "" && beside == "":
			return nil
		case rest == "":
			return pathError(path, syscall.EISDIR)
		case beside == "":
			return pathError(path, syscall.ENOTDIR)
		}
	}
}

func pathError(path string, errno syscall.Errno) error {
	return ports.Invalid.Errorf("", "%w", &fs.PathError{Op: "open", Path: path, Err: errno})
}

// gitOwn reports whether git, on any system, takes an element of a path for
// its own folder or for one of its files of rules.
func gitOwn(name string) bool {
	name = strings.ToLower(strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Cf, c) { // macOS does not see them
			return -1
		}
		return c
	}, name))
	name, _, _ = strings.Cut(name, ":") // Windows neither sees a stream, nor dots and spaces at the end
	switch strings.TrimRight(name, ". ") {
	case ".git", "git~1", ".gitignore", ".gitattributes", ".gitmodules":
		return true
	}
	return false
}
