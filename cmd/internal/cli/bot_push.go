package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/branch"
)

// pushPatches makes one commit of the patches that the review names, and pushes it onto the branch of the request. It
// does so once: nothing is pushed onto a commit of the bot.
func pushPatches(c *call, forge bot.Forge, file *bot.File, token string) int {
	outcome, err := pushed(c.ctx, forge, file, token)
	switch {
	case err != nil:
		c.warn("pushing the patches: " + err.Error())
		return exitIncomplete
	case outcome.Problem != "":
		c.warn("nothing is pushed: " + outcome.Problem)
	case outcome.Commit == "":
		c.warn("nothing is pushed: the review has no verified patch that fits to this commit")
	default:
		c.warn("pushed: " + outcome.Commit)
	}
	for _, l := range outcome.Left {
		c.warn(fmt.Sprintf("not pushed: %s: %s", l.Finding.ID, l.Reason))
	}
	return exitClean
}

// pushed is pushPatches without its messages.
func pushed(ctx context.Context, forge bot.Forge, file *bot.File, token string) (*bot.Outcome, error) {
	req, err := forge.Request(ctx)
	if err != nil {
		return nil, err
	}
	if !req.Open || req.Head != file.Head {
		return &bot.Outcome{Problem: "the request is closed, or has another head by now"}, nil
	}
	posted, err := forge.Posted(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "interlock-bot")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	clone, err := branch.Fetch(ctx, dir, token, req)
	if err != nil {
		return nil, err
	}
	// A patch that does not help must not be followed by another one for ever.
	writer, err := clone.Writer(ctx)
	if err != nil {
		return nil, err
	}
	self, err := forge.Self(ctx)
	if err != nil {
		return nil, err
	}
	if writer == self.Address {
		return &bot.Outcome{Problem: "the head is a commit of the bot already"}, nil
	}
	return branch.Apply(ctx, branch.Options{Forge: forge, Clone: clone, File: file, Posted: posted, Time: time.Now(),
		Try:    func(_ context.Context, j *bot.Joint) (string, error) { return file.FailedTrial(j), nil },
		Before: func(*bot.Outcome) error { return nil }})
}
