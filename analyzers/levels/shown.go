package levels

import (
	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
)

// Shown returns checks with the diagnostics of those findings alone that are shown beside code: of likely ones, and
// with the flag [check.PossibleFlag] of a check of possible ones. Each check keeps its name and help. It requires these
// passes, and fixes, which may be nil, returns the suggested fixes of a finding.
func Shown(checks, requires []*analysis.Analyzer,
	fixes func(*analysis.Pass, *finding.Finding) []analysis.SuggestedFix) []*analysis.Analyzer {
	var all []*analysis.Analyzer
	for _, a := range checks {
		shown := &analysis.Analyzer{
			Name: a.Name, Doc: a.Doc, URL: a.URL, Flags: a.Flags, Requires: append([]*analysis.Analyzer{a}, requires...),
		}
		shown.Run = func(pass *analysis.Pass) (any, error) {
			for _, r := range pass.ResultOf[a].(*check.Result).Reported {
				f := Graded(r.Finding)
				if f.IsLead() || f.Minor() && a.Flags.Lookup(check.PossibleFlag).Value.String() != "true" {
					continue
				}
				if fixes != nil {
					r.Diagnostic.SuggestedFixes = fixes(pass, r.Finding)
				}
				pass.Report(r.Diagnostic)
			}
			return nil, nil
		}
		all = append(all, shown)
	}
	return all
}
