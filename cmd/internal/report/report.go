// Package report writes findings for people and for machines: as text, JSON, SARIF, and in the formats of code hosts
// and CI systems.
//
// A [Handler] is a format. It gets all that one command has found, as data,
// and writes it in the order given; it decides nothing and computes no
// verdict. The same [Report] yields the same bytes every time.
package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Report has the results of one command.
type Report struct {
	Title   string // of a page, such as the path of the module; may be empty
	Command string // "check", "test", "fix"
	Version string // of the tool
	Root    string // absolute path of the main module's root, which the findings' files are relative to
	Dir     string // absolute path of the folder that text shows files relative to
	// Repository is the absolute path of the repository's root, which the files of formats for code hosts are
	// relative to; "" is Root.
	Repository string
	Findings   []*finding.Finding
	Hidden     int // findings that are no more than possible, and are listed on request only
	Coverage   Coverage
	Accepted   Accepted
	// Unreached lists, by package, the monitored accesses that no run reached.
	Unreached []Unreached
	// LeftOut are the tests that nobody can build with this go.mod, in a sentence a package. They decide no exit code.
	LeftOut []string
	// Problems are the reasons why the report is incomplete: packages that
	// could not be analysed, tests that failed without a finding.
	Problems []string
	// GaveUp lists the passes that did not finish a function, because of its size:
	// findings about it may be missing. It decides no exit code.
	GaveUp []string
	// Unused are comments that accept findings and that no check needs. They decide no exit code.
	Unused   []string
	Failures []Failure
	// Skipped are tests that did not run, or in fewer runs: those that skipped themselves, where the command
	// knows them, and those that hang. TimeOuts are runs that were ended, or not made, for want of time.
	// Neither decides an exit code.
	Skipped, TimeOuts []string
	// Untried are patches that there was no time for.
	Untried []string
	// Earlier has the changes since an earlier report; nil if there is none to compare with.
	Earlier *Comparison
	// Suppressed are accepted findings that are listed all the same, where a format can say so.
	Suppressed  []Suppressed
	Interrupted bool
	// Help explains each code at length, in plain text; a code without an
	// entry is explained by its title.
	Help map[finding.Code]string
}

// Failure is how the tests of a package failed: always, or under noise alone, which means that they depend on timing.
type Failure struct {
	Package string
	Tests   []string // by name, where their output names some
	Text    string   // a sentence on all of them
	Output  string   // of the tests; may be empty
	Unbuilt bool     // go test would not run them
	Fails   bool     // the build
	Hangs   bool     // they wait for ever
}

// Comparison has the changes since an earlier report.
type Comparison struct {
	Since      string          // when that was made, for readers; may be empty
	Unfinished bool            // that was
	New        map[string]bool // ids of findings that it did not have, or did not have proven
	Persisting int             // how many of the findings are not new
	Fixed      []*finding.Finding
	Unseen     []*finding.Finding // gone, with no sign that somebody has mended them
}

// String returns the numbers in a sentence.
func (c *Comparison) String() string {
	s := fmt.Sprintf("%d new, %d persisting, %d fixed", len(c.New), c.Persisting, len(c.Fixed))
	if n := len(c.Unseen); n > 0 {
		s += fmt.Sprintf(", %d not seen again in files that have not changed: no run has shown them this time, which does "+
			"not mean that they are mended", n)
	}
	if c.Unfinished {
		s += "; the earlier audit was not finished"
	}
	return s + "."
}

// Suppressed is a finding that somebody has accepted.
type Suppressed struct {
	*finding.Finding
	InSource bool   // by a comment, not by the baseline
	Why      string // may be empty
}

// Accepted counts the findings that are not reported, as somebody has accepted them.
type Accepted struct {
	InSource   int `json:"in_source,omitempty"`   // by a comment
	InBaseline int `json:"in_baseline,omitempty"` // by the baseline
	Unchanged  int `json:"unchanged,omitempty"`   // outside of the lines that have changed
	// Comments counts the comments that kept check from reporting something at their places. It reports findings as a
	// whole, without these places, so that findings cannot be counted.
	Comments int `json:"comments,omitempty"`
}

// Coverage is how much was looked at, so that silence can be judged.
// A number that a command does not know is 0.
type Coverage struct {
	Engine    string `json:"engine,omitempty"`    // that made the runs: "watch", "hb" or "race"
	Sites     int    `json:"sites,omitempty"`     // accesses in the packages named
	Monitored int    `json:"monitored,omitempty"` // of them, put under the monitor
	Reached   int    `json:"reached,omitempty"`   // of those, executed in some run
	Watched   int    `json:"watched,omitempty"`   // of those, watched at least once
	Sections  int    `json:"sections,omitempty"`  // atomic sections that could be watched
	Ended     int    `json:"ended,omitempty"`     // of them, run through at least once
	Runs      int    `json:"runs,omitempty"`      // monitored runs made, all packages together
	Asked     int    `json:"asked,omitempty"`     // runs that were asked for
	Exact     int    `json:"exact,omitempty"`     // packages with tests that ran under the happens-before engine first
	Sampled   string `json:"sampled,omitempty"`   // the accesses that engine recorded, in words; empty if it recorded all
	Forgot    int    `json:"forgot,omitempty"`    // of those runs, in which the engine could not keep all accesses
	Partly    int    `json:"partly,omitempty"`    // of those runs, in which not all of the tests ran to their end
	// Unobserved is the number of suspected findings that no run has shown
	// and that are not among the findings reported.
	Unobserved int    `json:"unobserved,omitempty"`
	Windows    uint64 `json:"windows,omitempty"`     // how often an access was watched
	OverBudget uint64 `json:"over_budget,omitempty"` // how often not, since the noise budget was used up
	Lost       Lost   `json:"lost,omitzero"`
}

// Unreached lists the monitored accesses of a package that no run reached.
type Unreached struct {
	Package string
	Places  []string // "file:line: variable", sorted
}

// Lost counts the failures of the monitor. Each may have hidden a race.
type Lost struct {
	Windows uint64 `json:"windows,omitempty"` // accesses not watched, its table being full
	Unknown uint64 `json:"unknown,omitempty"` // accesses passed by, their site not being in the site table
	Records uint64 `json:"records,omitempty"` // records that could not be written
}

// Handler writes a report in one format.
type Handler interface {
	Write(w io.Writer, r *Report) error
}

var handlers = []struct {
	name    string
	handler Handler
}{
	{"text", Text{}},
	{"jsonl", JSONLines{}},
	{"json", JSON{}},
	{"sarif", SARIF{}},
	{"rdjson", RDJSON{}},
	{"checkstyle", Checkstyle{}},
	{"gitlab", GitLab{}},
	{"junit", JUnit{}},
	{"github", GitHub{}},
	{"html", HTML{}},
	{"dot", Dot{}},
	{"mermaid", Mermaid{}},
	{"race", Race{}},
}

// Formats lists the names of the formats, the one for people first.
func Formats() []string {
	var names []string
	for _, h := range handlers {
		names = append(names, h.name)
	}
	return names
}

// For returns the handler of the named format.
func For(format string) (Handler, error) {
	for _, h := range handlers {
		if h.name == format {
			return h.handler, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(Formats(), ", "))
}

// Count returns the number of findings with one of the statuses, without those that are shown on request
// only. Findings of one cause count once, with the status of the best proven one.
func (r *Report) Count(statuses ...finding.Status) int {
	n := 0
	for _, group := range r.Causes() {
		if f := group[0]; !f.Minor() && slices.Contains(statuses, f.Status) {
			n++
		}
	}
	return n
}

// Causes puts findings together that have one cause, see [finding.Causes].
func (r *Report) Causes() [][]*finding.Finding { return finding.Causes(r.Findings) }

// Headline returns one line about findings with one cause: the title of a single one, otherwise the function that lacks
// a lock, the two functions of all the races, or the variable that several functions access without the lock. If no
// lock is known to be missing, it is the class of the best proven finding.
//
//	(*Account).Withdraw accesses Account.balance and Account.count without a.mu
func Headline(group []*finding.Finding) string {
	f := group[0]
	if len(group) == 1 || len(f.Accesses) == 0 || !f.Code.IsDataRace() {
		return f.Title
	}
	var functions, variables []string
	for _, g := range group {
		if len(g.Accesses) == 0 || !g.Code.IsDataRace() {
			return f.Title
		}
		functions = append(functions, g.Accesses[0].Function)
		variables = append(variables, shortVariable(g.Variable))
	}
	functions, variables = distinct(functions), distinct(variables)
	if len(functions) > 1 && len(variables) > 1 && !oneCounterpart(group) {
		return f.Title // one patch mends them, and that is all they share
	}
	verb := "accesses"
	if len(functions) > 1 {
		verb = "access"
	}
	accessed := fmt.Sprintf("%s %s %s", listed(functions), verb, listed(variables))
	if lock := missingLock(group); lock != "" {
		return accessed + " without " + lock
	}
	return accessed + ": " + f.Code.Title()
}

// oneCounterpart reports whether all findings are between the same two functions.
func oneCounterpart(group []*finding.Finding) bool {
	between := func(f *finding.Finding) [2]string {
		a, b := f.Accesses[0].Function, f.Accesses[min(1, len(f.Accesses)-1)].Function
		return [2]string{min(a, b), max(a, b)}
	}
	return !slices.ContainsFunc(group, func(f *finding.Finding) bool { return between(f) != between(group[0]) })
}

// shortVariable returns a variable without its package.
func shortVariable(v finding.Variable) string {
	if v.Type == "" {
		return v.Name
	}
	return v.Type + "." + v.Name
}

// missingLock returns the lock that the other side of each finding holds, and its first side does not; "" if there is
// none. A finding without a known lock on the other side is left out.
func missingLock(group []*finding.Finding) string {
	var common []string
	for _, f := range group {
		if len(f.Accesses) < 2 || len(f.Accesses[1].Locks) == 0 {
			continue
		}
		first := f.Accesses[0].Locks
		held := slices.DeleteFunc(slices.Clone(f.Accesses[1].Locks), func(l string) bool {
			return slices.Contains(first, l) || slices.Contains(first, l+" (read)")
		})
		if common == nil {
			common = held
		}
		common = slices.DeleteFunc(common, func(l string) bool { return !slices.Contains(held, l) })
		if len(common) == 0 {
			return ""
		}
	}
	if len(common) == 0 {
		return ""
	}
	return strings.TrimSuffix(lockNames(common[:1]), " (read)")
}

// distinct returns the words once each, in their order.
func distinct(words []string) (all []string) {
	for _, w := range words {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// maxListed is how many words a list has before it says how many there are more.
const maxListed = 3

// listed joins words: a, b and c; a, b and 4 more.
func listed(words []string) string {
	if len(words) > maxListed {
		words = append(slices.Clone(words[:maxListed-1]), fmt.Sprintf("%d more", len(words)-maxListed+1))
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Gap is something that was not covered.
type Gap struct {
	Title   string
	Package string // of the accesses that no test reached; else empty
	Items   []string
}

// Gaps lists the gaps in coverage.
func (r *Report) Gaps() (all []Gap) {
	for _, g := range []Gap{
		{Title: "Not analysed, or not run to the end", Items: r.Problems},
		{Title: "Tests that failed", Items: r.failures()},
		{Title: "Ended, or not made, for want of time", Items: slices.Concat(r.TimeOuts, r.Untried)},
		{Title: "Tests that were skipped", Items: r.Skipped},
		{Title: "Tests that need modules which go.mod does not require", Items: r.LeftOut},
		{Title: "Functions that a check did not finish, for their size", Items: r.GaveUp},
	} {
		if len(g.Items) > 0 {
			all = append(all, g)
		}
	}
	for _, u := range r.Unreached {
		title := "Monitored accesses that no test reached: " + u.Package
		all = append(all, Gap{Title: title, Package: u.Package, Items: u.Places})
	}
	return all
}

// failures returns the sentences on tests that failed.
func (r *Report) failures() (all []string) {
	for _, f := range r.Failures {
		all = append(all, f.Text)
	}
	return all
}

// Verdict counts the findings by status, in a line.
func (r *Report) Verdict() string {
	var parts []string
	for _, s := range []finding.Status{finding.Confirmed, finding.Predicted, finding.Suspected} {
		if n := r.Count(s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	s := "no findings"
	if n := r.Count(finding.Confirmed, finding.Predicted, finding.Suspected); n > 0 {
		s = fmt.Sprintf("%s: %s", Count(n, "finding"), strings.Join(parts, ", "))
	}
	// What is shown beside the findings was asked for, and is none.
	leads, possible := 0, 0
	for _, group := range r.Causes() {
		switch f := group[0]; {
		case f.IsLead():
			leads++
		case f.Minor():
			possible++
		}
	}
	switch {
	case possible > 0 && leads > 0:
		s += fmt.Sprintf(", %d possible and %s", possible, Count(leads, "lead"))
	case possible > 0:
		s += fmt.Sprintf(" and %d possible", possible)
	case leads > 0:
		s += " and " + Count(leads, "lead")
	}
	if r.Hidden > 0 {
		s += fmt.Sprintf("; %d possible not shown, which -possible lists", r.Hidden)
	}
	return s
}

// Unended returns, behind a verdict without findings, that tests hang or did not end in some run: there is more that
// was seen.
func (r *Report) Unended() string {
	if r.Left() > 0 {
		return ""
	}
	var tests []string
	for _, f := range r.Failures {
		if !f.Hangs {
			continue
		}
		if len(f.Tests) == 0 {
			tests = append(tests, "the tests of "+f.Package)
		}
		for _, t := range f.Tests {
			if !slices.Contains(tests, t) {
				tests = append(tests, t)
			}
		}
	}
	switch n := len(tests); {
	case n > mostNamed:
		return fmt.Sprintf(", but %d tests hung", n)
	case n > 0:
		return fmt.Sprintf(", but %s hung", strings.Join(tests, ", "))
	case len(r.TimeOuts) > 0:
		return ", but not each run ended"
	}
	return ""
}

// mostNamed is how many tests the verdict names.
const mostNamed = 5

// grouped returns how many findings there are with those of the same causes, in brackets, where these are more.
func (r *Report) grouped() string {
	if n := len(r.Findings); len(r.Causes()) < n {
		return fmt.Sprintf(" (%d with those of the same causes)", n)
	}
	return ""
}

// Looked returns how much was looked at, a sentence each.
func (r *Report) Looked() (all []string) {
	c := r.Coverage
	if c.Runs > 0 {
		s := fmt.Sprintf("The tests were run %s.", Count(c.Runs, "time"))
		if len(r.TimeOuts) > 0 {
			s = fmt.Sprintf("The tests were run at most %s: some runs were ended, or not made, for want of time.",
				Count(c.Runs, "time"))
		}
		all = append(all, s)
	}
	if c.Sites > 0 {
		s := fmt.Sprintf("Places with an access to memory that goroutines may share: %d, of which %d are monitored", c.Sites,
			c.Monitored)
		if c.Runs > 0 {
			s += fmt.Sprintf("; the tests reached %d of these", c.Reached)
		}
		all = append(all, s+".")
	}
	if c.Unobserved > 0 {
		all = append(all, Count(c.Unobserved, "suspected finding")+" that no run showed, not listed here.")
	}
	if a := r.Accepted.String(); a != "" {
		all = append(all, "Not shown: "+a+".")
	}
	return all
}

// Left returns the number of findings but those that are shown on request only.
func (r *Report) Left() int {
	n := 0
	for _, f := range r.Findings {
		if !f.Minor() {
			n++
		}
	}
	return n
}

// inRepository returns a finding's file relative to the repository's root, where it lies below it.
func (r *Report) inRepository(file string) string {
	if r.Repository == "" || r.Root == "" || filepath.IsAbs(filepath.FromSlash(file)) {
		return file
	}
	rel, err := filepath.Rel(r.Repository, filepath.Join(r.Root, filepath.FromSlash(file)))
	if err != nil || !filepath.IsLocal(rel) {
		return file
	}
	return filepath.ToSlash(rel)
}

// home is the project's page.
const home = "https://github.com/interlock-go/interlock"

// shown returns a finding's file as text shows it: relative to Dir if it lies
// below it, else to the root, else absolute.
func (r *Report) shown(file string) string {
	if r.Dir == "" || r.Root == "" || filepath.IsAbs(filepath.FromSlash(file)) {
		return file
	}
	rel, err := filepath.Rel(r.Dir, filepath.Join(r.Root, filepath.FromSlash(file)))
	if err != nil {
		return file
	}
	return rel
}
