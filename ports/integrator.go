package ports

import "context"

// An Integrator lands commits in the checkout of another branch. It merges
// there without committing, holds the merge while a gate runs or a conflict is
// resolved, and makes the commit of exactly the tree it is told. It moves no
// branch. Checkouts are those of the repository's Workspaces; different ones
// may be landed in at once.
//
// A held merge is git's own unfinished one: a person who looks into the
// checkout sees what they know. It outlives the process. Workspace.PutBack
// ends it, and salvages what was done in it: one that is as Merge left it can
// be made again, and leaves no salvage. Workspace.Commit rejects a checkout
// that holds one.
//
// An unknown commit or tree is NotFound, and what is no full id Invalid. A call
// that fails has changed nothing, or can be made again.
type Integrator interface {
	// Merge merges spec.Theirs into a checkout that stands clean at spec.Head;
	// one that does not, or that holds a merge, is Conflicted (or Blocked, by an
	// untracked file). The checkout holds the merge then, unless the result is
	// Blocked. The branch may be behind Theirs, and is not fast-forwarded; Theirs
	// that Head contains already is Invalid.
	Merge(ctx context.Context, ws Workspace, spec MergeSpec) (Merge, error)
	// Held says what a checkout holds of spec's merge. It changes nothing.
	Held(ctx context.Context, ws Workspace, spec MergeSpec) (Hold, error)
	// Rehold reports whether a checkout holds spec's merge. One in which it was
	// committed, on its branch, as people and agents do who run git, does again
	// after it: that commit is salvaged, the branch is at spec.Head, and its files
	// are those that are merged. Any other checkout is left as it is.
	Rehold(ctx context.Context, ws Workspace, spec MergeSpec) (bool, error)
	// Resolve takes what is in a checkout that holds spec's merge as its
	// resolution: the paths that were in conflict, every tracked path, and every
	// file that was added are staged. The result has Conflicts again where
	// markers are left in paths that were in conflict (ConflictMarkers, noting
	// the line), where such a path is as Merge left it and still unmerged, for
	// nobody has decided about it (with git, git add is a decision), and where
	// paths are unmerged that are not among those: all these stay as they are. A
	// line like a marker that one of the sides has is none. A path in were may be
	// as a document has it (AsText): it is all those that are the same as text.
	// The files are not changed. A checkout that does not hold spec's merge is
	// Conflicted.
	Resolve(ctx context.Context, ws Workspace, spec MergeSpec, were []ConflictPath) (Merge, error)
	// Settle makes index and files those of tree, in a checkout that holds a
	// merge, which it goes on to hold. What would be lost is salvaged first. A
	// checkout that holds none is Conflicted.
	Settle(ctx context.Context, ws Workspace, tree, reason string) (PutBack, error)
	// Snapshot returns a commit, on no ref, of the files in a checkout that
	// holds a merge, unmerged ones as they are. Its objects are durable; the
	// checkout is as it was. A checkout that holds no merge is Conflicted; one
	// that holds what no commit can is a *RejectedError.
	Snapshot(ctx context.Context, ws Workspace, spec CommitSpec) (string, error)
	// Restore makes the files of a checkout that holds a merge those of a
	// snapshot; what is unmerged stays so. What would be lost is salvaged first.
	// A checkout that holds no merge is Conflicted.
	Restore(ctx context.Context, ws Workspace, snapshot, reason string) (PutBack, error)
	// Commit makes the merge commit of exactly tree, its parents spec.Head and
	// spec.Theirs, also where tree is that of spec.Head (Empty). Its objects are
	// durable; it stays reachable until its branch is moved there. No branch is
	// moved, and the checkout is as it was.
	Commit(ctx context.Context, spec MergeSpec, tree string, commit CommitSpec) (Commit, error)
	// Conclude ends the merge that a checkout holds after its branch was moved
	// to the merge's commit, and makes the checkout stand there. What else is in
	// it is salvaged. It may be repeated. A branch that is not at commit is
	// Conflicted.
	Conclude(ctx context.Context, ws Workspace, commit, reason string) (PutBack, error)
}

// A MergeSpec says what is to be landed where.
type MergeSpec struct {
	Head   string // the commit that the checkout and its branch are at
	Theirs string // the commit to land
	Branch string // the short name of the branch it is on, for the message
	Into   string // the short name of the checkout's branch, for the message
}

// A Merge is what merging came to.
type Merge struct {
	Tree      string         // the id of the merged tree; "" where there are Conflicts
	Conflicts []ConflictPath // sorted by path
	// Blocked tells that the conflicts are paths in the checkout, ignored or
	// untracked, that would be overwritten: nothing was merged and there is no
	// hold.
	Blocked bool
	Message string // git's own for this merge, without comment lines
}

// A Hold is what a checkout holds.
type Hold string

// The holds.
const (
	HoldNone     Hold = ""         // no merge: it may be clean or not
	HoldPristine Hold = "pristine" // the merge that was asked about, as Merge left it
	HoldEdited   Hold = "edited"   // that merge, and something was done in it since
	HoldOther    Hold = "other"    // another merge, or another unfinished operation
)
