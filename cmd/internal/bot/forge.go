package bot

import (
	"context"
	"errors"
)

// Forge is a code host, as far as a review needs it, for one pull request.
type Forge interface {
	// Request returns the state of the request.
	Request(ctx context.Context) (*Request, error)
	// Diff returns the changed files, each with the hunks in which the forge takes comments.
	Diff(ctx context.Context) (Diff, error)
	// Text returns the text of a file at a commit, and ErrNotFound where there is none.
	Text(ctx context.Context, commit, path string) (string, error)
	// Posted returns all that this bot has posted on the request.
	Posted(ctx context.Context) (*Posted, error)
	// Post posts the comments and the body as one review of a commit.
	Post(ctx context.Context, commit, body string, comments []Comment) error
	// Resolve marks a thread as settled.
	Resolve(ctx context.Context, t Thread) error
	// Reply adds a comment to a thread.
	Reply(ctx context.Context, t Thread, body string) error
	// Answers returns the texts of the bot's comments on the request that belong to no review.
	Answers(ctx context.Context) ([]string, error)
	// Answer adds such a comment.
	Answer(ctx context.Context, body string) error
	// MayWrite reports whether a user may push to the repository that the request is for.
	MayWrite(ctx context.Context, user string) (bool, error)
	// Self returns the bot as the author of commits.
	Self(ctx context.Context) (Author, error)
	// Abilities returns what the forge can do.
	Abilities() Abilities
}

// Abilities are the abilities in which forges differ.
type Abilities struct {
	Suggestions bool // a suggestion can be committed by a click
	Ranges      bool // a comment may stand on several lines
}

// Errors of a forge, which the implementations wrap.
var (
	// ErrNotFound: there is no such file, commit or request.
	ErrNotFound = errors.New("not found")
	// ErrRefused: the forge does not take the comments where they are; it has posted nothing.
	ErrRefused = errors.New("refused")
	// ErrReadOnly: the token may not write.
	ErrReadOnly = errors.New("the token may not write")
	// ErrTransient: the same call may succeed later. Whether it has had an effect is not known.
	ErrTransient = errors.New("the forge does not answer now")
)

// Request is a pull request.
type Request struct {
	Number int
	Head   string // commit
	Open   bool
	Base   string // branch
	Clone  string // address of the repository that the request is for
	Source Branch // that the request wants to be merged
}

// Branch is a branch of a repository, which may be a fork that is gone.
type Branch struct{ Clone, Name string }

// Author is the author of a commit.
type Author struct{ Name, Address string }

// Comment is a comment on lines of one file, at the head commit.
type Comment struct {
	Path       string
	Start, End int // lines, both inclusive; equal for a comment on one line
	Body       string
}

// Posted is all that the bot has posted on a request.
type Posted struct {
	Threads []Thread
	Bodies  []string // of its reviews
}

// Thread is a conversation that begins with a comment of the bot.
type Thread struct {
	ID       string // of the thread, for the forge
	Path     string
	Body     string // of the first comment
	Resolved bool
	ByBot    bool // the bot has resolved it
	Human    bool // somebody else has replied
	Answered bool // the bot has replied
}
