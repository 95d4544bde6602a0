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
	"slices"
	"strings"
)

// A scratch is a folder for one salvage, in the checkout's admin folder, where
// nothing of it can be left for longer than the checkout: one that was killed
// is removed by the next. It holds a git directory of its own for the
// repository, so that an index, or a report of a crash, lands in it.
type scratch struct{ dir, gitDir string }

func (c *checkout) newScratch() (*scratch, error) {
	dir := filepath.Join(c.gitDir, "agl-salvage")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	s := &scratch{dir: dir, gitDir: filepath.Join(dir, "git")}
	if err := os.MkdirAll(s.gitDir, 0o755); err != nil {
		return nil, err
	}
	return s, errors.Join(
		os.WriteFile(filepath.Join(s.gitDir, "HEAD"), []byte("ref: refs/heads/agl-salvage\n"), 0o644),
		os.WriteFile(filepath.Join(s.gitDir, "commondir"), []byte(c.repo.common+"\n"), 0o644),
	)
}

func (s *scratch) remove() error { return os.RemoveAll(s.dir) }

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

// readBlobs reads objects in the order of ids, each of which use must read to
// its end or fail.
func (r *Repo) readBlobs(ctx context.Context, ids []string, use func(i int, size int64, blob io.Reader) error) error {
	if len(ids) == 0 {
		return nil
	}
	out, w := io.Pipe()
	stopped := make(chan error, 1)
	go func() {
		_, err := r.run(ctx, call{
			read: true, long: true, stdin: strings.NewReader(strings.Join(ids, "\n") + "\n"), stdout: w,
			args: []string{"cat-file", "--batch"},
		})
		w.CloseWithError(io.ErrUnexpectedEOF)
		stopped <- err
	}()
	err := readBatch(bufio.NewReaderSize(out, 64<<10), ids, use)
	out.Close()
	if gitErr := <-stopped; err == nil || (gitErr != nil && errors.Is(err, io.ErrUnexpectedEOF)) {
		return gitErr
	}
	return err
}

// readBatch reads what git cat-file --batch says about ids.
func readBatch(out *bufio.Reader, ids []string, use func(int, int64, io.Reader) error) error {
	for i, id := range ids {
		line, err := out.ReadString('\n')
		if err != nil {
			return err
		}
		var size int64
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[1] == "missing" {
			return fmt.Errorf("object %s is missing", id)
		}
		if len(fields) != 3 || !slices.Contains([]string{"blob", "tree", "commit", "tag"}, fields[1]) {
			return fmt.Errorf("git cat-file: cannot read %q", line)
		}
		if _, err := fmt.Sscan(fields[2], &size); err != nil {
			return fmt.Errorf("git cat-file: cannot read %q: %w", line, err)
		}
		body := &io.LimitedReader{R: out, N: size}
		if err := use(i, size, body); err != nil {
			return err
		}
		if body.N > 0 {
			return io.ErrUnexpectedEOF
		}
		if _, err := out.Discard(1); err != nil {
			return err
		}
	}
	return nil
}
