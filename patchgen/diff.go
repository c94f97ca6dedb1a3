package patchgen

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

// splitLines keeps the line ends.
func splitLines(src []byte) []string {
	if len(src) == 0 {
		return nil
	}
	lines := strings.SplitAfter(string(src), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// op is one line of a diff: kept (' '), taken away ('-') or added ('+').
type op struct {
	kind byte
	line string
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
	for _, o := range ops[:start] {
		if o.kind != '+' {
			h.OrigStartLine++
		}
		if o.kind != '-' {
			h.NewStartLine++
		}
	}
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
	if h.OrigLines == 0 {
		h.OrigStartLine--
	}
	if h.NewLines == 0 {
		h.NewStartLine--
	}
	h.Body = body.Bytes()
	return h
}

// compare finds a shortest edit script (Myers 1986, O(ND)) after cutting off
// what both ends have in common.
func compare(a, b []string) []op {
	var head, tail []op
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, op{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, op{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(tail)
	return slices.Concat(head, myers(a, b), tail)
}

func myers(a, b []string) []op {
	n, m := len(a), len(b)
	v := map[int]int{1: 0}
	var trace []map[int]int
	for d := 0; d <= n+m; d++ {
		trace = append(trace, maps.Clone(v))
		for k := -d; k <= d; k += 2 {
			x := v[k-1] + 1
			if k == -d || k != d && v[k-1] < v[k+1] {
				x = v[k+1]
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			v[k] = x
			if x >= n && x-k >= m {
				return backtrack(a, b, trace)
			}
		}
	}
	return nil
}

// backtrack walks the trace from the end to the start.
func backtrack(a, b []string, trace []map[int]int) []op {
	var out []op
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		v, k := trace[d], x-y
		prev := k - 1
		if k == -d || k != d && v[k-1] < v[k+1] {
			prev = k + 1
		}
		px := v[prev]
		py := px - prev
		for x > px && y > py && x > 0 && y > 0 {
			x, y = x-1, y-1
			out = append(out, op{' ', a[x]})
		}
		if d == 0 {
			break
		}
		if x == px {
			y--
			out = append(out, op{'+', b[y]})
		} else {
			x--
			out = append(out, op{'-', a[x]})
		}
	}
	slices.Reverse(out)
	return out
}
