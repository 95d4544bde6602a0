package aglvet

import (
	"bytes"
	"go/token"
	"strings"
)

const ignoreComment = "//aglvet:ignore"

// ignores are the lines that comments silence, by file.
type ignores map[string]map[int]bool

// readIgnores finds the comments that silence a line, and reports those that
// give no reason: whoever reads the line next needs one.
func (v *vet) readIgnores() error {
	v.ignore = make(ignores)
	for _, file := range v.pass.Files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				reason, ok := strings.CutPrefix(c.Text, ignoreComment)
				if !ok || reason != "" && !strings.ContainsAny(reason[:1], " \t") {
					continue
				}
				// The comments of analysistest are none of the reason.
				if reason, _, _ = strings.Cut(reason, "// want"); strings.TrimSpace(reason) == "" {
					v.pass.Reportf(c.Pos(), "%s needs a reason: %s <why this line is safe>", ignoreComment, ignoreComment)
					continue
				}
				at := v.pass.Fset.PositionFor(c.Pos(), false)
				src, err := v.pass.ReadFile(at.Filename)
				if err != nil {
					return err
				}
				if v.ignore[at.Filename] == nil {
					v.ignore[at.Filename] = make(map[int]bool)
				}
				line := at.Line
				if before := src[at.Offset-(at.Column-1) : at.Offset]; len(bytes.TrimSpace(before)) == 0 {
					line++ // alone on its line, it speaks of the next
				}
				v.ignore[at.Filename][line] = true
			}
		}
	}
	return nil
}

func (v *vet) ignored(pos token.Pos) bool {
	at := v.pass.Fset.PositionFor(pos, false)
	return v.ignore[at.Filename][at.Line]
}
