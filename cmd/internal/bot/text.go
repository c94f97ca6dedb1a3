package bot

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Bounds of a comment. GitHub takes 65,535 characters.
const (
	maxBody = 60_000 // bytes of a comment or of the body of a review
	maxRows = 8      // accesses that a comment lists
)

// commentText returns the comment on a cause, except its marker. s is its patch as a suggestion, or nil.
func commentText(c cause, s *suggestion, abilities Abilities) string {
	f := c[0]
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** (%s, %s)\n\n", plain(sentence(f.Title)), f.Code, f.Status)
	if f.Message != "" {
		fmt.Fprintf(&b, "%s\n\n", plain(f.Message))
	}
	writeAccesses(&b, f)
	if len(c) > 1 {
		fmt.Fprintf(&b, "The same correction is due for %d more findings.\n\n", len(c)-1)
	}
	// The proof: how often runs have shown it, and the command that shows it again.
	if e := f.Evidence; e != nil {
		fmt.Fprintf(&b, "Shown in %s.", plain(finding.OfRuns(e.Hits, e.Runs)))
		if isReplay(e.Replay) {
			fmt.Fprintf(&b, " This command shows it again%s:\n\n%s", replayed(e), block("sh", e.Replay))
		}
		b.WriteString("\n\n")
	}
	writePatch(&b, f, s, abilities)
	return b.String()
}

// sentence returns a title with a capital letter, as it begins a text of its own.
func sentence(title string) string {
	r, n := utf8.DecodeRuneInString(title)
	return string(unicode.ToUpper(r)) + title[n:]
}

// replayed returns how often the command has shown the finding again, for the middle of a sentence.
func replayed(e *finding.Evidence) string {
	if e.ReplayRuns == 0 {
		return ""
	}
	return fmt.Sprintf(" (it did in %d of %d tries)", e.ReplayHits, e.ReplayRuns)
}

// writeAccesses writes the interleaving: an entry for each access or acquisition, with its step where a run has shown
// the order. A list needs fewer escapes than a table.
func writeAccesses(b *strings.Builder, f *finding.Finding) {
	for i, a := range f.Accesses {
		if i == maxRows {
			fmt.Fprintf(b, "- %d more places are left out\n", len(f.Accesses)-i)
			break
		}
		b.WriteString("- ")
		if a.Step > 0 {
			fmt.Fprintf(b, "step %d: ", a.Step)
		}
		fmt.Fprintf(b, "%s of %s in %s, at %s", a.Mode, code(a.Expr), code(a.Function), code(a.Position.String()))
		if len(a.Locks) > 0 {
			fmt.Fprintf(b, ", while it holds %s", code(strings.Join(a.Locks, ", ")))
		}
		if a.Role != "" {
			fmt.Fprintf(b, " (%s)", plain(a.Role))
		}
		b.WriteString("\n")
	}
	for i, e := range f.Cycle {
		if i == maxRows {
			break
		}
		fmt.Fprintf(b, "- %s waits for %s while it holds %s, at %s\n", code(e.Function), code(finding.ShortLock(e.To)),
			code(finding.ShortLock(e.From)), code(e.Position.String()))
	}
	b.WriteString("\n")
}

// writePatch writes the patch: as a suggestion, which a click commits, or as a diff, which is read and applied whole.
func writePatch(b *strings.Builder, f *finding.Finding, s *suggestion, abilities Abilities) {
	fix := f.Fix
	if fix == nil || fix.Diff == "" || len(fix.Diff) > maxDiff {
		return
	}
	switch {
	case s != nil && abilities.Suggestions:
		b.WriteString("This patch was built and tested, and the finding did not come back under the same noise:\n\n")
		b.WriteString(suggestionBlock(s.text))
	case fix.Verdict == finding.Verified:
		fmt.Fprintf(b, "This patch was built and tested, and the finding did not come back under the same noise. It is "+
			"taken as a whole, by `git apply` in the folder of the module:\n\n%s", block("diff", fix.Diff))
	default: // its reader decides
		fmt.Fprintf(b, "<details><summary>A patch to be read (%s)</summary>\n\n", plain(string(fix.Verdict)))
		for _, d := range fix.Doubts[:min(len(fix.Doubts), maxRows)] {
			fmt.Fprintf(b, "- not shown: %s\n", plain(d.Text))
		}
		fmt.Fprintf(b, "\n%s\n</details>\n", block("diff", fix.Diff))
	}
	if len(fix.Checked) > 0 {
		fmt.Fprintf(b, "\nChecked: %s.\n", plain(strings.Join(fix.Checked, "; ")))
	}
}

// suggestionBlock returns the lines as a suggestion. A text with a character that acts on a reader was refused before.
func suggestionBlock(text string) string {
	fence := strings.Repeat("`", max(3, longest(text, '`')+1))
	return fence + "suggestion\n" + text + fence + "\n"
}

// line returns a cause as one line of a list.
func line(c cause) string {
	f := c[0]
	return fmt.Sprintf("%s: %s (%s, %s)", code(f.Places()[0].String()), plain(f.Title), f.Code, f.Status)
}

// bodyText returns the body of a review: its heading, and the causes that have no comment at a line, each whole as long
// as there is room.
func bodyText(file *File, all int, rest []cause, m marker, abilities Abilities) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Interlock found %s that this request brings in.\n", count(all))
	end := "\n" + m.String() + "\n"
	if len(rest) > 0 {
		fmt.Fprintf(&b, "\n%s here, since no changed line shows them or there are too many:\n\n", stand(len(rest)))
	}
	m.Patches = nil // a patch that has no room is not shown
	for i, c := range rest {
		// There may be hundreds: most are not even counted as text.
		if maxBody-b.Len()-len(end) < maxText {
			fmt.Fprintf(&b, "- and %d more\n", len(rest)-i)
			break
		}
		head := "- " + line(c) + "\n"
		whole := fmt.Sprintf("- <details><summary>%s</summary>\n\n%s\n</details>\n", summary(c),
			indent(commentText(c, nil, abilities)))
		room := maxBody - b.Len() - len(end)
		switch {
		case len(whole) <= room:
			b.WriteString(whole)
			m.Patches = append(m.Patches, shownBy(file, c)...)
		case len(head) <= room:
			b.WriteString(head)
		}
	}
	return b.String() + "\n" + m.String() + "\n"
}

// summary returns a cause as the summary of details, where hosts read HTML alone.
func summary(c cause) string {
	f := c[0]
	return hypertext.Replace(oneLine(fmt.Sprintf("%s: %s (%s, %s)", f.Places()[0], f.Title, f.Code, f.Status)))
}

// indent moves the lines of a text below an entry of a list.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

func count(n int) string {
	if n == 1 {
		return "1 concurrency bug"
	}
	return fmt.Sprintf("%d concurrency bugs", n)
}

func stand(n int) string {
	if n == 1 {
		return "One stands"
	}
	return fmt.Sprintf("%d stand", n)
}
