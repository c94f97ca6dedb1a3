package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sourcegraph/go-diff/diff"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// fixes returns a patch as one SARIF fix: all its changes together or none, as
// half of a patch is worse than no patch.
func (c *converter) fixes(fix *finding.Fix) ([]sarifFix, error) {
	if fix == nil || fix.Diff == "" {
		return nil, nil
	}
	files, err := diff.ParseMultiFileDiff([]byte(fix.Diff))
	if err != nil {
		return nil, fmt.Errorf("reading the patch: %w", err)
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
	s := "Interlock's patch (" + fix.Strategy + ")"
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
