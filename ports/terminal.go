package ports

import "context"

// A Terminal is where a person watches runs and answers their questions. It
// must be safe for use by several goroutines.
//
// What is asked, and what is shown, comes from models, tools and repositories:
// an implementation that writes to a device strips control sequences from it.
type Terminal interface {
	// Attended reports whether a person can be asked here. Where that is false
	// it stays so; where it is true, Ask says when the person has gone.
	Attended() bool
	// Ask puts a question and waits for its answer: the text of an option, or a
	// text of the person's own where the question takes one, as it was typed, but
	// valid UTF-8.
	//
	// Questions queue by priority, and first in, first out within one; the first
	// of them is on the screen. Each call is a question of its own, whatever it
	// says. One that is displaced keeps its place and the text typed so far; where
	// answers are lines that the device itself edits, a line that was begun is
	// dropped instead, and the person is told.
	//
	// When ctx ends, the question is taken back, and the error is the cause of
	// that; an answer that was given before is returned. A terminal that nobody
	// sits at, or not any more, is Unavailable. A question that nobody could answer
	// (CheckQuestion) is Invalid.
	Ask(ctx context.Context, q Question) (string, error)
	// Watch shows a run, until stop is called. It may be called for several runs
	// at once. Where nobody watches it does nothing. What is not watched any more
	// is not on the screen, but stop, which may be called again, does not wait: a
	// call of Status or View that is under way, or about to be made, may return
	// after it.
	Watch(run Watched) (stop func())
}

// A Watched is a run that a terminal shows.
type Watched struct {
	Label string
	// Status returns the run at this instant. It is cheap, and may be called by
	// any goroutine.
	Status func() Status
	// View returns what the workflow shows of it, if it shows anything of its
	// own. It is a function of its argument, called for each frame.
	View func(Status) (Screen, bool)
}

// A Question is what a person is asked.
type Question struct {
	ID        string   `json:"id"`        // what its answer is given under, from elsewhere; unique among the open questions of a run
	Run       string   `json:"run"`       // the run's label
	Namespace string   `json:"namespace"` // of the verb that asks
	From      string   `json:"from"`      // who asks: "" for the workflow, else a role or a landing
	Text      string   `json:"text"`      // of one or more lines
	Options   []string `json:"options"`   // what may be answered; none: a text of one's own
	Free      bool     `json:"free"`      // a text of one's own may be answered although there are Options
	Priority  int      `json:"priority"`  // higher ones come first
}

// TakesText reports whether a question may be answered by a text of one's own.
func (q Question) TakesText() bool { return q.Free || len(q.Options) == 0 }

// A Screen is what is shown of a run: plain values, compared to see whether
// anything has changed.
type Screen struct {
	Title string
	Body  []Block
}

// A Block is a part of a Screen: a Paragraph, a Table or a Progress, and nothing
// else. A nil one shows nothing.
type Block interface{ block() }

// A Paragraph is text, of one or more lines. It is wrapped.
type Paragraph string

// A Table is rows of cells, with a header if it has one. Columns are as wide as
// their cells; where they do not fit, the widest are cut.
type Table struct {
	Header []string
	Rows   [][]string
}

// A Progress is how much of something is done.
type Progress struct {
	Label       string
	Done, Total int // Total 0: unknown
}
