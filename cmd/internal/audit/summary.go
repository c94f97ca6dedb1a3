package audit

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report"
)

// Write writes the reports, the patches and the summary into the folder.
func (a *Audit) Write(r *report.Report) error {
	patches, err := patchesOf(r.Findings)
	if err != nil {
		return err
	}
	var out report.Outputs
	for _, f := range []struct{ format, name string }{{"html", Index}, {"sarif", SARIF}} {
		err = errors.Join(err, out.Set(f.format+":"+filepath.Join(a.Dir, f.name)))
	}
	summary := &summary{r: r, patches: patches, when: a.head.Began.Format("2006-01-02 15:04 UTC")}
	err = errors.Join(err, out.Write(r), a.writePatches(patches),
		report.WriteFile(filepath.Join(a.Dir, Summary), []byte(summary.text())))
	if err != nil {
		return err
	}
	// The findings come last: the next audit is compared with them.
	var findings report.Outputs
	if err := findings.Set("jsonl:" + filepath.Join(a.Dir, Findings)); err != nil {
		return err
	}
	return findings.Write(r)
}

// summary is a page of Markdown for the ticket of a release.
type summary struct {
	r       *report.Report
	patches []*Patch
	when    string
	b       strings.Builder
}

func (s *summary) line(format string, args ...any) { fmt.Fprintf(&s.b, format+"\n", args...) }

func (s *summary) text() string {
	s.line("# Interlock audit: %s", cell(s.r.Title))
	s.line("\nBegun %s, interlock %s. [index.html](%s) shows each finding in full.\n", s.when, s.r.Version, Index)
	s.line("**%s**", s.r.Verdict()+s.r.Unended())
	for _, line := range s.r.Looked() {
		s.line("- %s", cell(line))
	}
	s.since()
	s.findings()
	s.fixes()
	s.gaps()
	return s.b.String()
}

// since writes the changes.
func (s *summary) since() {
	c := s.r.Earlier
	if c == nil {
		return
	}
	s.line("\n## Since the audit %s\n", cmp.Or(c.Since, "before"))
	s.line("%s", c)
	for _, part := range []struct {
		title string
		all   []*finding.Finding
	}{{"Fixed", c.Fixed}, {"Not seen again", c.Unseen}} {
		for _, f := range part.all {
			s.line("- %s: %s %s (%s)", part.title, f.Code, cell(f.Title), f.ID)
		}
	}
}

// maxShown is how many rows or lines one part of the summary has: the page has all.
const maxShown = 50

// findings writes one row for each cause, the best proven first.
func (s *summary) findings() {
	causes := s.r.Causes()
	if len(causes) == 0 {
		return
	}
	s.line("\n## Findings\n\n| | status | code | place | what | patch |\n|---|---|---|---|---|---|")
	for i, group := range causes {
		if i == maxShown {
			s.line("\nand %d more: see [index.html](%s)", len(causes)-i, Index)
			break
		}
		f := group[0]
		place, title, isNew := "", cell(report.Headline(group)), ""
		if all := f.Places(); len(all) > 0 {
			place = fmt.Sprintf("%s:%d", all[0].File, all[0].Line)
		}
		if len(group) > 1 {
			title += fmt.Sprintf(" (and %d more of this cause)", len(group)-1)
		}
		if s.r.Earlier != nil && s.r.Earlier.New[f.ID] {
			isNew = "new"
		}
		s.line("| %s | %s | %s | %s | %s | %s |", isNew, f.Standing(), f.Code, cell(place),
			title, s.patchOf(f))
	}
}

// patchOf returns the cell on the patch for f.
func (s *summary) patchOf(f *finding.Finding) string {
	for _, p := range s.patches {
		if p.Fix == f.Fix {
			return fmt.Sprintf("[%s](%s/%s)", f.Fix.Verdict, Patches, p.Name)
		}
	}
	if f.Fix != nil && f.Fix.Withheld != "" {
		return "withheld"
	}
	return ""
}

func (s *summary) fixes() {
	if len(s.patches) == 0 {
		return
	}
	s.line("\n## Patches\n\nEach applies by itself, in the module's root or the folder of go.work: `git apply %s/NAME`.",
		Patches)
	s.line("Each was tried by itself too; where you apply several, run `interlock test` again. Of a draft some things " +
		"could not be shown: read its doubts first.\n")
	for _, p := range s.patches {
		line := fmt.Sprintf("- %s: %s by %s", p.Name, p.Fix.Verdict, p.Fix.Strategy)
		if len(p.Fix.Checked) > 0 {
			line += "; checked: " + strings.Join(p.Fix.Checked, ", ")
		}
		if len(p.Conflicts) > 0 {
			line += "; conflicts with " + strings.Join(p.Conflicts, ", ") + ": apply one, and audit again"
		}
		s.line("%s", cell(line))
		for _, d := range p.Fix.Doubts {
			s.line("    - doubt: %s", cell(d.Text))
		}
	}
}

// gaps writes the code and tests that were not covered, in short.
func (s *summary) gaps() {
	gaps := s.r.Gaps()
	if len(gaps) == 0 {
		return
	}
	s.line("\n## Not covered")
	for _, g := range gaps {
		if g.Package != "" { // the page lists them
			continue
		}
		s.line("\n%s:\n", cell(g.Title))
		for _, item := range g.Items[:min(maxShown, len(g.Items))] {
			s.line("- %s", cell(item))
		}
		if more := len(g.Items) - maxShown; more > 0 {
			s.line("- and %d more", more)
		}
	}
	first := true
	for _, g := range gaps {
		if g.Package == "" {
			continue
		}
		if first {
			s.line("\nMonitored accesses that no test reached, by package:\n")
		}
		first = false
		s.line("- %s: %d", cell(g.Package), len(g.Items))
	}
}

// cell returns foreign text so that Markdown shows it, in a table too.
func cell(s string) string { return escapes.Replace(report.Clean(s)) }

var escapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "`", "\\`", "[", `\[`, "]", `\]`,
	"*", `\*`, "_", `\_`, "~", `\~`, "#", `\#`)
