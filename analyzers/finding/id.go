package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// ComputeID derives the id of f: the variable, the unordered pair of
// (function, normalised expression), and the ordinal; for a lock cycle the
// names of its locks, each once. It holds no line number, so a baseline survives edits
// elsewhere in the file, and no code, so a suspected and a confirmed finding
// on the same pair of accesses are the same finding.
func (f *Finding) ComputeID() string {
	var parts []string
	if len(f.Cycle) > 0 {
		for _, e := range f.Cycle {
			parts = append(parts, e.From)
		}
		slices.Sort(parts)
		parts = slices.Compact(parts) // however many goroutines wait in a circle for locks of one class
	} else {
		parts = f.pairNames()
		slices.Sort(parts)
		v := f.Variable
		parts = append([]string{v.Package, v.Type, v.Function, v.Name}, parts...)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", strings.Join(parts, "\x00"), f.Ordinal))
	return "il-" + hex.EncodeToString(sum[:8])
}

func (f *Finding) pairNames() (names []string) {
	for _, s := range f.Pair() {
		names = append(names, s.Function+"\x01"+s.Expr)
	}
	return names
}

// Pair returns the two sides that the id of f is made of. A finding with one
// access races with itself: two goroutines run the same code.
func (f *Finding) Pair() []Side {
	if len(f.Sides) > 0 || len(f.Accesses) == 0 {
		return f.Sides
	}
	a, b := f.Accesses[0], f.Accesses[min(1, len(f.Accesses)-1)]
	return []Side{{a.Function, a.Expr}, {b.Function, b.Expr}}
}

// Seal sets the fields that a maker of findings must not forget: version, ids and ordinals. Findings that are
// alike get ordinals in the order of the slice, so sort it first.
func Seal(findings []*Finding) {
	seen := map[string]int{}
	for _, f := range findings {
		f.Version = SchemaVersion
		f.Ordinal = 0
		base := f.ComputeID()
		f.Ordinal = seen[base]
		seen[base]++
		f.ID = f.ComputeID()
	}
}

// Sort orders findings for people and machines alike: by file, line, column
// of the first access, then code and id.
func Sort(findings []*Finding) {
	slices.SortStableFunc(findings, func(a, b *Finding) int { return strings.Compare(sortKey(a), sortKey(b)) })
}

func sortKey(f *Finding) string {
	var p Position
	if len(f.Accesses) > 0 {
		p = f.Accesses[0].Position
	} else if len(f.Cycle) > 0 {
		p = f.Cycle[0].Position
	}
	return fmt.Sprintf("%s\x00%09d\x00%09d\x00%s\x00%s", p.File, p.Line, p.Column, f.Code, f.ID)
}
