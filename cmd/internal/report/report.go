// Package report writes findings for people and for machines: as text, JSON, SARIF, and what code hosts
// and CI systems read.
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

// Report is what one command has found.
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
	Coverage   Coverage
	Accepted   Accepted
	// Unreached lists, by package, the monitored accesses that no run reached.
	Unreached []Unreached
	// LeftOut are the tests that nobody can build with this go.mod, in a sentence a package. They decide no exit code.
	LeftOut []string
	// Problems are the reasons why the report is incomplete: packages that
	// could not be analysed, tests that failed without a finding.
	Problems []string
	// GaveUp is which passes did not finish which functions, for their size:
	// what is wrong there may be missing. It decides no exit code.
	GaveUp []string
	// Unused are comments that accept findings and that no check needs. They decide no exit code.
	Unused []string
	// Failures tell how tests failed, in a sentence a package: always, or under
	// noise only, which means that they depend on timing.
	Failures    []string
	Interrupted bool
	// Help explains each code at length, in plain text; a code without an
	// entry is explained by its title.
	Help map[finding.Code]string
}

// Accepted counts the findings that are not reported, as somebody has accepted them.
type Accepted struct {
	InSource   int `json:"in_source,omitempty"`   // by a comment
	InBaseline int `json:"in_baseline,omitempty"` // by the baseline
	Unchanged  int `json:"unchanged,omitempty"`   // outside of the lines that have changed
}

// Coverage is how much was looked at, so that silence can be judged.
// A number that a command does not know is 0.
type Coverage struct {
	Engine    string `json:"engine,omitempty"`    // that made the runs: "watch" or "hb"
	Sites     int    `json:"sites,omitempty"`     // accesses in the packages named
	Monitored int    `json:"monitored,omitempty"` // of them, put under the monitor
	Reached   int    `json:"reached,omitempty"`   // of those, executed in some run
	Watched   int    `json:"watched,omitempty"`   // of those, watched at least once
	Sections  int    `json:"sections,omitempty"`  // atomic sections that could be watched
	Ended     int    `json:"ended,omitempty"`     // of them, run through at least once
	Runs      int    `json:"runs,omitempty"`      // monitored runs made, all packages together
	Asked     int    `json:"asked,omitempty"`     // runs that were asked for
	Exact     int    `json:"exact,omitempty"`     // packages whose tests ran under the happens-before engine first
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
	Places  []string // file:line: what is accessed; sorted
}

// Lost counts what the monitor could not do. Each may have hidden a race.
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

// Count returns the number of findings with one of the statuses; hints are none.
func (r *Report) Count(statuses ...finding.Status) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level != finding.Hint && slices.Contains(statuses, f.Status) {
			n++
		}
	}
	return n
}

// Left returns the number of findings that are no hints.
func (r *Report) Left() int {
	n := 0
	for _, f := range r.Findings {
		if f.Level != finding.Hint {
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

// home is the project's page; helpURI the text on a code there.
const home = "https://github.com/interlock-go/interlock"

func helpURI(code finding.Code) string {
	return home + "/blob/main/docs/checks.md#" + strings.ToLower(string(code))
}

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
