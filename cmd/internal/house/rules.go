package house

import (
	"fmt"
	"slices"
)

// The limits of the rules. A function of more than MaxBare lines needs
// comments above its steps; MaxFileLines is for files that are not tests.
const (
	MaxCyclomatic = 25
	MaxBare       = 30
	MaxFileLines  = 600
)

// Rule is one limit that every file is held to.
type Rule string

const (
	Columns    Rule = "lines over 120 columns"
	Openings   Rule = "comments whose first verb docs/style.md rejects"
	Words      Rule = "comments with a word that docs/style.md rejects"
	Long       Rule = "files over 600 lines"
	Cyclomatic Rule = "functions above cyclomatic 25"
	Bare       Rule = "functions over 30 lines without a comment inside"
)

// Rules lists them as the tables do.
var Rules = []Rule{Columns, Openings, Words, Long, Cyclomatic, Bare}

// Breach is one place where a rule is broken.
type Breach struct {
	Rule  Rule
	Where string // file:line and a name, for people
}

// Breaches returns every breach in the tree. Tests are held to Columns,
// Openings and Words only.
func (t *Tree) Breaches() (all []Breach) {
	for _, pkg := range t.Packages {
		add := func(rule Rule, format string, args ...any) {
			all = append(all, Breach{rule, fmt.Sprintf(format, args...)})
		}
		for _, f := range pkg.Files {
			for _, line := range f.Wide {
				add(Columns, "%s:%d", f.Name, line)
			}
			for _, phrase := range f.Openings {
				add(Openings, "%s:%d: %q", f.Name, phrase.Line, phrase.Text)
			}
			for _, phrase := range f.Words {
				add(Words, "%s:%d: %q", f.Name, phrase.Line, phrase.Text)
			}
			// The shape of tests is free.
			if f.Test {
				continue
			}
			if f.Lines > MaxFileLines {
				add(Long, "%s: %d lines: one strategy, obligation, command or kind of finding a file", f.Name, f.Lines)
			}
			for _, fn := range f.Functions {
				if fn.Cyclomatic > MaxCyclomatic {
					add(Cyclomatic, "%s:%d: %s: %d", f.Name, fn.Line, fn.Name, fn.Cyclomatic)
				}
				if fn.Lines > MaxBare && !fn.Commented {
					add(Bare, "%s:%d: %s: %d lines", f.Name, fn.Line, fn.Name, fn.Lines)
				}
			}
		}
	}
	return all
}

// count returns how many breaches are of a rule.
func count(all []Breach, rule Rule) (n int) {
	for _, b := range all {
		if b.Rule == rule {
			n++
		}
	}
	return n
}

// sources returns the files that are no tests, of the packages that in reports.
func (t *Tree) sources(in func(*Package) bool) (files []*File) {
	for _, pkg := range t.Packages {
		if in(pkg) {
			files = append(files, slices.DeleteFunc(slices.Clone(pkg.Files), func(f *File) bool { return f.Test })...)
		}
	}
	return files
}
