package report

import (
	"fmt"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// entry is a finding as formats for linters have it: one place, one message.
type entry struct {
	*finding.Finding
	at finding.Position
	// message is one paragraph of plain text: title, why, the other places, and how to see it again.
	message string
}

// entries returns the findings as linters report them.
func (r *Report) entries() []entry {
	var all []entry
	for _, f := range r.Findings {
		e := entry{Finding: f, message: message(f)}
		for i, p := range f.Places() {
			if i == 0 {
				e.at = p
				continue
			}
			e.message += fmt.Sprintf(" Other place: %s.", r.place(p))
		}
		all = append(all, e)
	}
	return all
}

// severity is how a format names how bad a finding is: one word for confirmed ones, one for others, one
// for hints.
type severity struct{ confirmed, other, minor string }

func (s severity) of(f *finding.Finding) string {
	switch {
	case f.Minor():
		return s.minor
	case f.Status == finding.Confirmed:
		return s.confirmed
	}
	return s.other
}

// message is the title and whatever else a viewer should show first, in one paragraph.
func message(f *finding.Finding) string {
	s := sentence(f.Title)
	if f.Message != "" {
		s += " " + sentence(f.Message)
	}
	if e := f.Evidence; e != nil {
		s += " Seen in " + seenIn(e)
		if e.Replay != "" {
			s += fmt.Sprintf("; replay with: `%s`", e.Replay)
		}
		s += "."
	}
	if f.Fix != nil && f.Fix.Withheld != "" {
		s += " " + sentence("Patch withheld: "+f.Fix.Withheld)
	}
	if f.Fix != nil && f.Fix.Verdict == finding.Draft {
		s += " " + sentence(draftText(f.Fix))
	}
	for i, n := range f.Notes {
		if !said(n, f.Message, f.Notes[:i]) {
			s += " " + sentence("Note: "+n)
		}
	}
	return strings.Join(strings.Fields(s), " ")
}

// draftText returns a sentence on a draft, with its doubts.
func draftText(fix *finding.Fix) string {
	var doubts []string
	for _, d := range fix.Doubts {
		doubts = append(doubts, d.Text)
	}
	return fmt.Sprintf("There is a draft of a patch (%s) with doubts: %s", fix.Strategy, strings.Join(doubts, "; "))
}
