package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ignoreRules are the ignore rules of a commit, with the repository's info/exclude
// and the user's own. git itself applies them: to a folder that holds nothing
// but the commit's .gitignore files, so that none the agent wrote is read.
type ignoreRules struct {
	checkout *checkout
	scratch  *scratch
	head     fileTree

	shadow  string         // "" until the first question
	in      *io.PipeWriter // the questions
	out     *bufio.Reader  // the answers
	stopped chan error
}

func (c *checkout) rulesOf(s *scratch, head fileTree) *ignoreRules {
	return &ignoreRules{checkout: c, scratch: s, head: head}
}

// ignored answers for each candidate whether it is ignored.
func (r *ignoreRules) ignored(ctx context.Context, level []candidate) ([]bool, error) {
	answers := make([]bool, len(level))
	var questions []byte
	for _, c := range level {
		if !c.forced {
			questions = append(append(append(questions, "./"...), c.path...), 0) // ./ because a path may begin with a colon
		}
	}
	if len(questions) == 0 {
		return answers, nil
	}
	if r.shadow == "" {
		if err := r.start(ctx); err != nil {
			return nil, fmt.Errorf("read the ignore rules of the commit: %w", err)
		}
	}
	for _, c := range level {
		if c.kind == fs.ModeDir && !c.forced { // git looks whether it is one
			if err := os.MkdirAll(filepath.Join(r.shadow, filepath.FromSlash(c.path)), 0o755); err != nil {
				return nil, err
			}
		}
	}
	go r.in.Write(questions)
	for i, c := range level {
		if c.forced {
			continue
		}
		var field [4]string // where the rule is, its line, the rule, the path
		for k := range field {
			text, err := r.out.ReadString(0)
			if err != nil {
				return nil, errors.Join(err, r.close())
			}
			field[k] = strings.TrimSuffix(text, "\x00")
		}
		if field[3] != "./"+c.path {
			return nil, fmt.Errorf("git check-ignore answered for %q, not for %q", field[3], c.path)
		}
		answers[i] = field[0] != "" && !strings.HasPrefix(field[2], "!")
	}
	return answers, nil
}

// start writes the commit's .gitignore files and starts git on them.
func (r *ignoreRules) start(ctx context.Context) error {
	r.shadow = filepath.Join(r.scratch.dir, "rules")
	var files, ids []string
	for p, e := range r.head {
		if path.Base(p) == ".gitignore" && (e.mode == modeFile || e.mode == modeExec) {
			files, ids = append(files, filepath.Join(r.shadow, filepath.FromSlash(p))), append(ids, e.id)
		}
	}
	if err := os.MkdirAll(r.shadow, 0o755); err != nil {
		return err
	}
	err := r.checkout.repo.readBlobs(ctx, ids, func(i int, _ int64, blob io.Reader) error {
		if err := os.MkdirAll(filepath.Dir(files[i]), 0o755); err != nil {
			return err
		}
		f, err := os.Create(files[i])
		if err != nil {
			return err
		}
		_, err = io.Copy(f, blob)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return err
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	r.in, r.out, r.stopped = inW, bufio.NewReader(outR), make(chan error, 1)
	go func() {
		_, err := r.checkout.shared(ctx, call{
			gitDir: r.scratch.gitDir, workTree: r.shadow, stdin: inR, stdout: outW, read: true, long: true,
			args: []string{"check-ignore", "--no-index", "--verbose", "--non-matching", "--stdin", "-z"},
		})
		var exit *exitError
		if errors.As(err, &exit) && exit.Code == 1 {
			err = nil // nothing was ignored
		}
		inR.Close()
		outW.CloseWithError(io.ErrUnexpectedEOF)
		r.stopped <- err
	}()
	return nil
}

// close ends git and returns its failure. Further calls do nothing.
func (r *ignoreRules) close() error {
	if r.in == nil {
		return nil
	}
	r.in.Close()
	r.in = nil
	return <-r.stopped
}
