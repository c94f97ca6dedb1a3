package bot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sourcegraph/go-diff/diff"
)

// edit replaces some lines of a file, counted from 0, by a text; where old is 0, it inserts the text.
type edit struct {
	at, old int
	text    string // lines with their ends
}

// end returns the line behind those that e replaces.
func (e edit) end() int { return e.at + e.old }

// editsOf returns the edits of a patch of one file, in their order; false where it does not apply to the lines: each
// one that it keeps or deletes has to be there.
func editsOf(f *diff.FileDiff, lines []string) (all []edit, ok bool) {
	for _, h := range f.Hunks {
		at := int(h.OrigStartLine) - 1
		if h.OrigLines == 0 {
			at++
		}
		if at < 0 || len(all) > 0 && at < all[len(all)-1].end() {
			return nil, false
		}
		begins := true // the next change is an edit of its own
		for text := range strings.Lines(string(h.Body)) {
			if text == "\n" { // an empty line that is kept, where its space was trimmed
				text = " \n"
			}
			kind, text := text[0], text[1:]
			switch {
			case kind == '\\', kind == '+' && at > len(lines), kind != '+' && (at >= len(lines) || lines[at] != text):
				return nil, false
			case kind == ' ':
				at++
				begins = true
				continue
			case begins:
				all = append(all, edit{at: at})
				begins = false
			}
			if e := &all[len(all)-1]; kind == '+' {
				e.text += text
			} else {
				e.old++
				at++
			}
		}
	}
	return all, true
}

// rewritten returns the lines behind a number of lines, with the edits of all that follow.
func rewritten(lines []string, edits []edit, next int) string {
	var b strings.Builder
	for _, e := range edits {
		for ; next < e.at; next++ {
			b.WriteString(lines[next])
		}
		b.WriteString(e.text)
		next = e.end()
	}
	for ; next < len(lines); next++ {
		b.WriteString(lines[next])
	}
	return b.String()
}

// merge returns the edits of two patches of one text; false where they change the same lines, or lines side by side, in
// different ways. An edit that both have is made once.
func merge(a, b []edit) ([]edit, bool) {
	all := slices.Clone(a)
	for _, e := range b {
		if slices.Contains(a, e) {
			continue
		}
		if slices.ContainsFunc(a, func(o edit) bool { return e.at <= o.end() && o.at <= e.end() }) {
			return nil, false
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(p, q edit) int { return cmp.Compare(p.at, q.at) })
	return all, true
}
