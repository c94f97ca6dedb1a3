package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Ending is how a review ended.
type Ending string

const (
	Quiet      Ending = "nothing to post"
	Reviewed   Ending = "posted"
	Superseded Ending = "superseded" // the request has another head by now, or is gone
	Closed     Ending = "closed"
	ReadOnly   Ending = "read-only" // the token may not post
)

// Result is the outcome of a review.
type Result struct {
	Decision
	Ending   Ending
	Resolved int  // threads
	Answered int  // threads with a reply of somebody else, or that the forge would not resolve
	InBody   bool // the forge refused the comments, so that all stands in the body
}

// maxTries is how often a review begins anew where the forge does not answer.
const maxTries = 5

// Review posts the new findings of a file on a request. wait waits before another try; time.Sleep will do.
func Review(ctx context.Context, forge Forge, file *File, wait func(time.Duration)) (*Result, error) {
	for try := 1; ; try++ {
		r, err := reviewOnce(ctx, forge, file)
		if !errors.Is(err, ErrTransient) || try == maxTries || ctx.Err() != nil {
			return r, err
		}
		// An answer may have been lost on its way. The next try reads first what is there.
		wait(time.Second << try)
	}
}

// reviewOnce reads the state of the request, decides, and posts.
func reviewOnce(ctx context.Context, forge Forge, file *File) (*Result, error) {
	ending, err := ended(ctx, forge, file)
	if err != nil || ending != "" {
		return &Result{Ending: ending}, err
	}
	d, err := forge.Diff(ctx)
	if err != nil {
		return nil, err
	}
	posted, err := forge.Posted(ctx)
	if err != nil {
		return nil, err
	}
	// Texts are asked for once: several findings lie in one file.
	texts := map[string]func() (string, error){}
	r := &Result{Ending: Quiet, Decision: Decide(State{
		File: file, Diff: d, Posted: posted, Abilities: forge.Abilities(),
		Text: func(path string) (string, error) {
			if texts[path] == nil {
				text, err := forge.Text(ctx, file.Head, path)
				texts[path] = func() (string, error) { return text, err }
			}
			return texts[path]()
		},
	})}
	if r.Body != "" {
		if err := post(ctx, forge, file, r); err != nil || r.Ending != Reviewed {
			return r, err
		}
	}
	return r, settle(ctx, forge, file, r)
}

// ended returns why there is nothing to do for the request: it is closed, or has another head than the file.
func ended(ctx context.Context, forge Forge, file *File) (Ending, error) {
	req, err := forge.Request(ctx)
	switch {
	case errors.Is(err, ErrNotFound):
		return Superseded, nil
	case err != nil:
		return "", err
	case !req.Open:
		return Closed, nil
	case req.Head != file.Head:
		return Superseded, nil
	}
	return "", nil
}

// post posts the review. Where the forge refuses the places of the comments, all goes into the body, unless the request
// has moved on meanwhile.
func post(ctx context.Context, forge Forge, file *File, r *Result) error {
	err := forge.Post(ctx, file.Head, r.Body, r.Comments)
	if errors.Is(err, ErrRefused) || errors.Is(err, ErrNotFound) {
		if r.Ending, err = ended(ctx, forge, file); err != nil || r.Ending != "" {
			return err
		}
		r.InBody = true
		err = forge.Post(ctx, file.Head, r.Whole, nil)
	}
	switch {
	case err == nil:
		r.Ending = Reviewed
	case errors.Is(err, ErrReadOnly):
		r.Ending, err = ReadOnly, nil
	default:
		err = fmt.Errorf("posting the review: %w", err)
	}
	return err
}

// settle resolves the threads about findings that are gone. One with a reply of somebody else is answered once, and
// left to people; so is one that the forge does not let the bot resolve.
func settle(ctx context.Context, forge Forge, file *File, r *Result) error {
	for _, t := range r.Settled {
		if !t.Human {
			err := forge.Resolve(ctx, t)
			if err == nil {
				r.Resolved++
				continue
			}
			if !errors.Is(err, ErrReadOnly) && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrRefused) {
				return fmt.Errorf("resolving a comment: %w", err)
			}
		}
		err := forge.Reply(ctx, t, gone(file.Head, t))
		if errors.Is(err, ErrReadOnly) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrRefused) {
			continue
		}
		if err != nil {
			return fmt.Errorf("answering a comment: %w", err)
		}
		r.Answered++
	}
	return nil
}

// gone returns the answer to a thread whose findings are gone.
func gone(head string, t Thread) string {
	m, _ := markerOf(t.Body)
	return fmt.Sprintf("Interlock does not find this any more in %s.\n\n%s\n", head[:12],
		marker{Head: head, IDs: m.IDs, Gone: true})
}

// Summary returns the review as a page of markdown, for a token that may not post it; "" if there is nothing to post.
func (r *Result) Summary() string { return strings.TrimSpace(r.Whole) }
