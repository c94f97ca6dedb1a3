package branch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// message is a commit without its texts.
type message struct {
	author bot.Author
	time   time.Time
	text   string
}

// commit makes a commit of texts on the head, and returns its name: the same one for the same arguments. No file is
// written but those of git, so that no link and no attribute of the request acts.
func (c *Clone) commit(ctx context.Context, texts map[string]string, m message) (string, error) {
	if _, err := c.git(ctx, "read-tree", c.Head); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		mode, _, err := c.file(ctx, name)
		if err != nil {
			return "", err
		}
		blob, err := c.gitWith(ctx, nil, texts[name], "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		entry := mode + "," + strings.TrimSpace(blob) + "," + name
		if _, err := c.git(ctx, "update-index", "--cacheinfo", entry); err != nil {
			return "", err
		}
	}
	tree, err := c.git(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	at := fmt.Sprintf("%d +0000", m.time.Unix())
	env := []string{"GIT_AUTHOR_NAME=" + m.author.Name, "GIT_AUTHOR_EMAIL=" + m.author.Address,
		"GIT_COMMITTER_NAME=" + m.author.Name, "GIT_COMMITTER_EMAIL=" + m.author.Address,
		"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}
	commit, err := c.gitWith(ctx, env, m.text, "commit-tree", strings.TrimSpace(tree), "-p", c.Head)
	return strings.TrimSpace(commit), err
}

// diff returns the difference that a commit makes to the head.
func (c *Clone) diff(ctx context.Context, commit string) (string, error) {
	return c.git(ctx, "-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv",
		c.Head, commit, "--")
}

// refusal is the reason why a host has not taken a commit; another try would end in the same way.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// errMoved is the refusal of a branch that has another head by now.
const errMoved = refusal("the branch has moved")

// rejected is the line of a push about a branch that was not changed, with the reason.
var rejected = regexp.MustCompile(`(?m)^!\t[^\t\n]*\t\[[a-z ]+\] \((.*)\)$`)

// overtaken is the reason of a host where another push came first; which commit that has left is not known.
var overtaken = regexp.MustCompile(`lock ref|failed to update ref|incorrect old value`)

// denied is an answer of HTTP to a token that may not push.
var denied = regexp.MustCompile(`returned error: 40[134]|Authentication failed|Permission .* denied|not found`)

// push puts a commit on the head onto the branch of the request, if that still is at the head. The error of a branch
// that cannot be pushed to is a refusal.
func (c *Clone) push(ctx context.Context, commit string) error {
	ref := "refs/heads/" + c.source.Name
	if c.source.Clone == "" {
		return refusal("the repository of the branch is gone, or on another server")
	}
	if _, err := c.git(ctx, "check-ref-format", ref); err != nil {
		return refusal("the branch has no name that git takes")
	}
	// The lease makes it one step: the branch changes only if it is at the head, of which the commit is a child.
	out, err := c.git(ctx, "push", "--porcelain", "--no-verify", "--force-with-lease="+ref+":"+c.Head, "--",
		c.source.Clone, commit+":"+ref)
	switch m := rejected.FindStringSubmatch(out); {
	case err == nil:
		return nil
	case m != nil && (m[1] == "stale info" || m[1] == "fetch first" || m[1] == "non-fast-forward"):
		return c.moved(ctx, ref, commit)
	case m != nil && !overtaken.MatchString(m[1]):
		return refusal(m[1])
	case denied.MatchString(err.Error()):
		return refusal(err.Error())
	}
	return err
}

// moved returns errMoved, or nil where an earlier push of the same commit has moved the branch.
func (c *Clone) moved(ctx context.Context, ref, commit string) error {
	out, err := c.git(ctx, "ls-remote", "--", c.source.Clone, ref)
	if err != nil {
		return err
	}
	if at, _, _ := strings.Cut(out, "\t"); at == commit {
		return nil
	}
	return errMoved
}

// isRefusal reports whether another try would end in the same way.
func isRefusal(err error) bool { return errors.As(err, new(refusal)) }
