// Package gitea is Gitea as a [bot.Forge], through its SDK. Gitea has no suggestion that a click commits, and no
// comment on several lines; it takes comments outside of hunks.
package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// Forge is one pull request on a server of Gitea.
type Forge struct {
	client      *gitea.Client
	owner, repo string
	number      int64
	me          *gitea.User // the token's user
}

// timeout is how long one call may take.
const timeout = time.Minute

// New connects to a server, for a request of a repository owner/name. ctx ends all calls.
func New(ctx context.Context, server, token, repository string, number int) (*Forge, error) {
	owner, repo, ok := strings.Cut(repository, "/")
	if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
		return nil, fmt.Errorf("%q names no repository: want owner/name", repository)
	}
	client, err := gitea.NewClient(strings.TrimSuffix(server, "/"), gitea.SetToken(token), gitea.SetContext(ctx),
		gitea.SetHTTPClient(&http.Client{Timeout: timeout}), gitea.SetUserAgent("interlock"))
	if err != nil {
		return nil, fmt.Errorf("connecting to Gitea at %s: %w", server, err)
	}
	me, _, err := client.GetMyUserInfo()
	if err != nil {
		return nil, fmt.Errorf("asking Gitea for the user of the token: %w", err)
	}
	return &Forge{client, owner, repo, int64(number), me}, nil
}

// Abilities implements [bot.Forge].
func (*Forge) Abilities() bot.Abilities { return bot.Abilities{} }

// Request implements [bot.Forge].
func (f *Forge) Request(context.Context) (*bot.Request, error) {
	p, resp, err := f.client.GetPullRequest(f.owner, f.repo, f.number)
	if err != nil {
		return nil, classed(resp, err)
	}
	r := &bot.Request{Number: int(f.number), Open: p.State == gitea.StateOpen}
	if p.Head != nil {
		r.Head, r.Source.Name = p.Head.Sha, p.Head.Ref
		if p.Head.Repository != nil {
			r.Source.Clone = p.Head.Repository.CloneURL
		}
	}
	if p.Base != nil && p.Base.Repository != nil {
		r.Base, r.Clone = p.Base.Ref, p.Base.Repository.CloneURL
	}
	return r, nil
}

// Diff implements [bot.Forge].
func (f *Forge) Diff(context.Context) (bot.Diff, error) {
	text, resp, err := f.client.GetPullRequestDiff(f.owner, f.repo, f.number, gitea.PullRequestDiffOptions{})
	if err != nil {
		return nil, classed(resp, err)
	}
	return bot.ParseDiff(string(text))
}

// Text implements [bot.Forge].
func (f *Forge) Text(_ context.Context, commit, path string) (string, error) {
	text, resp, err := f.client.GetFile(f.owner, f.repo, commit, path)
	return string(text), classed(resp, err)
}

// pageSize is how many reviews a page has.
const pageSize = 50

// place is the beginning of a thread: Gitea joins the comments on one line.
type place struct {
	path      string
	line, old uint64
}

// Posted implements [bot.Forge].
func (f *Forge) Posted(context.Context) (*bot.Posted, error) {
	p := new(bot.Posted)
	threads := map[place]int{} // in p.Threads
	for page := 1; ; page++ {
		reviews, resp, err := f.client.ListPullReviews(f.owner, f.repo, f.number,
			gitea.ListPullReviewsOptions{ListOptions: gitea.ListOptions{Page: page, PageSize: pageSize}})
		if err != nil {
			return nil, classed(resp, err)
		}
		for _, r := range reviews {
			if r.Reviewer != nil && r.Reviewer.ID == f.me.ID {
				p.Bodies = append(p.Bodies, r.Body)
			}
			if r.CodeCommentsCount == 0 {
				continue
			}
			comments, resp, err := f.client.ListPullReviewComments(f.owner, f.repo, f.number, r.ID)
			if err != nil {
				return nil, classed(resp, err)
			}
			for _, c := range comments {
				f.add(p, threads, c)
			}
		}
		if len(reviews) < pageSize {
			return p, nil
		}
	}
}

// add puts a comment into its thread, or begins one, if it is the bot's.
func (f *Forge) add(p *bot.Posted, threads map[place]int, c *gitea.PullReviewComment) {
	mine := c.Reviewer != nil && c.Reviewer.ID == f.me.ID
	at := place{c.Path, c.LineNum, c.OldLineNum}
	i, ok := threads[at]
	switch {
	case ok && !mine:
		p.Threads[i].Human = true
	case mine && bot.IsAnswer(c.Body):
		if ok {
			p.Threads[i].Answered = true
		}
	case mine:
		threads[at] = len(p.Threads)
		p.Threads = append(p.Threads, bot.Thread{ID: fmt.Sprint(c.ID), Path: c.Path, Body: c.Body,
			Resolved: c.Resolver != nil, ByBot: c.Resolver != nil && c.Resolver.ID == f.me.ID})
	}
}

// Post implements [bot.Forge].
func (f *Forge) Post(_ context.Context, commit, body string, comments []bot.Comment) error {
	o := gitea.CreatePullReviewOptions{State: gitea.ReviewStateComment, Body: body, CommitID: commit}
	for _, c := range comments {
		o.Comments = append(o.Comments, gitea.CreatePullReviewComment{Path: c.Path, Body: c.Body, NewLineNum: int64(c.End)})
	}
	_, resp, err := f.client.CreatePullReview(f.owner, f.repo, f.number, o)
	return classed(resp, err)
}

// Resolve implements [bot.Forge].
func (f *Forge) Resolve(_ context.Context, t bot.Thread) error {
	id, err := number(t)
	if err != nil {
		return err
	}
	resp, err := f.client.ResolvePullReviewComment(f.owner, f.repo, id)
	return classed(resp, err)
}

// Reply implements [bot.Forge]. Releases of Gitea without replies get a review of their own.
func (f *Forge) Reply(_ context.Context, t bot.Thread, body string) error {
	id, err := number(t)
	if err != nil {
		return err
	}
	_, resp, err := f.client.CreatePullReviewCommentReply(f.owner, f.repo, f.number, id,
		gitea.CreatePullReviewCommentReplyOptions{Body: body})
	kind := classed(resp, err)
	if errors.Is(kind, bot.ErrNotFound) || resp != nil && resp.StatusCode == http.StatusMethodNotAllowed {
		_, resp, err = f.client.CreatePullReview(f.owner, f.repo, f.number,
			gitea.CreatePullReviewOptions{State: gitea.ReviewStateComment, Body: body})
	}
	return classed(resp, err)
}

func number(t bot.Thread) (id int64, err error) {
	_, err = fmt.Sscan(t.ID, &id)
	return id, err
}

// classed returns err with the error of package bot that the status of the answer stands for.
func classed(resp *gitea.Response, err error) error {
	if err == nil {
		return nil
	}
	kind := bot.ErrTransient // no answer at all
	if resp != nil && resp.Response != nil {
		switch status := resp.StatusCode; {
		case status == http.StatusForbidden:
			kind = bot.ErrReadOnly
		case status == http.StatusNotFound:
			kind = bot.ErrNotFound
		case status == http.StatusUnprocessableEntity:
			kind = bot.ErrRefused
		case status != http.StatusTooManyRequests && status < 500:
			return err
		}
	}
	return fmt.Errorf("%w: %w", kind, err)
}
