package edit

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sourcegraph/go-diff/diff"
)

// diffContext is the number of unchanged lines around a change.
const diffContext = 3

// Diff returns the unified diff from old to new contents by slash path, with
// a/ and b/ prefixes and paths in order: `git apply` takes it at the module's
// root. Files of new that old lacks are created; files alike are left out.
func Diff(old, new map[string][]byte) (string, error) {
	var out bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(new)) {
		before, existed := old[path]
		if existed && bytes.Equal(before, new[path]) {
			continue
		}
		name := "a/" + path
		if !existed {
			name = "/dev/null"
		}
		fd := &diff.FileDiff{OrigName: name, NewName: "b/" + path, Hunks: hunks(splitLines(before), splitLines(new[path]))}
		text, err := diff.PrintFileDiff(fd)
		if err != nil {
			return "", fmt.Errorf("printing the diff of %s: %w", path, err)
		}
		out.Write(text)
	}
	return out.String(), nil
}

// hunks groups the changes with their context.
func hunks(a, b []string) []*diff.Hunk {
	ops := compare(a, b)
	var out []*diff.Hunk
	for i := 0; i < len(ops); {
		if ops[i].kind == ' ' {
			i++
			continue
		}
		start, end := max(i-diffContext, 0), i
		for j, kept := i, 0; j < len(ops) && kept <= 2*diffContext; j++ {
			if ops[j].kind == ' ' {
				kept++
			} else {
				kept, end = 0, j+1
			}
		}
		stop := min(end+diffContext, len(ops))
		out = append(out, hunk(ops, start, stop))
		i = stop
	}
	return out
}

func hunk(ops []op, start, stop int) *diff.Hunk {
	h := &diff.Hunk{OrigStartLine: 1, NewStartLine: 1}
	// The first lines of both sides, by what stands before.
	for _, o := range ops[:start] {
		if o.kind != '+' {
			h.OrigStartLine++
		}
		if o.kind != '-' {
			h.NewStartLine++
		}
	}
	// The lines, with a mark where the last one has no newline.
	var body bytes.Buffer
	for _, o := range ops[start:stop] {
		if o.kind != '+' {
			h.OrigLines++
		}
		if o.kind != '-' {
			h.NewLines++
		}
		body.WriteByte(o.kind)
		body.WriteString(o.line)
		if !strings.HasSuffix(o.line, "\n") {
			body.WriteString("\n\\ No newline at end of file\n")
		}
	}
	// An empty side starts at the line before.
	if h.OrigLines == 0 {
		h.OrigStartLine--
	}
	if h.NewLines == 0 {
		h.NewStartLine--
	}
	h.Body = body.Bytes()
	return h
}
