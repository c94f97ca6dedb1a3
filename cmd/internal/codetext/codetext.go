// Package codetext has the long text of each code, with a wrong and a right example and the limits of
// the check. Explain, the reports and docs/checks.md print it.
package codetext

import (
	_ "embed"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/registry"
)

// il1000 explains the one code that no static check makes.
//
//go:embed il1000.txt
var il1000 string

// il2003 explains the code of sections that no static check speaks of.
//
//go:embed il2003.txt
var il2003 string

// il5001 explains the code of goroutines that the runs find.
//
//go:embed il5001.txt
var il5001 string

// unchecked explains the codes that no static check reports.
const unchecked = `No static check reports this yet: "interlock check" is silent about it. "interlock test" reports
it where it catches such accesses in the act.
`

// All returns the text of each code: that of its check, which is the
// check's package comment.
func All() map[finding.Code]string {
	texts := map[finding.Code]string{
		finding.CaughtInTheAct: il1000, finding.Interleaved: il2003, finding.BlockedForEver: il5001,
	}
	for _, c := range registry.Checks() {
		_, text, _ := strings.Cut(c.Analyzer.Doc, "\n") // the first line is the title
		texts[c.Code] = strings.TrimLeft(text, "\n")
	}
	for _, code := range finding.Codes() {
		if texts[code] == "" {
			texts[code] = unchecked
		}
	}
	return texts
}
