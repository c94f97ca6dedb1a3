package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/report/internal/region"
)

// HTML writes one file for a browser that needs nothing else: each bug with its interleaving as a picture, and
// the gaps in coverage.
type HTML struct{}

// Write implements [Handler].
func (HTML) Write(w io.Writer, r *Report) error {
	h := &htmlReport{r: r, text: &text{r: r}, files: map[string][]string{},
		parsed: map[string]*region.File{}}
	p := &page.Page{
		Title:   "Interlock: " + cmp.Or(r.Title, "interlock "+r.Command),
		Tool:    "interlock " + r.Command + ", version " + r.Version,
		Verdict: r.Verdict() + r.grouped() + r.Unended(), Summary: r.Looked(), Interrupted: r.Interrupted, Gaps: h.gaps(),
	}
	if c := r.Earlier; c != nil {
		p.Since = "Since the audit " + cmp.Or(c.Since, "before") + ": " + c.String()
		p.Gone = h.gone(c)
	}
	// The best proven bug comes first; the filters list the values that occur.
	all := r.Causes()
	slices.SortStableFunc(all, func(a, b []*finding.Finding) int { return cmp.Compare(a[0].Proof(), b[0].Proof()) })
	for _, group := range all {
		p.Bugs = append(p.Bugs, h.bug(group))
	}
	p.Statuses = choices(p.Bugs, func(b *page.Bug) string { return b.Status }, nil)
	p.Codes = choices(p.Bugs, func(b *page.Bug) string { return b.Code }, func(c string) string {
		return c + " " + finding.Code(c).Title()
	})
	p.Packages = choices(p.Bugs, func(b *page.Bug) string { return b.Package }, nil)
	return h.write(w, p)
}

// write writes the page without control characters and invalid UTF-8, which foreign text may hold.
func (h *htmlReport) write(w io.Writer, p *page.Page) error {
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if _, err := io.WriteString(w, Clean(strings.TrimSuffix(line, "\n"))+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// choices lists the values that bugs have, and how often.
func choices(bugs []*page.Bug, value func(*page.Bug) string, text func(string) string) (all []page.Choice) {
	n := map[string]int{}
	for _, b := range bugs {
		n[value(b)]++
	}
	for _, v := range slices.Sorted(maps.Keys(n)) {
		c := page.Choice{Value: v, Text: v, Count: n[v]}
		if text != nil {
			c.Text = text(v)
		}
		all = append(all, c)
	}
	return all
}

// htmlReport makes a page of a report.
type htmlReport struct {
	r      *Report
	text   *text
	files  map[string][]string // lines of source files that were read
	parsed map[string]*region.File
}

// maxGaps is how many places one gap lists.
const maxGaps = 200

// gaps lists the gaps in coverage.
func (h *htmlReport) gaps() (all []page.Gap) {
	for _, g := range h.r.Gaps() {
		shown := g.Items[:min(maxGaps, len(g.Items))]
		all = append(all, page.Gap{Title: fmt.Sprintf("%s (%d)", g.Title, len(g.Items)), Items: shown,
			More: len(g.Items) - len(shown)})
	}
	return all
}

// gone lists the findings of an earlier report that this one has not.
func (h *htmlReport) gone(c *Comparison) (all []string) {
	for _, f := range c.Fixed {
		all = append(all, "fixed: "+h.r.Line(f))
	}
	for _, f := range c.Unseen {
		all = append(all, "not seen again: "+h.r.Line(f))
	}
	return all[:min(maxGaps, len(all))]
}

// bug returns the entry of findings with one cause.
func (h *htmlReport) bug(group []*finding.Finding) *page.Bug {
	f := group[0]
	b := &page.Bug{
		ID: f.ID, Code: string(f.Code), Status: f.Standing(), Package: packageOf(f),
		Title: Headline(group), Message: f.Message, Class: f.Code.Title(), New: h.r.Earlier != nil && h.r.Earlier.New[f.ID],
	}
	if b.Title != f.Title {
		b.Message = strings.TrimSpace(sentence(f.Title) + " " + f.Message)
	}
	if places := f.Places(); len(places) > 0 {
		b.Place = h.r.place(places[0])
	}
	locks := someLocks(f)
	for _, a := range inSteps(f.Accesses) {
		b.Sides = append(b.Sides, h.side(a, locks && knowsLocks(f, a)))
	}
	b.Lanes, b.Graph = lanes(h.r, f), graph(h.r, f)
	h.proof(b, f)
	// Notes that are not on the page yet.
	for i, n := range f.Notes {
		if !said(n, f.Message, f.Notes[:i]) {
			b.Notes = append(b.Notes, n)
		}
	}
	for _, g := range group[1:] {
		b.Same = append(b.Same, h.r.Line(g))
	}
	return b
}

// proof fills in the evidence of runs, and the patch.
func (h *htmlReport) proof(b *page.Bug, f *finding.Finding) {
	if e := f.Evidence; e != nil {
		b.Evidence = fmt.Sprintf("Seen in %s; first in run %d with seed %d.", seenIn(e), e.Run, e.Seed)
		if e.ReplayRuns > 0 {
			b.Evidence += fmt.Sprintf(" This command showed it again in %s:", finding.OfRuns(e.ReplayHits, e.ReplayRuns))
		}
		b.Replay = e.Replay
	}
	fix := f.Fix
	if fix == nil {
		return
	}
	// Lines of a diff are marked, so that both kinds differ by more than a sign.
	if fix.Withheld != "" { // a line for each strategy that does not apply
		b.Withheld = strings.Split(fix.Withheld, "\n")
	}
	if fix.Diff == "" {
		return
	}
	b.FixText, b.Strategy = fixText(fix), fix.Strategy
	for line := range strings.Lines(fix.Diff) {
		line = strings.TrimRight(line, "\r\n")
		kind := "same"
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "@@"):
			kind = "head"
		case strings.HasPrefix(line, "+"):
			kind = "add"
		case strings.HasPrefix(line, "-"):
			kind = "del"
		}
		b.Diff = append(b.Diff, page.Line{Kind: kind, Text: cut(line)})
	}
	for _, d := range fix.Doubts {
		b.Notes = append(b.Notes, "Doubt: "+d.Text)
	}
	b.Notes = append(b.Notes, fix.Notes...)
}

func packageOf(f *finding.Finding) string {
	if len(f.Accesses) > 0 {
		return f.Accesses[0].Package
	}
	if f.Variable.Package == "" && len(f.Cycle) > 0 {
		pkg, _, _ := strings.Cut(f.Cycle[0].From[strings.LastIndexByte(f.Cycle[0].From, '/')+1:], ".")
		return f.Cycle[0].From[:strings.LastIndexByte(f.Cycle[0].From, '/')+1] + pkg
	}
	return f.Variable.Package
}

// side returns an access with the lines around it; locks says that one of the accesses is known to hold some.
func (h *htmlReport) side(a *finding.Access, locks bool) page.Side {
	s := page.Side{Text: deed(a), Place: h.r.place(a.Position) + " in " + a.Function, Role: a.Role, Code: h.code(a)}
	if a.Step > 0 {
		s.Text = fmt.Sprintf("%d. %s", a.Step, s.Text)
	}
	s.Held = held(a, locks)
	for _, r := range h.regions(a, h.files[a.File]) {
		s.Regions = append(s.Regions, regionText(r))
	}
	if g := a.Goroutine; g != nil {
		s.Role = g.Name()
		s.Stack, s.Created = h.frames(g.Stack), h.frames(g.Created)
	}
	return s
}

// regionText returns where a lock is taken and released, in words.
func regionText(r region.Region) string {
	s := fmt.Sprintf("%s is locked at line %d and unlocked at line %d", r.Lock, r.From, r.To)
	if r.Deferred {
		s = fmt.Sprintf("%s is locked from line %d to the end of the function", r.Lock, r.From)
	}
	return s
}

func (h *htmlReport) frames(frames []finding.Frame) (all []string) {
	for _, f := range own(frames) {
		all = append(all, fmt.Sprintf("%s  %s:%d", f.Name(), h.r.shown(f.File), f.Line))
	}
	return all
}

// around is how many lines before and behind an access, a Lock and an Unlock are shown.
const around = 2

// code returns the lines around an access, its own with the expression marked, and those of the locks around it.
func (h *htmlReport) code(a *finding.Access) (all []page.CodeLine) {
	lines, known := h.files[a.File]
	if !known {
		lines = h.r.lines(a.File)
		h.files[a.File] = lines
	}
	if a.Line > len(lines) {
		if a.Source == "" {
			return nil
		}
		return []page.CodeLine{{Number: a.Line, Here: true, Before: cut(a.Source)}}
	}
	// Which lines: those near the access, and those where a lock around it is taken and released.
	regions := h.regions(a, lines)
	near := func(n int) bool {
		return abs(n-a.Line) <= around || slices.ContainsFunc(regions, func(r region.Region) bool {
			return abs(n-r.From) < around || abs(n-r.To) < around
		})
	}
	for n := 1; n <= len(lines); n++ {
		switch {
		case near(n):
			l := codeLine(a, n, lines[n-1])
			l.Held = slices.ContainsFunc(regions, func(r region.Region) bool { return r.From <= n && n <= r.To })
			all = append(all, l)
		case len(all) > 0 && all[len(all)-1].Number > 0: // lines are left out, unless these are the last
			all = append(all, page.CodeLine{Before: "…", Held: all[len(all)-1].Held})
		}
	}
	if last := len(all) - 1; last >= 0 && all[last].Number == 0 {
		all = all[:last]
	}
	return all
}

// regions returns the lines between Lock and Unlock around an access.
func (h *htmlReport) regions(a *finding.Access, lines []string) []region.Region {
	if h.parsed[a.File] == nil {
		h.parsed[a.File] = region.Parse(strings.Join(lines, "\n"))
	}
	return h.parsed[a.File].Around(a.Line)
}

// codeLine returns line n of a file, with the access's expression marked if it stands there.
func codeLine(a *finding.Access, n int, line string) page.CodeLine {
	l := page.CodeLine{Number: n, Here: n == a.Line, Before: cut(line)}
	from, to := a.Column-1, a.EndColumn-1
	if a.EndLine != a.Line {
		to = from + len(a.Expr)
		if from >= 0 && from <= len(line) { // of <-ch the expression is ch
			to += max(strings.Index(line[from:], a.Expr), 0)
		}
	}
	if l.Here && from >= 0 && from < to && to <= len(line) && to <= maxShown {
		l.Before, l.Mark, l.After = line[:from], line[from:to], cut(line[to:])
	}
	return l
}

func abs(n int) int { return max(n, -n) }
