package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/sourcegraph/go-diff/diff"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/place"
)

// fixes returns a patch as one SARIF fix: all its changes together or none, as
// half of a patch is worse than no patch.
func (c *converter) fixes(fix *finding.Fix) ([]sarifFix, error) {
	if !fix.Offered() {
		return nil, nil
	}
	files, err := diff.ParseMultiFileDiff([]byte(fix.Diff))
	if err != nil {
		line, fault := place.OfDiff([]byte(fix.Diff), err)
		return nil, fmt.Errorf("reading the patch: line %d: %w", line, fault)
	}
	out := sarifFix{Description: sarifText{fixText(fix)}}
	for _, file := range files {
		name := strings.TrimPrefix(file.NewName, "b/")
		change := sarifChange{Artifact: c.artifact(name)}
		for _, h := range file.Hunks {
			change.Replacements = append(change.Replacements, replacements(h)...)
		}
		out.Changes = append(out.Changes, change)
	}
	return []sarifFix{out}, nil
}

func fixText(fix *finding.Fix) string {
	what := "patch"
	if fix.Verdict == finding.Draft {
		what = "draft of a patch"
	}
	s := "Interlock's " + what + " (" + fix.Strategy + ")"
	if len(fix.Checked) > 0 {
		s += ", checked: " + strings.Join(fix.Checked, ", ")
	}
	return sentence(s)
}

// replacements turns each run of changed lines of a hunk into one
// replacement of whole lines.
func replacements(h *diff.Hunk) []sarifReplacement {
	var out []sarifReplacement
	line := int(h.OrigStartLine) // the original line that comes next
	if h.OrigLines == 0 {
		line++ // such a hunk names the line before it
	}
	var added strings.Builder
	deleted := 0
	flush := func() {
		if deleted > 0 || added.Len() > 0 {
			out = append(out, replace(line-deleted, line, added.String()))
		}
		added.Reset()
		deleted = 0
	}
	for text := range bytes.Lines(h.Body) {
		switch text[0] {
		case '-':
			deleted++
			line++
		case '+':
			added.Write(text[1:])
		case '\\': // no newline at the end of the file: a whole line all the same
		default:
			flush()
			line++
		}
	}
	flush()
	return out
}

// replace replaces the lines [from, to).
func replace(from, to int, text string) sarifReplacement {
	r := sarifReplacement{Deleted: sarifRegion{StartLine: from, StartColumn: 1, EndLine: to, EndColumn: 1}}
	if text != "" {
		r.Inserted = &sarifText{text}
	}
	return r
}

// region converts a position, with columns in bytes, to a SARIF region, with
// columns in UTF-16 code units. If the source cannot be read, the columns stay
// as they are, which is right for ASCII lines.
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
	lines := c.r.lines(file)
	c.lines[file] = lines
	return lines
}
