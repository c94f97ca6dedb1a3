// Package repo asks git about a repository: for commits, the text of files and differences. It changes nothing in it,
// and takes no name for a flag.
package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repo is a git repository around a folder.
type Repo struct {
	dir string // its root
}

// Open returns the repository around a folder.
func Open(ctx context.Context, dir string) (*Repo, error) {
	r := &Repo{dir}
	root, err := r.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	return &Repo{root}, nil
}

// Root returns the folder of the repository.
func (r *Repo) Root() string { return r.dir }

// Commit returns the commit that a revision names.
func (r *Repo) Commit(ctx context.Context, revision string) (string, error) {
	if strings.HasPrefix(revision, "-") {
		return "", fmt.Errorf("%q is no revision", revision)
	}
	return r.line(ctx, "rev-parse", "--verify", "--quiet", revision+"^{commit}")
}

// MergeBase returns the commit at which two commits parted, or base where the repository does not reach back to it.
func (r *Repo) MergeBase(ctx context.Context, base, head string) string {
	if c, err := r.line(ctx, "merge-base", base, head); err == nil {
		return c
	}
	return base
}

// IsClean reports whether the files that git knows are those of HEAD.
func (r *Repo) IsClean(ctx context.Context) bool {
	_, err := r.run(ctx, nil, "diff", "--quiet", "HEAD", "--")
	return err == nil
}

// Diff returns the unified diff between two commits.
func (r *Repo) Diff(ctx context.Context, base, head string) (string, error) {
	out, err := r.run(ctx, nil, "-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv",
		"--find-renames", base, head, "--")
	return string(out), err
}

// Changed returns the files that differ between two commits and are there in head.
func (r *Repo) Changed(ctx context.Context, base, head string) (names []string, err error) {
	out, err := r.run(ctx, nil, "diff", "--name-only", "-z", "--no-ext-diff", "--no-renames", base, head, "--")
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names, err
}

// Text returns the text of a file at a commit.
func (r *Repo) Text(ctx context.Context, commit, path string) (string, error) {
	out, err := r.run(ctx, nil, "cat-file", "blob", commit+":"+path)
	return string(out), err
}

// Export writes the files of a commit below a folder. The index that git needs for that is a file of its own.
func (r *Repo) Export(ctx context.Context, commit, dir string) error {
	index, err := os.MkdirTemp("", "interlock-index")
	if err != nil {
		return err
	}
	defer os.RemoveAll(index)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(index, "index")}
	if _, err := r.run(ctx, env, "read-tree", commit); err != nil {
		return err
	}
	_, err = r.run(ctx, env, "checkout-index", "--all", "--prefix="+filepath.ToSlash(dir)+"/")
	return err
}

// line returns the one line that git prints.
func (r *Repo) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, nil, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// run runs git. Its error is git's own first line.
func (r *Repo) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-C", r.dir}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		if first == "" {
			return nil, fmt.Errorf("git %s ended in %d", args[0], exit.ExitCode())
		}
		return nil, fmt.Errorf("git: %s", strings.TrimPrefix(first, "fatal: "))
	}
	return out, err
}
