package trial

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen"
)

// Parts is Groups where each field has a patch of its own.
func Parts(findings []*finding.Finding) [][]*finding.Finding { return patchgen.Parts(findings) }

// ByFix puts findings together that have one fix, in the order of the findings; those without one are left out.
func ByFix(findings []*finding.Finding) (groups [][]*finding.Finding) {
	for _, f := range findings {
		i := slices.IndexFunc(groups, func(g []*finding.Finding) bool { return g[0].Fix == f.Fix })
		switch {
		case f.Fix == nil:
		case i < 0:
			groups = append(groups, []*finding.Finding{f})
		default:
			groups[i] = append(groups[i], f)
		}
	}
	return groups
}
