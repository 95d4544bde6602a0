package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

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
