package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/branch"
)

// request is the job of a comment that asks for the patches of a review.
type request struct {
	*Reviewer
	forge bot.Forge
	job   Job
}

// step is the next step of the job. It is saved before, so that another try knows it if the server is killed: the
// commit that was pushed and the answer, or the head that was to be reviewed.
type step struct {
	Commit string    `json:",omitempty"`
	Time   time.Time // of the commit
	Answer string    `json:",omitempty"`
	Review string    `json:",omitempty"` // the head, which nobody could read a review of
}

// save saves a step.
func (r *request) save(ctx context.Context, s step) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return r.Queue.Save(ctx, r.job, string(text))
}

// apply does the job, and answers the comment once.
func (r *request) apply(ctx context.Context) (note string, err error) {
	answers, err := r.forge.Answers(ctx)
	if errors.Is(err, bot.ErrNotFound) {
		return "the request is gone", nil
	}
	if err != nil {
		return "", err
	}
	reply := bot.Reply{Comment: r.job.Comment}
	if reply.IsPosted(answers) {
		return "answered before", nil
	}
	// Nothing is done for a stranger but one answer.
	may, err := r.forge.MayWrite(ctx, r.job.Author)
	switch {
	case errors.Is(err, bot.ErrReadOnly):
		return r.answer(ctx, reply, "Nothing was applied: the host does not let the bot's user see who may write to this "+
			"repository.\n")
	case err != nil:
		return "", err
	case !may:
		reply.Refused = r.job.Author
		return r.answer(ctx, reply, "Nothing was applied: only who may write to this repository can ask for it.\n")
	}
	req, err := r.forge.Request(ctx)
	switch {
	case errors.Is(err, bot.ErrNotFound):
		return "the request is gone", nil
	case err != nil:
		return "", err
	}
	text, err := r.outcome(ctx, req)
	switch {
	case err != nil && (ctx.Err() != nil || r.job.Tries+1 < maxTries):
		return "", err
	case err != nil: // nobody tries again
		text = fmt.Sprintf("This could not be finished in %d tries. The last one ended in %s.\n", maxTries,
			bot.Said(err.Error()))
	}
	return r.answer(ctx, reply, text)
}

// answer posts the answer. Its first line is the note.
func (r *request) answer(ctx context.Context, reply bot.Reply, text string) (note string, err error) {
	note, _, _ = strings.Cut(text, "\n")
	err = reply.Post(ctx, r.forge, text, func(d time.Duration) { sleep(ctx, d) })
	if errors.Is(err, bot.ErrReadOnly) || errors.Is(err, bot.ErrNotFound) {
		return note + " (the host takes no answer)", nil
	}
	return note, err
}

// outcome applies the patches, and returns the answer.
func (r *request) outcome(ctx context.Context, req *bot.Request) (answer string, err error) {
	var before step
	if r.job.Saved != "" {
		if err := json.Unmarshal([]byte(r.job.Saved), &before); err != nil {
			return "", err
		}
	}
	// No code of the request runs here, and nobody else may write.
	dir, err := os.MkdirTemp("", "interlock-bot")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	clone, err := branch.Fetch(ctx, dir, r.Token, req)
	switch {
	case err != nil:
		return "", err
	case before.Commit != "" && clone.Has(ctx, before.Commit):
		return before.Answer, nil
	case !req.Open:
		return "Nothing was applied: the request is closed.\n", nil
	case clone.Head != req.Head:
		return "", errors.New("git has another head than the request")
	}
	return r.applied(ctx, req, clone, before)
}

// applied applies the patches that the review of the head shows, and returns the answer. before is the step that an
// earlier try has saved.
func (r *request) applied(ctx context.Context, req *bot.Request, clone *branch.Clone, before step) (string, error) {
	posted, err := r.forge.Posted(ctx)
	if err != nil {
		return "", err
	}
	text, err := r.reviewed(ctx, req, posted, before.Review)
	if err != nil {
		return "", err
	}
	if text == nil {
		return fmt.Sprintf("Nothing was applied: %s had not been reviewed. It is now: ask again once you have read the "+
			"review.\n", req.Head), nil
	}
	file, err := fileOf(text, req.Head)
	if err != nil {
		return "", err
	}
	// Another try makes the same commit.
	if before.Time.IsZero() {
		before.Time = time.Now()
	}
	outcome, err := branch.Apply(ctx, branch.Options{Forge: r.forge, Clone: clone, File: file, Posted: posted,
		Time: before.Time, Why: "Applied as " + r.job.Author + " has asked for by a comment.",
		Try: func(ctx context.Context, joint *bot.Joint) (string, error) { return r.try(ctx, req, text, joint) },
		Before: func(o *bot.Outcome) error {
			return r.save(ctx, step{Commit: o.Commit, Time: before.Time, Answer: o.Text()})
		}})
	if err != nil {
		return "", err
	}
	return outcome.Text(), nil
}

// reviewed returns the file of findings of the head that was reviewed; nil if it was not until now, or until an earlier
// try. Patches are taken only of a review that could be read before they were asked for.
func (r *request) reviewed(ctx context.Context, req *bot.Request, posted *bot.Posted, late string) ([]byte, error) {
	text, err := r.Queue.Kept(ctx, r.job, req.Head)
	switch {
	case err != nil:
		return nil, err
	case late == req.Head, text == nil && !posted.HasReviewed(req.Head):
		if err := r.save(ctx, step{Review: req.Head}); err != nil {
			return nil, err
		}
		_, err := r.review(ctx, r.forge, r.job, req)
		return nil, err
	case text != nil:
		return text, nil
	}
	// Another process has posted the review, so that its findings are not here.
	if _, err := r.find(ctx, r.job, req); err != nil {
		return nil, err
	}
	return r.Queue.Kept(ctx, r.job, req.Head)
}

// try has another process try the patches together. Its result is about the same patches, or it counts for nothing.
func (r *request) try(ctx context.Context, req *bot.Request, findings []byte, joint *bot.Joint) (string, error) {
	var ids []string
	for _, f := range joint.Patched {
		ids = append(ids, f.ID)
	}
	text, err := r.inSandbox(ctx, req, findings, "try", "-only="+strings.Join(ids, ","))
	if err != nil {
		return "", err
	}
	file, err := fileOf(text, req.Head)
	if err != nil {
		return "", err
	}
	return file.FailedTrial(joint), nil
}
