package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// fileSettings are the configuration that says what a file in a checkout means.
type fileSettings struct {
	noExec  bool     // core.fileMode is false: the file system has no executable bits
	noLinks bool     // core.symlinks is false: links are files that hold their target
	filters []string // the names of the filter drivers
}

func (c *checkout) readSettings(ctx context.Context) (fileSettings, error) {
	var s fileSettings
	out, err := c.shared(ctx, call{read: true, args: []string{"config", "-z", "--get-regexp", `^(core\.(filemode|symlinks)|filter\..*)$`}})
	var exit *exitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	for setting := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(setting, "\n")
		var off bool
		switch strings.ToLower(value) {
		case "false", "no", "off", "0":
			off = true
		}
		switch key {
		case "core.filemode":
			s.noExec = off
		case "core.symlinks":
			s.noLinks = off
		default:
			if name, _, ok := cutLastDot(strings.TrimPrefix(key, "filter.")); ok {
				s.filters = append(s.filters, name)
			}
		}
	}
	return s, nil
}

func cutLastDot(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// interpret replaces what the file system cannot hold by what head says.
// core.fileMode alone is not believed, because an agent can set it: on a file
// system without executable bits all files have them or none.
func (s fileSettings) interpret(files, head fileTree) {
	exec, plain := 0, 0
	for _, e := range files {
		switch e.mode {
		case modeExec:
			exec++
		case modeFile:
			plain++
		}
	}
	noExec := s.noExec && (exec == 0 || plain == 0)
	for p, e := range files {
		was := head[p].mode
		switch {
		case e.mode == modeLink:
		case s.noLinks && was == modeLink:
			files[p] = entry{mode: modeLink, id: e.id}
		case noExec && was == modeExec:
			files[p] = entry{mode: modeExec, id: e.id}
		case noExec:
			files[p] = entry{mode: modeFile, id: e.id}
		}
	}
}

// withoutFilters returns the environment that makes git check files out
// without running a filter's program.
func (s fileSettings) withoutFilters() []string {
	var pairs []string
	for _, name := range s.filters {
		name = "filter." + name
		pairs = append(pairs, name+".smudge", "", name+".process", "", name+".required", "false")
	}
	return configEnv(pairs...)
}

// configEnv returns the environment that gives git settings, by key and value.
// Unlike -c it takes a key with an equals sign in it.
func configEnv(pairs ...string) []string {
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(pairs)/2)}
	for i := 0; i < len(pairs); i += 2 {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, pairs[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, pairs[i+1]))
	}
	return env
}

// converted returns those of paths whose bytes differ from head's only as a
// checkout of head would write them: with CRLF. To call them changed would
// salvage every text file of a checkout with CRLF.
func (c *checkout) converted(ctx context.Context, s *scratch, r fileReader, set fileSettings, head string, headTree, files fileTree, paths []string) (map[string]bool, error) {
	var maybe []string
	for _, p := range paths {
		was, is := headTree[p], files[p]
		if was.mode != is.mode || is.mode == modeLink {
			continue
		}
		id, ok, err := r.idWithLF(p)
		if err != nil {
			return nil, err
		}
		if ok && id == was.id {
			maybe = append(maybe, p)
		}
	}
	if len(maybe) == 0 {
		return nil, nil
	}
	// Whether the attributes of head ask for CRLF, only git knows: it checks
	// the files out elsewhere.
	dir := filepath.Join(s.dir, "eol")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := c.shared(ctx, call{gitDir: s.gitDir, workTree: dir, long: true, args: []string{"read-tree", head}}); err != nil {
		return nil, err
	}
	_, err := c.shared(ctx, call{
		gitDir: s.gitDir, workTree: dir, long: true, env: set.withoutFilters(),
		stdin: strings.NewReader(strings.Join(maybe, "\x00") + "\x00"), args: []string{"checkout-index", "-z", "--stdin"},
	})
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	same := map[string]bool{}
	buf := make([]byte, 256<<10)
	for _, p := range maybe {
		e, err := (fileReader{root: root, format: r.format}).identify(p, false, buf)
		if err != nil {
			return nil, err
		}
		same[p] = e.id == files[p].id
	}
	return same, nil
}

// idWithLF returns the id a file would have with LF for CRLF, if every line of
// it ends with CRLF.
func (r fileReader) idWithLF(path string) (id string, ok bool, err error) {
	var counts lineEnds
	err = r.read(path, false, func(_ string, _ int64, content io.Reader) error {
		counts = lineEnds{}
		_, err := io.Copy(&counts, content)
		return err
	})
	if err != nil || counts.crlf == 0 || counts.lf > counts.crlf {
		return "", false, err
	}
	err = r.read(path, false, func(_ string, size int64, content io.Reader) error {
		h := &lineEnds{out: r.newBlobHash(size - counts.crlf)}
		_, err := io.Copy(h, content)
		h.flush()
		id = hex.EncodeToString(h.out.Sum(nil))
		return err
	})
	return id, true, err
}

// lineEnds counts line ends, and passes on what is written to it with LF for
// CRLF.
type lineEnds struct {
	lf, crlf int64 // crlf ones are among lf
	cr       bool  // the last byte was a CR that was not passed on yet
	out      hash.Hash
}

func (l *lineEnds) Write(p []byte) (int, error) {
	start := 0
	for i, b := range p {
		if b == '\n' {
			l.lf++
			if l.cr {
				l.crlf++
			}
		}
		if l.out != nil {
			if l.cr && b != '\n' {
				l.out.Write([]byte{'\r'})
			}
			if b == '\r' {
				l.out.Write(p[start:i])
				start = i + 1
			}
		}
		l.cr = b == '\r'
	}
	if l.out != nil {
		l.out.Write(p[start:])
	}
	return len(p), nil
}

func (l *lineEnds) flush() {
	if l.cr {
		l.out.Write([]byte{'\r'})
	}
}
