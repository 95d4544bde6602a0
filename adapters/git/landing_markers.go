package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// A markerLine is a line that may be a conflict marker: one that begins or ends
// a conflict, or a common ancestor. What stands between the sides is also how
// people underline.
type markerLine struct {
	n    int // from 1
	text string
}

// mayMark returns the lines of a file that may be conflict markers, of
// whatever length: an attribute can make them longer than seven characters, and
// shorter.
func mayMark(content io.Reader) (lines []markerLine, err error) {
	in := bufio.NewReaderSize(content, 64<<10)
	for n := 1; ; n++ {
		line, more, err := in.ReadLine()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return lines, err
		}
		if isMarker(line, 1) {
			lines = append(lines, markerLine{n, string(bytes.TrimRight(line, "\r"))})
		}
		for more && err == nil {
			_, more, err = in.ReadLine()
		}
	}
}

// isMarker reports whether a line begins with at least min characters of a
// conflict marker, and then ends or has a label.
func isMarker(line []byte, min int) bool {
	if len(line) < min || !strings.ContainsRune("<>|", rune(line[0])) {
		return false
	}
	rest := bytes.TrimLeft(line, string(line[:1]))
	rest = bytes.TrimRight(rest, "\r")
	return len(line)-len(rest) >= min && (len(rest) == 0 || rest[0] == ' ')
}

// usualMarker reports whether a line is a marker as git writes it where no
// attribute says otherwise, whatever its label.
func usualMarker(text string) bool {
	return isMarker([]byte(text), 7) && (len(text) == 7 || text[7] == ' ')
}

// markersLeft returns those of paths in which conflict markers are left: those
// of the merge of theirs, or others, but not what a side has as well.
func (c *checkout) markersLeft(ctx context.Context, theirs string, paths []string) (map[string]ports.ConflictPath, error) {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := fileReader{root: root, format: c.repo.format}
	suspects := map[string][]markerLine{}
	var regular []string
	for _, p := range paths {
		info, err := root.Lstat(p)
		if err != nil || !info.Mode().IsRegular() {
			continue // it was removed, or is no text
		}
		regular = append(regular, p)
		err = files.read(p, false, func(_ string, _ int64, content io.Reader) (err error) {
			suspects[p], err = mayMark(content)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := c.markersWithin(ctx, regular, suspects); err != nil {
		return nil, err
	}
	maps.DeleteFunc(suspects, func(_ string, lines []markerLine) bool { return len(lines) == 0 })
	left := map[string]ports.ConflictPath{}
	if len(suspects) == 0 {
		return left, nil
	}
	written, sides, err := c.markersOf(ctx, theirs, suspects)
	if err != nil {
		return nil, err
	}
	for p, lines := range suspects {
		for _, line := range lines {
			if !sides[p][line.text] && (written[p][line.text] || usualMarker(line.text)) {
				left[p] = ports.ConflictPath{Path: p, Kind: ports.ConflictMarkers, Note: fmt.Sprintf("line %d", line.n)}
				break
			}
		}
	}
	return left, nil
}

// markersWithin adds to suspects the lines like markers that are in what git
// would commit of files, where their attributes convert it: neither the bytes
// of UTF-16 nor those of a filter need show any.
func (c *checkout) markersWithin(ctx context.Context, paths []string, suspects map[string][]markerLine) error {
	if len(paths) == 0 {
		return nil
	}
	var ask strings.Builder
	for _, p := range paths {
		ask.WriteString(quotePath(p) + "\n")
	}
	// They are written, as staging would: to read them back is then the same
	// for all sizes.
	out, err := c.run(ctx, call{durable: true, long: true, stdin: strings.NewReader(ask.String()), args: []string{"hash-object", "-w", "--stdin-paths"}})
	if err != nil {
		return stageFailure(err)
	}
	ids := strings.Fields(string(out))
	if len(ids) != len(paths) {
		return fmt.Errorf("git hash-object named %d objects for %d files", len(ids), len(paths))
	}
	return c.repo.readBlobs(ctx, ids, func(i int, _ int64, blob io.Reader) error {
		lines, err := mayMark(blob)
		for _, line := range lines {
			same := func(other markerLine) bool { return other.text == line.text }
			if !slices.ContainsFunc(suspects[paths[i]], same) {
				suspects[paths[i]] = append(suspects[paths[i]], line)
			}
		}
		return err
	})
}

// markersOf returns for each path the lines like markers that merging wrote
// into it, and those that one of its sides has.
func (c *checkout) markersOf(ctx context.Context, theirs string, paths map[string][]markerLine) (written, sides map[string]map[string]bool, err error) {
	f, err := c.forecast(ctx, theirs)
	if err != nil {
		return nil, nil, err
	}
	merged, err := c.repo.listTree(ctx, f.tree)
	if err != nil {
		return nil, nil, err
	}
	written, sides = map[string]map[string]bool{}, map[string]map[string]bool{}
	var ids []string
	var into []map[string]bool
	want := func(all map[string]map[string]bool, p string, e entry) {
		if all[p] == nil {
			all[p] = map[string]bool{}
		}
		if e.mode == modeFile || e.mode == modeExec {
			ids, into = append(ids, e.id), append(into, all[p])
		}
	}
	for p := range paths {
		want(written, p, merged[p])
	}
	for _, s := range f.stages {
		if _, asked := paths[s.path]; asked && s.stage > 1 {
			want(sides, s.path, s.entry)
		}
	}
	err = c.repo.readBlobs(ctx, ids, func(i int, _ int64, blob io.Reader) error {
		lines, err := mayMark(blob)
		for _, line := range lines {
			into[i][line.text] = true
		}
		return err
	})
	return written, sides, err
}
