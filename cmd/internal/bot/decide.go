package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// maxComments is how many comments one review has; further causes stand in its body.
const maxComments = 10

// State is all that a decision depends on.
type State struct {
	File      *File
	Diff      Diff
	Posted    *Posted
	Abilities Abilities
	// Text returns a file's text at the head of the request.
	Text func(path string) (string, error)
}

// Decision has the texts to post: none, if it is the zero value.
type Decision struct {
	Body     string // of the review; "" if there is none
	Comments []Comment
	Whole    string // the body with all causes in it, where the forge refuses the comments
	Settled  []Thread
	Chosen   []cause
}

// Decide decides what to post for the state of a request.
func Decide(s State) Decision {
	d := Decision{Settled: settled(s)}
	if s.Posted.HasReviewed(s.File.Head) { // one review a push
		return d
	}
	d.Chosen = choose(s.File, s.Diff, s.Posted.ids())
	if len(d.Chosen) == 0 {
		return d
	}
	// Each cause becomes a comment at a line, as long as there is room, or an entry of the body.
	var rest []cause
	own := marker{Head: s.File.Head}
	whole := own
	for _, c := range d.Chosen {
		c[0] = turned(c[0], s.Diff)
		m := marker{IDs: c.ids(), Files: checksums(c, s.Text), Patches: shownBy(s.File, c)}
		whole = whole.with(m)
		comment, ok := comment(s, c, m)
		if !ok || len(d.Comments) == maxComments {
			rest, own = append(rest, c), own.with(m)
			continue
		}
		d.Comments = append(d.Comments, comment)
	}
	d.Body = bodyText(s.File, len(d.Chosen), rest, own, s.Abilities)
	d.Whole = bodyText(s.File, len(d.Chosen), d.Chosen, whole, s.Abilities)
	return d
}

// comment returns the comment on a cause, on the lines that its suggestion replaces, or on a line of the diff; false if
// there is none.
func comment(s State, c cause, m marker) (Comment, bool) {
	fix, ok := suggest(s.File, c[0], s.Diff, s.Text)
	if ok && !s.Abilities.Suggestions {
		fix = nil
	}
	at, found := lineOf(c, s.Diff)
	if fix != nil {
		at, found = Comment{Path: fix.path, Start: fix.start, End: fix.end}, true
	}
	if !found {
		return Comment{}, false
	}
	if !s.Abilities.Ranges {
		at.Start = at.End
	}
	// The last marker counts, so it stands behind the text, which a stranger may have put one into.
	end := "\n" + m.String() + "\n"
	text := commentText(c, fix, s.Abilities)
	if len(text)+len(end) > maxBody {
		return Comment{}, false
	}
	at.Body = text + end
	return at, true
}

// lineOf returns the line of a comment: the first place in a changed line, else the first one in a hunk.
func lineOf(c cause, d Diff) (Comment, bool) {
	places := involved(c[0])
	for _, p := range places {
		if _, ok := d.hunk(p.File, p.Line, p.Line); ok && d.touches(p.File, p.Line) {
			return Comment{Path: p.File, Start: p.Line, End: p.Line}, true
		}
	}
	for _, p := range places {
		if _, ok := d.hunk(p.File, p.Line, p.Line); ok {
			return Comment{Path: p.File, Start: p.Line, End: p.Line}, true
		}
	}
	return Comment{}, false
}

// maxFiles is how many files a marker has checksums of.
const maxFiles = 20

// checksums returns a checksum of each file that the findings of a cause involve.
func checksums(c cause, text func(string) (string, error)) map[string]string {
	sums := map[string]string{}
	for _, f := range c {
		for _, p := range involved(f) {
			if _, ok := sums[p.File]; !ok && len(sums) < maxFiles {
				sums[p.File] = checksum(p.File, text)
			}
		}
	}
	return sums
}

// checksum returns a checksum of a file's text, which is another one where the file is gone.
func checksum(file string, text func(string) (string, error)) string {
	s, err := text(file)
	if err != nil {
		return "none"
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// settled returns the threads about findings that are gone: head was analysed and run to the end, no finding of it has
// the id, whatever its status, and a file that the finding involves has changed. A race that a run does not show again
// in the same files is not gone.
func settled(s State) (all []Thread) {
	if !s.File.Complete {
		return nil
	}
	here := map[string]bool{}
	for _, f := range s.File.Findings {
		for _, id := range idsOf(f) {
			here[id] = true
		}
	}
	for _, t := range s.Posted.Threads {
		m, ok := markerOf(t.Body)
		isHere := slices.ContainsFunc(m.IDs, func(id string) bool { return here[id] })
		if !ok || isHere || t.Resolved || s.Posted.isAnswered(t, m) {
			continue
		}
		for file, sum := range m.Files {
			if isInside(file) && checksum(file, s.Text) != sum {
				all = append(all, t)
				break
			}
		}
	}
	return all
}

// Findings returns the best proven finding of each cause that is new.
func (d *Decision) Findings() (all []*finding.Finding) {
	for _, c := range d.Chosen {
		all = append(all, c[0])
	}
	return all
}

// turned returns f with the side first that has changed: that is the one to look at, and formats for code hosts have
// one place a finding. The id does not depend on the order of the two sides.
func turned(f *finding.Finding, d Diff) *finding.Finding {
	if len(f.Accesses) < 2 {
		return f
	}
	a, b := f.Accesses[0], f.Accesses[1]
	if d.touches(a.File, a.Line) || !d.touches(b.File, b.Line) {
		return f
	}
	g := *f
	g.Accesses = slices.Concat([]finding.Access{b, a}, f.Accesses[2:])
	return &g
}
