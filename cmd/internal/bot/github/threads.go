package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/shurcooL/githubv4"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// page is the state of a list that is read in parts.
type page struct {
	HasNextPage bool
	EndCursor   githubv4.String
}

// threadsQuery asks for a part of the reviews and of the threads of a request.
type threadsQuery struct {
	Viewer     struct{ Login string }
	Repository struct {
		PullRequest struct {
			Reviews struct {
				Nodes []struct {
					Body            string
					ViewerDidAuthor bool
				}
				PageInfo page
			} `graphql:"reviews(first: 100, after: $reviews)"`
			ReviewThreads struct {
				Nodes    []thread
				PageInfo page
			} `graphql:"reviewThreads(first: 50, after: $threads)"`
		} `graphql:"pullRequest(number: $number)"`
	} `graphql:"repository(owner: $owner, name: $repo)"`
}

// thread is one conversation.
type thread struct {
	ID         string
	IsResolved bool
	Path       string
	ResolvedBy *struct{ Login string } // nil for a GitHub App, which is no user
	Comments   struct {
		Nodes []struct {
			Body            string
			ViewerDidAuthor bool
		}
	} `graphql:"comments(first: 100)"`
}

// Posted implements [bot.Forge]. Comments of others that look like the bot's do not count.
func (f *Forge) Posted(ctx context.Context) (*bot.Posted, error) {
	p := new(bot.Posted)
	vars := map[string]any{
		"owner": githubv4.String(f.owner), "repo": githubv4.String(f.repo), "number": githubv4.Int(f.number),
		"reviews": (*githubv4.String)(nil), "threads": (*githubv4.String)(nil),
	}
	for moreReviews, moreThreads := true, true; moreReviews || moreThreads; {
		var q threadsQuery
		if err := f.graph.Query(ctx, &q, vars); err != nil {
			return nil, classedGraph(err)
		}
		request := &q.Repository.PullRequest
		// A list that has ended is asked for behind its end, where it is empty.
		for _, r := range request.Reviews.Nodes {
			if r.ViewerDidAuthor {
				p.Bodies = append(p.Bodies, r.Body)
			}
		}
		for _, t := range request.ReviewThreads.Nodes {
			if own, ok := t.own(q.Viewer.Login); ok {
				p.Threads = append(p.Threads, own)
			}
		}
		moreReviews, moreThreads = request.Reviews.PageInfo.HasNextPage, request.ReviewThreads.PageInfo.HasNextPage
		if end := request.Reviews.PageInfo.EndCursor; end != "" {
			vars["reviews"] = &end
		}
		if end := request.ReviewThreads.PageInfo.EndCursor; end != "" {
			vars["threads"] = &end
		}
	}
	return p, nil
}

// own returns a thread that the bot has begun.
func (t *thread) own(viewer string) (bot.Thread, bool) {
	nodes := t.Comments.Nodes
	if len(nodes) == 0 || !nodes[0].ViewerDidAuthor {
		return bot.Thread{}, false
	}
	own := bot.Thread{ID: t.ID, Path: t.Path, Body: nodes[0].Body, Resolved: t.IsResolved,
		ByBot: t.IsResolved && (t.ResolvedBy == nil || t.ResolvedBy.Login == viewer)}
	for _, c := range nodes[1:] {
		own.Answered = own.Answered || c.ViewerDidAuthor
		own.Human = own.Human || !c.ViewerDidAuthor
	}
	return own, true
}

// Resolve implements [bot.Forge]. A token of Actions may resolve threads if it has contents: write.
func (f *Forge) Resolve(ctx context.Context, t bot.Thread) error {
	var m struct {
		ResolveReviewThread struct {
			Thread struct{ IsResolved bool }
		} `graphql:"resolveReviewThread(input: $input)"`
	}
	err := f.graph.Mutate(ctx, &m, githubv4.ResolveReviewThreadInput{ThreadID: githubv4.ID(t.ID)}, nil)
	return classedGraph(err)
}

// Reply implements [bot.Forge]. By REST, a reply would need the commit and the path again.
func (f *Forge) Reply(ctx context.Context, t bot.Thread, body string) error {
	var m struct {
		AddPullRequestReviewThreadReply struct {
			Comment struct{ ID string }
		} `graphql:"addPullRequestReviewThreadReply(input: $input)"`
	}
	err := f.graph.Mutate(ctx, &m, githubv4.AddPullRequestReviewThreadReplyInput{
		PullRequestReviewThreadID: githubv4.ID(t.ID), Body: githubv4.String(body)}, nil)
	return classedGraph(err)
}

// status is the text in which githubv4 reports a status of HTTP.
var status = regexp.MustCompile(`non-200 OK status code: (\d+)`)

// classedGraph is classed for errors of GraphQL, which have a text alone.
func classedGraph(err error) error {
	if err == nil {
		return nil
	}
	kind := error(nil)
	text := err.Error()
	if m := status.FindStringSubmatch(text); m != nil {
		code, _ := strconv.Atoi(m[1])
		kind = kindOf(code)
	}
	switch {
	case kind != nil:
	case strings.Contains(text, "not accessible") || strings.Contains(text, "permission"):
		kind = bot.ErrReadOnly
	case strings.Contains(text, "Could not resolve"):
		kind = bot.ErrNotFound
	case strings.Contains(text, "rate limit") || strings.Contains(text, "Something went wrong"):
		kind = bot.ErrTransient
	case errors.As(err, new(*url.Error)) && !errors.Is(err, context.Canceled):
		kind = bot.ErrTransient
	default:
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}
