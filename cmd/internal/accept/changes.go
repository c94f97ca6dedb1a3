package accept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sourcegraph/go-diff/diff"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/place"
)

// Changes are the lines of a working tree that differ from a revision.
type Changes struct {
	lines map[string][]span // by file, relative to the main module's root
	whole map[string]bool   // files that the revision does not have
}

// span is the lines [from, to).
type span struct{ from, to int }

// ChangesSince asks git which lines below root differ from the revision, in files that git does not know
// yet too.
func ChangesSince(ctx context.Context, root, revision string) (*Changes, error) {
	if strings.HasPrefix(revision, "-") { // git would read it as a flag
		return nil, fmt.Errorf("%q is no revision", revision)
	}
	// Names are asked for as they are, and without the user's settings for how diffs look.
	text, err := git(ctx, root, "-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--find-renames",
		"--no-prefix", "--relative", "--unified=0", revision, "--")
	if err != nil {
		return nil, err
	}
	c, err := readDiff(text)
	if err != nil {
		return nil, err
	}
	names, err := git(ctx, root, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(string(names), "\x00") {
		c.whole[name] = true
	}
	return c, nil
}

// git runs git in dir. Its error is git's own first line.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	// git diff would write a fresher index into the user's repository by the way.
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-C", dir}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return nil, fmt.Errorf("git: %s", strings.TrimPrefix(first, "fatal: "))
	}
	return out, err
}

// readDiff reads a unified diff that has names without a prefix.
func readDiff(text []byte) (*Changes, error) {
	c := &Changes{lines: map[string][]span{}, whole: map[string]bool{}}
	files, err := diff.ParseMultiFileDiff(text)
	if err != nil {
		line, fault := place.OfDiff(text, err)
		return nil, fmt.Errorf("reading git's diff: line %d: %w", line, fault)
	}
	for _, f := range files {
		name := filepath.ToSlash(f.NewName)
		for _, h := range f.Hunks {
			from := int(h.NewStartLine)
			to := from + int(h.NewLines)
			if h.NewLines == 0 { // lines were deleted after this one: it and the next stand for the place
				to = from + 2
			}
			c.lines[name] = append(c.lines[name], span{from, to})
		}
	}
	return c, nil
}

// touches reports whether one of the places of f has changed, or where its locks were taken.
func (c *Changes) touches(f *finding.Finding) bool {
	places := f.Places()
	for _, e := range f.Cycle {
		if e.Since != nil {
			places = append(places, *e.Since)
		}
	}
	for _, p := range places {
		if c.whole[p.File] {
			return true
		}
		for _, s := range c.lines[p.File] {
			if p.Line >= s.from && p.Line < s.to {
				return true
			}
		}
	}
	return false
}
