package mem

import "errors"

type Commit struct {
	ID, Message string
	Paths       []string
}

func (r *Repository) PowerCut() {}
func (r *Repository) Commits(base, head string) ([]Commit, error) {
	var list []Commit
	for id := head; id != base; id = r.commits[id].parents[0] {
		list = append([]Commit{{ID: id, Message: r.commits[id].message}}, list...)
	}
	return list, nil
}

func (r *Repository) Export() ([]byte, error)               { return []byte("null"), nil }
func ImportRepository(c any, b []byte) (*Repository, error) { panic("shim") }

var ErrUnsupported = errors.New("use Options.Git")
