package edit

import (
	"maps"
	"slices"
	"strings"
)

// op is one line of a diff: kept (' '), taken away ('-') or added ('+').
type op struct {
	kind byte
	line string
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
