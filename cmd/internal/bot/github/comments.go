package github

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-github/v92/github"
	"github.com/shurcooL/githubv4"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// commentsQuery asks for a part of the comments of a request that belong to no review.
type commentsQuery struct {
	Repository struct {
		PullRequest struct {
			Comments struct {
				Nodes []struct {
					Body            string
					ViewerDidAuthor bool
				}
				PageInfo page
			} `graphql:"comments(first: 100, after: $comments)"`
		} `graphql:"pullRequest(number: $number)"`
	} `graphql:"repository(owner: $owner, name: $repo)"`
}

// Answers implements [bot.Forge].
func (f *Forge) Answers(ctx context.Context) (all []string, err error) {
	vars := map[string]any{"owner": githubv4.String(f.owner), "repo": githubv4.String(f.repo),
		"number": githubv4.Int(f.number), "comments": (*githubv4.String)(nil)}
	for {
		var q commentsQuery
		if err := f.graph.Query(ctx, &q, vars); err != nil {
			return nil, classedGraph(err)
		}
		comments := &q.Repository.PullRequest.Comments
		for _, c := range comments.Nodes {
			if c.ViewerDidAuthor {
				all = append(all, c.Body)
			}
		}
		if !comments.PageInfo.HasNextPage {
			return all, nil
		}
		vars["comments"] = &comments.PageInfo.EndCursor
	}
}

// Answer implements [bot.Forge].
func (f *Forge) Answer(ctx context.Context, body string) error {
	_, _, err := f.rest.Issues.CreateComment(ctx, f.owner, f.repo, f.number, github.IssueCommentRequest{Body: body})
	return classed(err)
}

// MayWrite implements [bot.Forge].
func (f *Forge) MayWrite(ctx context.Context, user string) (bool, error) {
	level, _, err := f.rest.Repositories.GetPermissionLevel(ctx, f.owner, f.repo, user)
	if err := classed(err); err != nil {
		if errors.Is(err, bot.ErrNotFound) { // no such user
			return false, nil
		}
		return false, err
	}
	return level.GetPermission() == "admin" || level.GetPermission() == "write", nil
}

// Self implements [bot.Forge]. The address is the one that GitHub has for commits of users who hide theirs.
func (f *Forge) Self(ctx context.Context) (bot.Author, error) {
	var q struct {
		Viewer struct {
			Login      string
			DatabaseID int64
		}
	}
	if err := f.graph.Query(ctx, &q, nil); err != nil {
		return bot.Author{}, classedGraph(err)
	}
	return bot.Author{Name: q.Viewer.Login,
		Address: fmt.Sprintf("%d+%s@users.noreply.%s", q.Viewer.DatabaseID, q.Viewer.Login, f.host)}, nil
}
