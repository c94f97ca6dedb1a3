package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// Reviewer does jobs: it fetches the request, has another process find bugs, and posts the review, or has another
// process try the patches of a review together, and pushes them. Its method Work is a [Worker].
type Reviewer struct {
	Forge func(ctx context.Context, repository string, number int) (bot.Forge, error)
	Queue *Queue
	Token string // for git; the process that finds bugs does not get it
	// Find is the command that is interlock, behind the words that put it into a sandbox.
	Find    []string
	Timeout time.Duration // of that command
}

// Work does one job.
func (r *Reviewer) Work(ctx context.Context, j Job) (note string, err error) {
	forge, err := r.Forge(ctx, j.Repository, j.Number)
	if err != nil {
		return "", err
	}
	if j.Comment != 0 {
		return (&request{Reviewer: r, forge: forge, job: j}).apply(ctx)
	}
	req, err := forge.Request(ctx)
	switch {
	case errors.Is(err, bot.ErrNotFound):
		return "the request is gone", nil
	case err != nil:
		return "", err
	case !req.Open:
		return "closed", nil
	case req.Head != j.Head: // its own job follows
		return "superseded", nil
	}
	return r.review(ctx, forge, j, req)
}

// review reviews the head of a request.
func (r *Reviewer) review(ctx context.Context, forge bot.Forge, j Job, req *bot.Request) (note string, err error) {
	file, err := r.find(ctx, j, req)
	if err != nil {
		return "", err
	}
	res, err := bot.Review(ctx, forge, file, func(d time.Duration) { sleep(ctx, d) })
	if err != nil {
		return "", err
	}
	note = fmt.Sprintf("%s; %d comments, %d resolved, %d answered", res.Ending, len(res.Comments), res.Resolved,
		res.Answered)
	if !file.Complete {
		note += "; not all of it could be analysed and run"
	}
	return note, nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
