package ports

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"
)

// Base is the namespace of a run itself; the others are its worktrees'.
const Base = "_base"

// Workspaces make and keep the checkouts in which steps run, and the branches
// they build up. They touch no ref outside refs/heads/agl/ and refs/agl/, and
// never the operator's own checkout.
type Workspaces interface {
	// Check says everything that would keep a run from working here: no
	// repository, no commit, no committer identity, too old a git. One error
	// for all of it.
	Check(ctx context.Context) error
	// Branch returns the commit a branch (a short name, "agl/x") is at, or ""
	// if there is no such branch.
	Branch(ctx context.Context, branch string) (string, error)
	// Attach returns the worktrees of one run, whose lock the caller holds.
	Attach(ctx context.Context, label string, lock Lock) (Worktrees, error)

	// Salvaged lists what was salvaged in a run, in order of number. A number
	// is never given again.
	Salvaged(ctx context.Context, label string) ([]Salvage, error)
	// WriteSalvage writes what salvage n holds into dir, which must be absent
	// or empty, byte for byte. If there is no such salvage, it is NotFound.
	WriteSalvage(ctx context.Context, label string, n int, dir string) error
	// DropSalvage gives up salvage n for good.
	DropSalvage(ctx context.Context, label string, n int) error
}

// A Place is where one namespace of a run works.
type Place struct {
	Namespace string
	Branch    string // short name: "agl/<label>"
}

// Worktrees are the checkouts, branches and kept commits of one run.
type Worktrees interface {
	// Identity returns the committer of the commits to be made, as
	// "Name <email>".
	Identity(ctx context.Context) (string, error)
	// Open returns the checkout of place, its branch at head. It makes what is
	// missing, the branch included, and rebuilds a half-made or stale one of
	// its own. A checkout that exists is returned as it is. A branch that is
	// elsewhere is Conflicted, naming both; an unknown head is NotFound.
	Open(ctx context.Context, place Place, head string) (Workspace, error)
	// Exists reports whether the checkout of a namespace has been made.
	Exists(ctx context.Context, namespace string) (bool, error)
	// Move moves a branch from commit old to commit new, or makes it if old is
	// "", durably. One that is at new already is no error; one that is not at
	// old is Conflicted, naming both. An unknown commit is NotFound.
	Move(ctx context.Context, branch, old, new string) error
	// Keep holds a commit, under a name of letters, digits, '.', '_' and '-',
	// so that it stays reachable until Clear. Durable. A name that holds
	// another commit is Conflicted.
	Keep(ctx context.Context, name, commit string) error
	// Clear removes the run's checkouts, the branches given (by the value each
	// is expected at) and the kept commits; it leaves salvage alone, and adds
	// to it what is in a checkout and in no commit. It may be called again
	// after it was killed. A branch that is elsewhere is
	// Conflicted, naming it, before anything is removed.
	Clear(ctx context.Context, branches map[string]string) (Cleared, error)
}

// A Workspace is one checkout.
type Workspace interface {
	// Dir is the checkout's absolute path; "" where it is in memory.
	Dir() string
	// Tree is the checkout's files, to read.
	Tree() fs.FS
	// WriteFile writes a file of the checkout, and makes its folders. A name is
	// elements joined by slashes, as in fs.ValidPath. One that is git's own, or
	// leads through a symbolic link or a file, is Invalid, and so is a folder's.
	WriteFile(ctx context.Context, name string, data []byte) error
	// Remove removes a file of the checkout, a symbolic link, or a folder with
	// all that is in it, and the folders above that are empty then. Nothing at
	// that name is no error. Names are those of WriteFile; a folder with a
	// repository in it is Invalid.
	Remove(ctx context.Context, name string) error

	// Guard returns what could make git run programs or look elsewhere, as it
	// is now, in a form of the implementation's own. It is taken before an
	// agent starts.
	Guard(ctx context.Context) (json.RawMessage, error)
	// Verify compares with a guard taken earlier (nil: nothing to compare). A
	// difference is a *TamperedError. It runs nothing that could be planted.
	Verify(ctx context.Context, guard json.RawMessage) error
	// Inspect says how the checkout differs from commit head.
	Inspect(ctx context.Context, head string) (Changes, error)
	// PutBack makes files, index, HEAD and branch stand at commit head. What
	// is there and would be lost is salvaged first; if that fails, nothing is
	// put back. reason is kept with the salvage, for a person.
	PutBack(ctx context.Context, head, reason string) (PutBack, error)
	// Commit records everything in the checkout as a commit on top of
	// spec.Head (or of the agent's own commits, where they descend from it).
	// Its objects are durable; no ref is moved. What the step left that cannot
	// be committed is a *RejectedError; any other error says that it could not
	// be tried, and trying again may work.
	Commit(ctx context.Context, spec CommitSpec) (Commit, error)
}

// Changes are what is different in a checkout.
type Changes struct {
	Head      string   // the commit HEAD is at
	Detached  bool     // HEAD is not the namespace's branch
	Tracked   []string // paths that are tracked and changed, at most 100 of them
	Untracked []string // paths that are neither tracked nor ignored, at most 100
}

// Clean reports whether nothing is different from head.
func (c Changes) Clean(head string) bool {
	return c.Head == head && !c.Detached && len(c.Tracked) == 0 && len(c.Untracked) == 0
}

// A PutBack is what putting a checkout back did.
type PutBack struct {
	Salvage *Salvage // what was there and is kept; nil if there was nothing
	Notes   []string // what else a person should know, a line each
}

// A CommitSpec is a commit to be made.
type CommitSpec struct {
	Head     string // the parent
	Message  string // used exactly as written
	Identity string // author and committer, "Name <email>"
	Date     time.Time
}

// A Commit is a commit that was made, on no branch yet.
type Commit struct {
	ID    string   // spec.Head if there was nothing to commit
	Tree  string   // the id of its tree
	Empty bool     // its tree is that of spec.Head
	Notes []string // what else a person should know, a line each
}

// A Salvage is what was in a checkout before it was put back.
type Salvage struct {
	N         int       `json:"n"` // its number in the run, from 1
	Namespace string    `json:"namespace"`
	Ref       string    `json:"ref"`    // full name; empty if only nested repositories were moved
	Commit    string    `json:"commit"` // what Ref points at
	Reason    string    `json:"reason"`
	Paths     int       `json:"paths"`             // how many paths differ from the commit that was put back
	Nested    []string  `json:"nested,omitempty"`  // folders where nested repositories were moved to
	Index     string    `json:"index,omitempty"`   // a commit of what was staged, where that was neither in head nor in the files
	Commits   []string  `json:"commits,omitempty"` // commits that no branch or tag reached: Ref reaches them
	Notes     []string  `json:"notes,omitempty"`   // what could not be kept because it holds no bytes, a line each
	Made      time.Time `json:"made"`
}

// Cleared is what clearing a run removed and what it left.
type Cleared struct {
	Label     string    `json:"label"`
	Branches  []string  `json:"branches"`  // short names, removed
	Worktrees []string  `json:"worktrees"` // paths, removed
	Salvage   []Salvage `json:"salvage"`   // kept
	Tips      []Tip     `json:"tips"`      // where each removed branch was
}

// A Tip is where a branch was.
type Tip struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}
