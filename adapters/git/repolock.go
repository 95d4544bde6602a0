package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lockWorktrees takes the repository's lock for what git cannot do in
// parallel: adding and removing registrations of worktrees. It holds against
// the goroutines of this process and, where files can be locked, against every
// process; git children inherit it through the file it returns, so that a
// killed AGL's last git call still excludes others.
func (r *Repo) lockWorktrees(ctx context.Context) (held *os.File, unlock func(), err error) {
	select {
	case r.adding <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	path := filepath.Join(r.common, "agl-worktrees.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		<-r.adding
		return nil, nil, err
	}
	give := func() {
		_ = f.Close()
		<-r.adding
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	timeout := time.NewTimer(r.deadline)
	defer timeout.Stop()
	for {
		got, err := tryLock(f)
		switch {
		case err != nil:
			give()
			return nil, nil, fmt.Errorf("lock %s: %w", path, err)
		case got:
			return f, give, nil
		}
		select {
		case <-tick.C:
		case <-timeout.C:
			give()
			return nil, nil, fmt.Errorf("another process has held %s for %s; look for a git that hangs", path, r.deadline)
		case <-ctx.Done():
			give()
			return nil, nil, context.Cause(ctx)
		}
	}
}
