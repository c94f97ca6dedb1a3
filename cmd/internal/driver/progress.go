package driver

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// counter counts the packages that were asked for and are done, by the output
// of `go vet -json`. Safe for concurrent use.
type counter struct {
	report func(done, total int, what string)
	total  int

	mu   sync.Mutex
	left map[string]bool // guarded by mu; import paths, those of external tests too
}

// counter returns the one for the packages; nil if nobody asks.
func (o *Options) counter(l *packageList) *counter {
	if o.Progress == nil {
		return nil
	}
	c := &counter{report: o.Progress, left: map[string]bool{}}
	for _, p := range l.packages {
		if p.files() > len(p.XTestGoFiles) {
			c.left[p.ImportPath] = true
		}
		if len(p.XTestGoFiles) > 0 {
			c.left[p.ImportPath+"_test"] = true
		}
	}
	c.total = len(c.left)
	c.report(0, c.total, "packages checked")
	return c
}

// stream returns a writer for one stream of output.
func (c *counter) stream() io.Writer { return &lineWriter{line: c.line} }

// line takes a line of output. That of a package begins its object, one tab
// deep: `"m/p": {`, or `"m/p [m/p.test]": {` with its tests.
func (c *counter) line(line string) {
	rest, ok := strings.CutPrefix(line, "\t\"")
	if !ok {
		return
	}
	path, _, ok := strings.Cut(rest, "\"")
	if !ok {
		return
	}
	path, _, _ = strings.Cut(path, " [")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left[path] {
		delete(c.left, path)
		c.report(c.total-len(c.left), c.total, c.state(path))
	}
}

// mostNamed is how many packages are named that the rest of the work waits for.
const mostNamed = 2

// state returns the kind of packages that are counted, and those that are left, or if they are many the last one done.
// requires: mu
func (c *counter) state(last string) string {
	switch left := slices.Sorted(maps.Keys(c.left)); {
	case len(left) == 0:
		return "packages checked"
	case len(left) <= mostNamed:
		return "packages checked, left: " + strings.Join(left, ", ")
	}
	return "packages checked, last: " + last
}

// lineWriter hands on the starts of whole lines: summaries are single lines of
// megabytes, and nobody needs their ends.
type lineWriter struct {
	line  func(string)
	start []byte
}

const longestStart = 1000

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := longestStart - len(w.start); room > 0 {
			w.start = append(w.start, piece[:min(room, len(piece))]...)
		}
		if ended {
			w.line(string(w.start))
			w.start = w.start[:0]
		}
		p = rest
	}
	return n, nil
}
