package bot

import (
	"path"
	"slices"
	"strings"

	"github.com/sourcegraph/go-diff/diff"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Bounds of a patch: a longer suggestion is read as a diff, and a longer diff is left out.
const (
	maxSuggestion = 60 // lines
	maxDiff       = 20_000
)

// suggestion replaces the lines from Start to End of a file by Text.
type suggestion struct {
	path       string
	start, end int
	text       string // lines with their ends; empty deletes the lines
}

// isVerified reports whether f has a patch that was built, tested and run against the finding.
func isVerified(f *finding.Finding) bool {
	return f.Fix != nil && f.Fix.Verdict == finding.Verified && f.Fix.Diff != "" && len(f.Fix.Diff) <= maxDiff
}

// patchOf returns the files that a patch changes, by their names in the repository; nil if one of them may not be
// changed by a click, or the patch is not one.
func patchOf(file *File, f *finding.Finding) []*diff.FileDiff {
	files, err := diff.ParseMultiFileDiff([]byte(f.Fix.Diff))
	if err != nil || len(files) == 0 {
		return nil
	}
	for _, d := range files {
		old, name := strings.TrimPrefix(d.OrigName, "a/"), strings.TrimPrefix(d.NewName, "b/")
		d.NewName = file.inRepository(name)
		if old != name || !isSource(d.NewName) || len(d.Hunks) == 0 {
			return nil
		}
	}
	return files
}

// isSource reports whether a patch may change the file: Go source, outside of the folders that CI systems read.
func isSource(name string) bool {
	hidden := slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
	return isInside(name) && path.Ext(name) == ".go" && !hidden
}

// suggest returns the patch of f as one replacement, if it changes one file, applies to the text of that file, and lies
// in one hunk of the request. Lines between two changes are repeated, so that nobody can take half of the patch.
func suggest(file *File, f *finding.Finding, d Diff, text func(path string) (string, error)) (*suggestion, bool) {
	if !isVerified(f) {
		return nil, false
	}
	files := patchOf(file, f)
	if len(files) != 1 {
		return nil, false
	}
	old, err := text(files[0].NewName)
	if err != nil || strings.Contains(old, "\r") { // the host would mix the ends of lines
		return nil, false
	}
	s, ok := replacement(files[0], splitLines(old))
	if !ok || s.end-s.start >= maxSuggestion {
		return nil, false
	}
	if _, ok := d.hunk(s.path, s.start, s.end); !ok {
		return nil, false
	}
	return s, true
}

// splitLines returns the lines of a text with their ends.
func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

// replacement applies the hunks of a file to its lines, and returns the lines from the first change to the last one.
func replacement(f *diff.FileDiff, lines []string) (*suggestion, bool) {
	edits, ok := editsOf(f, lines)
	if !ok || len(edits) == 0 {
		return nil, false
	}
	from, to := edits[0].at, edits[len(edits)-1].end()
	s := &suggestion{path: f.NewName, start: from + 1, end: to, text: rewritten(lines[:to], edits, from)}
	return s.anchored(lines)
}

// anchored returns s so that it replaces at least one line: an insertion alone repeats the line that it comes before,
// or the last one.
func (s *suggestion) anchored(lines []string) (*suggestion, bool) {
	switch {
	case len(lines) == 0:
		return nil, false
	case s.end >= s.start:
	case s.start <= len(lines):
		s.text += lines[s.start-1]
		s.end = s.start
	default:
		s.start, s.end = len(lines), len(lines)
		s.text = lines[s.start-1] + s.text
	}
	return s, strings.HasSuffix(s.text, "\n") || s.text == ""
}
