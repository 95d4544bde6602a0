package git

import (
	"context"
	"errors"
	"slices"
)

// stays reports whether the files are those of the commit HEAD is at, and
// nothing else is to be kept: that commit is reachable without this checkout,
// or it would be a stray. So it is when a run gives records up.
func (s *salvager) stays(ctx context.Context) (bool, error) {
	if len(s.found.nested)+len(s.sides)+len(s.strays.tips) > 0 {
		return false, nil
	}
	rev, err := s.checkout.headRev(ctx)
	if rev == "" || err != nil {
		return false, err
	}
	now, err := s.checkout.repo.listTree(ctx, rev)
	var exit *exitError
	if errors.As(err, &exit) {
		return false, nil // a HEAD without a commit
	}
	if err != nil {
		return false, err
	}
	for _, p := range s.put {
		if now[p] != s.found.files[p] {
			return false, nil
		}
	}
	return !slices.ContainsFunc(s.removed, func(p string) bool { return now[p] != entry{} }), nil
}
