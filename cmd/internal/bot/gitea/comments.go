package gitea

import (
	"cmp"
	"context"
	"errors"

	"code.gitea.io/sdk/gitea"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// Answers implements [bot.Forge]. Gitea lists all comments of a request at once.
func (f *Forge) Answers(context.Context) (all []string, err error) {
	comments, resp, err := f.client.ListIssueComments(f.owner, f.repo, f.number, gitea.ListIssueCommentOptions{})
	for _, c := range comments {
		if c.Poster != nil && c.Poster.ID == f.me.ID {
			all = append(all, c.Body)
		}
	}
	return all, classed(resp, err)
}

// Answer implements [bot.Forge].
func (f *Forge) Answer(_ context.Context, body string) error {
	_, resp, err := f.client.CreateIssueComment(f.owner, f.repo, f.number, gitea.CreateIssueCommentOption{Body: body})
	return classed(resp, err)
}

// MayWrite implements [bot.Forge]. Gitea answers administrators of the repository alone.
func (f *Forge) MayWrite(_ context.Context, user string) (bool, error) {
	level, resp, err := f.client.CollaboratorPermission(f.owner, f.repo, user)
	if err := classed(resp, err); err != nil {
		if errors.Is(err, bot.ErrNotFound) { // no such user
			return false, nil
		}
		return false, err
	}
	if level == nil {
		return false, nil
	}
	switch level.Permission {
	case gitea.AccessModeWrite, gitea.AccessModeAdmin, gitea.AccessModeOwner:
		return true, nil
	}
	return false, nil
}

// Self implements [bot.Forge].
func (f *Forge) Self(context.Context) (bot.Author, error) {
	return bot.Author{Name: cmp.Or(f.me.FullName, f.me.UserName), Address: f.me.Email}, nil
}
