package report

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// region converts a position, whose columns count bytes, to a SARIF region,
// whose columns count UTF-16 code units. Where the source cannot be read the
// columns are taken as they are, which is right for ASCII lines.
func (c *converter) region(p finding.Position) sarifRegion {
	r := sarifRegion{StartLine: p.Line, StartColumn: c.utf16Column(p.File, p.Line, p.Column)}
	if p.Column > 0 && p.EndLine > 0 && p.EndColumn > 0 {
		r.EndLine, r.EndColumn = p.EndLine, c.utf16Column(p.File, p.EndLine, p.EndColumn)
	}
	return r
}

func (c *converter) utf16Column(file string, line, column int) int {
	lines := c.source(file)
	if column < 1 || line < 1 || line > len(lines) || column-1 > len(lines[line-1]) {
		return column
	}
	return len(utf16.Encode([]rune(lines[line-1][:column-1]))) + 1
}

// source returns the lines of a file, none if it cannot be read.
func (c *converter) source(file string) []string {
	if lines, ok := c.lines[file]; ok {
		return lines
	}
	path := filepath.FromSlash(file)
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.r.Root, path)
	}
	var lines []string
	if data, err := os.ReadFile(path); err == nil {
		lines = strings.Split(string(data), "\n")
	}
	c.lines[file] = lines
	return lines
}
