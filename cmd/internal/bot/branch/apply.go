// Package branch makes one commit of the patches that a review of the bot shows, and pushes it onto the branch of the
// request. It runs no code of the request: the caller has the patches tried together where there is no token.
//
// The commit is made from texts and pushed only onto the commit that it was made for. It is all patches of [bot.Named]
// that fit to each other, each whole, or nothing.
package branch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// Options are the patches, and the branch that they are for.
type Options struct {
	Forge  bot.Forge
	Clone  *Clone
	File   *bot.File
	Posted *bot.Posted
	Why    string    // the last line of the message
	Time   time.Time // of the commit
	// Try returns the first check that the patches do not pass together; "" if they pass all.
	Try func(ctx context.Context, joint *bot.Joint) (failed string, err error)
	// Before is called before the push, with the outcome if that succeeds.
	Before func(o *bot.Outcome) error
}

// Apply makes the commit and pushes it. An error means that another try may succeed.
func Apply(ctx context.Context, o Options) (*bot.Outcome, error) {
	if o.Clone.Head != o.File.Head {
		return nil, errors.New("git has another head than the findings")
	}
	named, left := bot.Named(o.File, o.Posted)
	joint, err := bot.Join(o.File, named, func(name string) (string, error) { return o.Clone.text(ctx, name) })
	if err != nil {
		return nil, err
	}
	joint.Left = append(left, joint.Left...)
	outcome := &bot.Outcome{Joint: *joint}
	if len(joint.Texts) == 0 {
		return outcome, nil
	}
	// Nothing is pushed that was not tried as a whole.
	failed, err := o.Try(ctx, joint)
	if err != nil {
		return nil, err
	}
	if failed != "" {
		outcome.Problem = "with all patches together, " + bot.Said(failed) + "."
		return outcome, nil
	}
	author, err := o.Forge.Self(ctx)
	if err != nil {
		return nil, err
	}
	commit, err := o.Clone.commit(ctx, joint.Texts, message{author, o.Time, bot.Message(joint.Patched, o.Why)})
	if err != nil {
		return nil, fmt.Errorf("making the commit: %w", err)
	}
	outcome.Commit = commit
	if err := o.Before(outcome); err != nil {
		return nil, err
	}
	return o.pushed(ctx, outcome)
}

// pushed pushes the commit of an outcome, or says in it why the host does not take it.
func (o *Options) pushed(ctx context.Context, outcome *bot.Outcome) (*bot.Outcome, error) {
	err := o.Clone.push(ctx, outcome.Commit)
	switch {
	case err == nil:
		return outcome, nil
	case errors.Is(err, errMoved):
		outcome.Problem = "the branch has moved. Ask again once Interlock has reviewed its new head."
	case isRefusal(err):
		diff, errDiff := o.Clone.diff(ctx, outcome.Commit)
		if errDiff != nil {
			return nil, errDiff
		}
		outcome.Problem = "the branch cannot be pushed to: " + bot.Said(err.Error())
		outcome.Diff = diff
	default:
		return nil, fmt.Errorf("pushing the commit: %w", err)
	}
	outcome.Commit = ""
	return outcome, nil
}
