package branch

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/report"
)

// Names of the commits that are fetched.
const (
	BaseRef = "refs/interlock/base"
	headRef = "refs/interlock/head"
)

// Clone is a repository of git in a folder, with the base and the head of a request.
type Clone struct {
	dir    string
	source bot.Branch // of the request
	env    []string
	Head   string // commit
}

// Fetch makes a repository in an empty folder, and fetches a request. The token is in the environment of git alone: in
// no file, and on no command line. A host may answer before its git does: then the head is another one than that of
// the request.
func Fetch(ctx context.Context, dir, token string, req *bot.Request) (*Clone, error) {
	c := &Clone{dir: dir, source: req.Source}
	if !isSameServer(req.Clone, req.Source.Clone) {
		c.source.Clone = ""
	}
	c.env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	c.env = append(c.env, withToken(token, req.Clone, c.source.Clone)...)
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", req.Clone, "+refs/heads/" + req.Base + ":" + BaseRef,
			fmt.Sprintf("+refs/pull/%d/head:%s", req.Number, headRef)},
	} {
		if _, err := c.git(ctx, args...); err != nil {
			return nil, err
		}
	}
	head, err := c.git(ctx, "rev-parse", headRef)
	c.Head = strings.TrimSpace(head)
	return c, err
}

// withToken returns the variables by which git sends a token to the addresses, and nowhere else.
func withToken(token string, addresses ...string) (env []string) {
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
	slices.Sort(addresses)
	n := 0
	for _, address := range slices.Compact(addresses) { // a header that is sent twice is refused
		if address != "" {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=http.%s.extraHeader", n, address),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=Authorization: Basic %s", n, basic))
			n++
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// isSameServer reports whether two addresses lead to one server, which gets the token.
func isSameServer(a, b string) bool {
	p, err := url.Parse(a)
	q, errOther := url.Parse(b)
	return err == nil && errOther == nil && p.Scheme == q.Scheme && p.Host == q.Host
}

// Checkout writes the files of the head into the folder.
func (c *Clone) Checkout(ctx context.Context) error {
	_, err := c.git(ctx, "checkout", "--quiet", "--detach", headRef)
	return err
}

// Has reports whether a commit is the head, or one before it.
func (c *Clone) Has(ctx context.Context, commit string) bool {
	_, err := c.git(ctx, "merge-base", "--is-ancestor", commit, headRef)
	return err == nil
}

// Writer returns the address of the author of the head.
func (c *Clone) Writer(ctx context.Context) (string, error) {
	out, err := c.git(ctx, "show", "--no-patch", "--format=%ae", c.Head)
	return strings.TrimSpace(out), err
}

// file returns the mode of a file of the head and the name of its text; [bot.ErrNotFound] where there is none, or
// a link.
func (c *Clone) file(ctx context.Context, name string) (mode, blob string, err error) {
	out, err := c.git(ctx, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", c.Head, "--", name)
	if err != nil {
		return "", "", err
	}
	// One line: the mode, the kind and the name of the text, and behind a tab the name of the file.
	entry, path, _ := strings.Cut(strings.TrimSuffix(out, "\x00"), "\t")
	words := strings.Fields(entry)
	if path != name || len(words) != 3 || words[0] != "100644" && words[0] != "100755" {
		return "", "", fmt.Errorf("%s: %w", name, bot.ErrNotFound)
	}
	return words[0], words[2], nil
}

// text returns the text of a file of the head.
func (c *Clone) text(ctx context.Context, name string) (string, error) {
	_, blob, err := c.file(ctx, name)
	if err != nil {
		return "", err
	}
	return c.git(ctx, "cat-file", "blob", blob)
}

// git runs git in the folder.
func (c *Clone) git(ctx context.Context, args ...string) (string, error) {
	return c.gitWith(ctx, nil, "", args...)
}

// gitWith runs git in the folder, with more variables and a text as its input.
func (c *Clone) gitWith(ctx context.Context, env []string, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, slices.Concat(c.env, env), strings.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		err = fmt.Errorf("git %s: %w: %s", args[0], err, report.Clean(lines[len(lines)-1]))
	}
	return string(out), err
}
