// Package github is GitHub as a [bot.Forge]. REST goes through go-github, and the threads of reviews, which REST does
// not know, through githubv4. Both wait where GitHub asks for that by Retry-After.
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gofri/go-github-ratelimit/v2/github_ratelimit"
	"github.com/gofri/go-github-ratelimit/v2/github_ratelimit/github_secondary_ratelimit"
	"github.com/google/go-github/v92/github"
	"github.com/shurcooL/githubv4"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// maxWait is how long one call waits for the limits of GitHub to pass; a job of CI waits no longer.
const maxWait = 15 * time.Minute

// Forge is one pull request on GitHub.
type Forge struct {
	rest        *github.Client
	graph       *githubv4.Client
	owner, repo string
	number      int
	host        string // of the server, for addresses of users
}

// Options name the server and the token.
type Options struct {
	API   string // of REST, such as https://api.github.com
	Graph string // of GraphQL, such as https://api.github.com/graphql
	Token string
	// Base carries the requests; nil is the usual transport.
	Base http.RoundTripper
}

// New returns a client for a repository, owner/name.
func New(o Options, repository string) (*Forge, error) {
	owner, repo, ok := strings.Cut(repository, "/")
	if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
		return nil, fmt.Errorf("%q names no repository: want owner/name", repository)
	}
	// The limits wait below the token, so that both clients share them.
	limited := github_ratelimit.New(o.Base, github_secondary_ratelimit.WithTotalSleepLimit(maxWait, nil))
	client := &http.Client{Transport: &bearer{o.Token, limited}, Timeout: maxWait + time.Minute}
	api := strings.TrimSuffix(o.API, "/") + "/"
	rest, err := github.NewClient(github.WithHTTPClient(client), github.WithURLs(&api, nil),
		github.WithDisableRateLimitCheck(), github.WithUserAgent("interlock"))
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(o.API)
	if err != nil {
		return nil, err
	}
	return &Forge{rest: rest, graph: githubv4.NewEnterpriseClient(o.Graph, client), owner: owner, repo: repo,
		host: strings.TrimPrefix(at.Hostname(), "api.")}, nil
}

// On returns the forge for a request of the repository.
func (f *Forge) On(number int) *Forge {
	g := *f
	g.number = number
	return &g
}

// bearer puts the token into each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(req)
}

// Abilities implements [bot.Forge].
func (*Forge) Abilities() bot.Abilities { return bot.Abilities{Suggestions: true, Ranges: true} }

// Find returns the number of the open request whose head is a commit of a branch, 0 if there is none. A run that a
// workflow of a fork has started names no request.
func (f *Forge) Find(ctx context.Context, owner, branch, head string) (int, error) {
	all, _, err := f.rest.PullRequests.List(ctx, f.owner, f.repo,
		&github.PullRequestListOptions{State: "open", Head: owner + ":" + branch})
	if err != nil {
		return 0, classed(err)
	}
	for _, p := range all {
		if p.GetHead().GetSHA() == head {
			return p.GetNumber(), nil
		}
	}
	return 0, nil
}

// Request implements [bot.Forge].
func (f *Forge) Request(ctx context.Context) (*bot.Request, error) {
	p, _, err := f.rest.PullRequests.Get(ctx, f.owner, f.repo, f.number)
	if err != nil {
		return nil, classed(err)
	}
	return &bot.Request{Number: f.number, Head: p.GetHead().GetSHA(), Open: p.GetState() == "open",
		Base: p.GetBase().GetRef(), Clone: p.GetBase().GetRepo().GetCloneURL(),
		Source: bot.Branch{Clone: p.GetHead().GetRepo().GetCloneURL(), Name: p.GetHead().GetRef()}}, nil
}

// Diff implements [bot.Forge]. The list of files has the hunks in which GitHub takes comments; it has none for files
// that are too large.
func (f *Forge) Diff(ctx context.Context) (bot.Diff, error) {
	d := bot.Diff{}
	for opts := (&github.ListOptions{PerPage: 100}); ; {
		files, resp, err := f.rest.PullRequests.ListFiles(ctx, f.owner, f.repo, f.number, opts)
		if err != nil {
			return nil, classed(err)
		}
		for _, file := range files {
			if file.GetStatus() == "removed" {
				continue
			}
			changed, err := bot.ParseHunks(file.GetPatch())
			if err != nil {
				return nil, err
			}
			d[file.GetFilename()] = changed
		}
		if resp.NextPage == 0 {
			return d, nil
		}
		opts.Page = resp.NextPage
	}
}

// Text implements [bot.Forge]. Commits of forks can be read in the repository that the request is for.
func (f *Forge) Text(ctx context.Context, commit, path string) (string, error) {
	file, _, _, err := f.rest.Repositories.GetContents(ctx, f.owner, f.repo, path,
		&github.RepositoryContentGetOptions{Ref: commit})
	if err != nil {
		return "", classed(err)
	}
	if file == nil { // a folder
		return "", fmt.Errorf("%s: %w", path, bot.ErrNotFound)
	}
	return file.GetContent()
}

// Post implements [bot.Forge].
func (f *Forge) Post(ctx context.Context, commit, body string, comments []bot.Comment) error {
	review := &github.PullRequestReviewRequest{CommitID: &commit, Body: &body, Event: new("COMMENT")}
	for _, c := range comments {
		draft := &github.DraftReviewComment{Path: &c.Path, Body: &c.Body, Line: &c.End, Side: new("RIGHT")}
		if c.Start < c.End { // GitHub refuses a range of one line
			draft.StartLine, draft.StartSide = &c.Start, draft.Side
		}
		review.Comments = append(review.Comments, draft)
	}
	_, _, err := f.rest.PullRequests.CreateReview(ctx, f.owner, f.repo, f.number, review)
	return classed(err)
}

// classed returns err with the error of package bot that it is one of.
func classed(err error) error {
	if err == nil {
		return nil
	}
	// A limit that was not over within maxWait may pass later. GitHub answers 403 to it.
	if errors.As(err, new(*github.AbuseRateLimitError)) || errors.As(err, new(*github.RateLimitError)) {
		return fmt.Errorf("%w: %w", bot.ErrTransient, err)
	}
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) || answer.Response == nil {
		if errors.As(err, new(*url.Error)) && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%w: %w", bot.ErrTransient, err)
		}
		return err
	}
	if kind := kindOf(answer.Response.StatusCode); kind != nil {
		return fmt.Errorf("%w: %w", kind, err)
	}
	return err
}

// kindOf returns the error of package bot for a status of HTTP, or nil.
func kindOf(status int) error {
	switch {
	case status == http.StatusForbidden:
		return bot.ErrReadOnly
	case status == http.StatusNotFound || status == http.StatusGone:
		return bot.ErrNotFound
	case status == http.StatusUnprocessableEntity:
		return bot.ErrRefused
	case status == http.StatusTooManyRequests || status >= 500:
		return bot.ErrTransient
	}
	return nil
}
