package report

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Text writes for people: each finding as one line that editors can follow,
// then both its sides, the evidence and the patch; a summary at the end.
type Text struct {
	Color bool // by escape sequences of terminals
	Links bool // of places to their files, by OSC 8
	Width int  // columns that sentences are folded to; 0 for no limit
}

// Write implements [Handler].
func (style Text) Write(w io.Writer, r *Report) error {
	t := &text{r: r, style: style, files: map[string][]string{}}
	for _, group := range r.Causes() {
		t.finding(group[0], Headline(group))
		for _, f := range group[1:] {
			t.sameCause(f)
		}
		t.line("")
	}
	t.summary()
	_, err := io.WriteString(w, t.b.String())
	return err
}

// text is a report being written.
type text struct {
	r     *Report
	style Text
	files map[string][]string // lines of source files that were read
	b     strings.Builder
}

// line writes a line, in which nothing acts on the terminal.
func (t *text) line(format string, args ...any) {
	t.b.WriteString(Clean(fmt.Sprintf(format, args...)) + "\n")
}

// finding writes a finding below the headline of its cause.
func (t *text) finding(f *finding.Finding, headline string) {
	t.head(f, headline)
	if headline != f.Title {
		t.prose("    ", sentence(f.Title))
	}
	t.prose("    ", f.Message)
	locks := someLocks(f)
	for _, a := range inSteps(f.Accesses) {
		t.access(a, locks && knowsLocks(f, a))
	}
	if len(f.Accesses) == 1 && f.Code < finding.LockCycle &&
		(f.Evidence == nil || f.Evidence.Error == "" && f.Evidence.Blocked == "") {
		t.line("    %s", atOnce(f))
	}
	for i := range f.Cycle {
		t.edge(&f.Cycle[i])
	}
	if e := f.Evidence; e != nil {
		t.evidence(e)
	}
	t.fix(f.Fix)
	for i, n := range f.Notes {
		if !said(n, f.Message, f.Notes[:i]) {
			t.prose("    note: ", n)
		}
	}
}

// atOnce returns in words that both sides of f are one access.
func atOnce(f *finding.Finding) string {
	if f.Status == finding.Suspected {
		return "where two goroutines come to it at once"
	}
	return "in two goroutines at once"
}

// said reports whether the reader knows the note already.
func said(note, message string, before []string) bool {
	return strings.Contains(message, note) || slices.ContainsFunc(before,
		func(b string) bool { return strings.Contains(b, note) })
}

// Line returns the finding in one line: place, code, its standing, title, id.
func (r *Report) Line(f *finding.Finding) string { return r.headed(f, f.Title) }

// headed is Line with a headline in place of the title.
func (r *Report) headed(f *finding.Finding, headline string) string {
	place := "-"
	if len(f.Accesses) > 0 {
		place = r.place(f.Accesses[0].Position)
	} else if len(f.Cycle) > 0 {
		place = r.place(f.Cycle[0].Position)
	}
	return fmt.Sprintf("%s: %s %s: %s [%s]", place, f.Code, f.Standing(), headline, f.ID)
}

func (r *Report) place(p finding.Position) string {
	s := fmt.Sprintf("%s:%d", r.shown(p.File), p.Line)
	if p.Column > 0 {
		s += fmt.Sprintf(":%d", p.Column)
	}
	return s
}

func (t *text) access(a *finding.Access, locks bool) {
	with := held(a, locks)
	if with != "" {
		with = ", " + with
	}
	role := ""
	if a.Role != "" && a.Goroutine == nil { // else its stacks say more
		role = " (" + a.Role + ")"
	}
	step := ""
	if a.Step > 0 {
		step = fmt.Sprintf("%d. ", a.Step)
	}
	where := fmt.Sprintf("at %s in %s", t.r.place(a.Position), a.Function)
	if a.File == forgotten {
		where = "at a place that the run no longer knew"
	}
	t.prose("    ", fmt.Sprintf("%s%s %s%s%s", step, deed(a), where, with, role))
	t.snippet(a)
	if g := a.Goroutine; g != nil {
		t.line("        %s:", g.Name())
		t.frames(own(g.Stack))
		if created := own(g.Created); len(created) > 0 {
			t.line("        started by:")
			t.frames(created)
		}
	}
}

// forgotten is the file of an access if the happens-before engine had forgotten the place.
const forgotten = "?"

// deed returns an access in words: its kind and its expression.
func deed(a *finding.Access) string {
	switch {
	case panics(a) || callsItself(a) || isState(a):
		return a.Expr
	case a.Mode == finding.Leave && a.Expr == "}":
		return "return at the end of the function"
	case a.Mode == finding.Leave && isCall(a): // of panic, or of a function that does not return
		return a.Expr
	case a.Mode == finding.Leave: // the expression is the lock that stays locked
		return leaving(a.Source)
	case a.Mode == finding.Call && isCall(a):
		return a.Expr
	case a.Mode == finding.Call:
		return "call of a method of " + a.Expr
	case madeBy(a):
		return fmt.Sprintf("%s by %s", a.Mode, a.Expr)
	}
	return fmt.Sprintf("%s of %s", a.Mode, a.Expr)
}

// leaving names the statement of a line by which control leaves: that of a loop's round, or of a function.
func leaving(source string) string {
	words := strings.FieldsFunc(source, func(r rune) bool { return !unicode.IsLetter(r) })
	i := slices.IndexFunc(words, func(w string) bool {
		return slices.Contains([]string{"return", "continue", "break", "goto"}, w)
	})
	switch {
	case i >= 0:
		return words[i]
	case source != "": // a condition without a statement of its own behind it
		return "way without an unlock"
	}
	return "return"
}

// madeBy reports whether the expression of an access is a call, or a method of an atomic value or a sync.Map: it makes
// the access, and does not name the variable.
//
//	write by b.set(1)     atomic-write by m.Store
func madeBy(a *finding.Access) bool {
	switch a.Mode {
	case finding.Read, finding.Write, finding.Lock, finding.ReadLock:
		return isCall(a)
	case finding.AtomicRead, finding.AtomicWrite:
		e, err := parser.ParseExpr(a.Expr)
		sel, isSelector := e.(*ast.SelectorExpr)
		return isCall(a) || err == nil && isSelector && slices.Contains(atomicMethods, sel.Sel.Name)
	}
	return false
}

// atomicMethods are the methods of package sync/atomic and of sync.Map.
var atomicMethods = []string{
	"Add", "And", "Clear", "CompareAndDelete", "CompareAndSwap", "Delete", "Load", "LoadAndDelete", "LoadOrStore", "Or",
	"Range", "Store", "Swap",
}

// isState reports whether the expression of an access is the state in which the runtime shows a goroutine that waits:
// "chan receive", "sync.Mutex.Lock", "select in io.(*pipe).read". The source has no operation there, or it is a select.
func isState(a *finding.Access) bool {
	state, _, _ := strings.Cut(a.Expr, " in ")
	return strings.HasPrefix(state, "chan ") || state == "select" && a.Mode == finding.Wait ||
		strings.HasPrefix(state, "sync.") && strings.HasSuffix(state, "."+operations[a.Mode])
}

// operations are the functions and methods that are an operation of the mode.
var operations = map[finding.Mode]string{
	finding.Lock: "Lock", finding.ReadLock: "RLock", finding.CloseChan: "close", finding.Add: "Add", finding.Wait: "Wait",
	finding.Done: "Done",
}

// callsItself reports whether the expression of an access is the whole operation, as close(c) is, and not its operand.
func callsItself(a *finding.Access) bool {
	call := callOf(a)
	if call == nil {
		return false
	}
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name == operations[a.Mode]
	case *ast.SelectorExpr:
		return fun.Sel.Name == operations[a.Mode]
	}
	return false
}

// isCall reports whether the expression of an access is a call.
func isCall(a *finding.Access) bool { return callOf(a) != nil }

// callOf returns the call that the expression of an access is, or nil.
func callOf(a *finding.Access) *ast.CallExpr {
	e, err := parser.ParseExpr(a.Expr)
	if err != nil {
		return nil
	}
	call, _ := e.(*ast.CallExpr)
	return call
}

// someLocks reports whether an access of f is known to hold a lock: only then "no lock" says something of the others.
func someLocks(f *finding.Finding) bool {
	return slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return len(a.Locks) > 0 })
}

// knowsLocks reports whether an access of f without locks is known to hold none: the static side knows that, of its own
// accesses and of the unprotected one, which comes first in a race. A run does not show which locks are held, nor which
// ones would have been at the end of a section that a panic has ended.
func knowsLocks(f *finding.Finding, a *finding.Access) bool {
	if slices.ContainsFunc(f.Accesses, func(b finding.Access) bool { return panics(&b) }) {
		return false
	}
	return a.Goroutine == nil || f.Code.IsDataRace() && a == &f.Accesses[0]
}

// held returns in words which locks an access holds; locks says that one of the accesses is known to hold some. An
// access that a call stands for is made by the function called, which may take locks of its own.
func held(a *finding.Access, locks bool) string {
	switch {
	case len(a.Locks) > 0 && madeBy(a) && !callsItself(a):
		return "with " + lockNames(a.Locks) + " held" // perhaps by the function called
	case len(a.Locks) > 0:
		return "holding " + lockNames(a.Locks)
	case locks && !panics(a) && !isCall(a):
		return "holding no known lock"
	}
	return ""
}

// panics reports whether a is a panic that a run has seen.
func panics(a *finding.Access) bool {
	return a.Mode == finding.Leave && a.Step > 0 && strings.HasPrefix(a.Expr, "panic: ")
}

// inSteps returns the accesses in the order in which a run has seen them, those
// that it has not behind them.
func inSteps(accesses []finding.Access) []*finding.Access {
	var all []*finding.Access
	for i := range accesses {
		all = append(all, &accesses[i])
	}
	slices.SortStableFunc(all, func(a, b *finding.Access) int {
		return cmp.Compare(uint(a.Step-1), uint(b.Step-1)) // 0 comes last
	})
	return all
}

// own leaves out the frames of package testing, which every test has.
func own(frames []finding.Frame) []finding.Frame {
	return slices.DeleteFunc(slices.Clone(frames),
		func(f finding.Frame) bool { return strings.HasPrefix(f.Function, "testing.") })
}

// maxFrames is how many frames of a stack are shown: its top and its bottom say most.
const maxFrames = 10

func (t *text) frames(frames []finding.Frame) {
	for i, f := range frames {
		left := len(frames) - maxFrames
		switch {
		case left > 0 && i == maxFrames-3:
			t.line("            … %s", Count(left+1, "further frame"))
		case left > 0 && i > maxFrames-3 && i < len(frames)-2:
		default:
			t.line("            %s  %s:%d", f.Name(), t.r.shown(f.File), f.Line)
		}
	}
}

func (t *text) evidence(e *finding.Evidence) {
	s := fmt.Sprintf("seen in %s, %s in all; first in run %d with seed %d", seenIn(e), Count(e.Count, "time"), e.Run,
		e.Seed)
	if e.Test != "" {
		s += ", tests of " + e.Test
	}
	if e.Harmful && e.Error == "" {
		s += "; tests failed in a run that showed it"
	}
	t.prose("    evidence: ", s)
	if e.Replay != "" {
		t.line("    replay: %s", e.Replay)
	}
	if e.ReplayRuns > 0 {
		t.line("    replayed: seen again in %s", finding.OfRuns(e.ReplayHits, e.ReplayRuns))
	}
}

func (t *text) fix(fix *finding.Fix) {
	switch {
	case fix == nil:
	case fix.Withheld != "":
		t.prose("    patch withheld: ", fix.Withheld)
		for _, n := range fix.Notes {
			t.prose("        note: ", n)
		}
	default:
		checked := ""
		if len(fix.Checked) > 0 {
			checked = "; checked: " + strings.Join(fix.Checked, ", ")
		}
		what := "patch"
		if fix.Verdict == finding.Draft {
			what = "draft of a patch, with doubts"
		}
		t.line("    %s (%s%s):", what, fix.Strategy, checked)
		t.indented("        ", fix.Diff)
		for _, d := range fix.Doubts {
			t.prose("        doubt: ", d.Text)
		}
		for _, n := range fix.Notes {
			t.prose("        note: ", n)
		}
	}
}

// seenIn returns in how many runs something was seen, of those that could show it: the campaign may have made more.
func seenIn(e *finding.Evidence) string {
	s := finding.OfRuns(e.Hits, e.Runs)
	if e.Run > e.Runs {
		s += " that tried it"
	}
	return s
}

// indented writes each line of s behind the prefix; further lines are set
// under the first.
func (t *text) indented(prefix, s string) {
	if s = strings.TrimRight(s, "\n"); s == "" {
		return
	}
	for line := range strings.SplitSeq(s, "\n") {
		t.line("%s", strings.TrimRight(prefix+line, " "))
		prefix = strings.Repeat(" ", len(prefix))
	}
}

// prose writes sentences behind the prefix, folded to the width of the terminal.
func (t *text) prose(prefix, s string) {
	if t.style.Width > 0 {
		s = fold(s, max(t.style.Width, narrowest)-len(prefix))
	}
	t.indented(prefix, s)
}

// narrowest is the width below which nothing is folded further: words would stand alone.
const narrowest = 40

// fold breaks the lines of s between words, so that they have at most so many columns.
func fold(s string, most int) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		at := 0
		for j, word := range strings.Split(line, " ") {
			n := columns(word)
			switch {
			case j > 0 && at+1+n > most:
				b.WriteByte('\n')
				at = 0
			case j > 0:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += n
		}
	}
	return b.String()
}

func (t *text) summary() {
	c := t.r.Coverage
	t.prose("", t.r.Verdict()+t.r.inRuns()+t.r.grouped()+t.r.Unended())
	if t.r.Left() > 0 {
		s := "to accept a finding: //interlock:ignore CODE why on its line, or "
		if c.Runs > 0 {
			s += "-o jsonl:f.jsonl and then `interlock baseline write -from f.jsonl`"
		} else {
			s += "`interlock baseline write`"
		}
		t.prose("", s)
	}

	// The coverage of the runs, and the limits of the answer.
	if c.Exact > 0 {
		t.prose("", exact(c))
	}
	if c.Sampled != "" {
		t.prose("", fmt.Sprintf("the happens-before engine recorded %s: it finds the more races the more runs there are",
			c.Sampled))
	}
	if c.Sites > 0 {
		t.prose("", sites(c))
	}
	if c.Sections > 0 && c.Runs > 0 {
		t.prose("", fmt.Sprintf("%s: %d of them watched from end to end", Count(c.Sections, "atomic section"), c.Ended))
	}
	if c.Unobserved > 0 {
		t.prose("", fmt.Sprintf("%s that no run has confirmed: see `interlock check`, or add -suspected",
			Count(c.Unobserved, "suspected finding")))
	}
	if a := t.r.Accepted.String(); a != "" {
		t.prose("", fmt.Sprintf("not shown: %s", a))
	}
	if c.Lost != (Lost{}) {
		t.prose("", fmt.Sprintf("the monitor lost %s: races there may have gone unseen", lost(c.Lost)))
	}
	switch {
	case t.r.Interrupted && len(t.r.Findings) == 0 && c.Unobserved > 0:
		t.prose("", "interrupted before a run had confirmed anything")
	case t.r.Interrupted && len(t.r.Findings) == 0:
		t.prose("", "interrupted before anything was found")
	case t.r.Interrupted:
		t.prose("", "interrupted: this is what was found so far")
	}
	if n := len(t.r.Problems); n > 0 {
		t.prose("", fmt.Sprintf("incomplete: %s, see standard error", Count(n, "problem")))
	}
}

// String returns the number of accepted findings by the means of acceptance; empty for none.
func (a Accepted) String() string {
	var parts []string
	for _, p := range []struct {
		n   int
		how string
	}{
		{a.InSource, "accepted by a comment"}, {a.InBaseline, "in the baseline"}, {a.Unchanged, "on unchanged lines"},
	} {
		if p.n > 0 {
			parts = append(parts, Count(p.n, "finding")+" "+p.how)
		}
	}
	if a.Comments > 0 {
		parts = append(parts, "what "+Count(a.Comments, "comment")+" in the source accept"+singular(a.Comments))
	}
	return strings.Join(parts, ", ")
}

// singular returns the ending of a verb after n things.
func singular(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}

// exact returns the sentence about the runs under the happens-before engine.
func exact(c Coverage) string {
	s := fmt.Sprintf("the tests of %s ran once under the happens-before engine", Count(c.Exact, "package"))
	if c.Partly > 0 {
		s += fmt.Sprintf(" (in %d of them some tests failed or did not end)", c.Partly)
	}
	switch {
	case c.Forgot == 0 && c.Partly > 0:
		return s + "; it sees each race of the code that ran"
	case c.Forgot == 0:
		return s + ", which sees each race of a run"
	case c.Exact == 1:
		return s + ", which could not keep all accesses: it may have missed races"
	}
	return fmt.Sprintf("%s, which could not keep all accesses of %d of them: it may have missed races there", s, c.Forgot)
}

// inRuns returns, behind a verdict, in how many runs it was reached, or why in none.
func (r *Report) inRuns() string {
	switch c := r.Coverage; {
	case c.Asked == 0:
		return ""
	case c.Monitored == 0 && c.Runs > 0 && c.Engine == "watch":
		return ": there is no access to monitor"
	case c.Runs == 0 && r.Count(finding.Confirmed) > 0: // by the tests alone, which hang or end the process
		return " before the first of " + Count(c.Asked, "run")
	default:
		return " in " + ofAsked(c)
	}
}

func ofAsked(c Coverage) string {
	if c.Runs == c.Asked {
		return Count(c.Runs, "run")
	}
	return fmt.Sprintf("%d of %s", c.Runs, Count(c.Asked, "run"))
}

func sites(c Coverage) string {
	s := fmt.Sprintf("%d accesses: %d monitored", c.Sites, c.Monitored)
	if c.Sites == 1 {
		s = fmt.Sprintf("1 access: %d monitored", c.Monitored)
	}
	if 2*c.Monitored < c.Sites {
		s += " (`interlock plan` lists why the others are not)"
	}
	if c.Runs > 0 {
		s += fmt.Sprintf(", %d of them reached, %d watched", c.Reached, c.Watched)
	}
	if c.OverBudget > c.Windows {
		s += fmt.Sprintf("; the monitor delayed %d of %d executions of these, to keep the tests fast: "+
			"a higher -budget delays more", c.Windows, c.OverBudget+c.Windows)
	}
	return s
}

// lost lists the counts of l in words.
func lost(l Lost) string {
	var parts []string
	add := func(n uint64, noun, why string) {
		if n > 0 {
			parts = append(parts, Count(int(n), noun)+" "+why)
		}
	}
	add(l.Windows, "look", "at accesses, since its table was full")
	add(l.Unknown, "look", "at accesses that it could not identify")
	add(l.Records, "record", "that could not be written")
	return strings.Join(parts, ", ")
}

// Count returns n and the noun, in the plural unless n is 1.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// edge writes one step of a lock-order cycle.
func (t *text) edge(e *finding.Edge) {
	since := ""
	if e.Since != nil {
		since = " (locked at " + t.r.place(*e.Since) + ")"
	}
	t.line("    at %s in %s, holding %s%s:", t.r.place(e.Position), e.Function, finding.ShortLock(e.From), since)
	t.line("        %s", waits(e))
}

// waits returns the lock that a step of a cycle waits for, and the place.
func waits(e *finding.Edge) string {
	s := "waits for " + finding.ShortLock(e.To)
	if e.Via != "" {
		s += " in " + e.Via
	}
	return s
}

func edgeText(e *finding.Edge) string {
	return fmt.Sprintf("holding %s, %s", finding.ShortLock(e.From), waits(e))
}
