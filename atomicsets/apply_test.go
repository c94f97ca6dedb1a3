package atomicsets

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/invariants"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
)

// access returns a site of m.(*T).F in line n.
func access(n int, mode plan.Mode, expr, kind string) plan.Site {
	return plan.Site{
		Package: "m", Function: "(*T).F", Variable: plan.Variable{Package: "m", Type: "T", Name: expr, Kind: kind},
		Mode: mode,
		File: "t.go", Line: n, Column: 2, EndLine: n, EndCol: 5, Expr: "t." + expr, Source: "t." + expr,
	}
}

func half(s plan.Site) invariants.Half {
	return invariants.Half{
		Position: finding.Position{File: s.File, Line: s.Line, Column: s.Column, EndLine: s.EndLine, EndColumn: s.EndCol},
		Mode:     finding.Mode(s.Mode), Map: s.Variable.Kind == plan.KindMap,
	}
}

// withInvariant returns a plan with one section: a read, then a second read or a write.
func withInvariant(t *testing.T) *plan.Plan {
	t.Helper()
	all := []plan.Site{
		access(1, plan.Read, "n", plan.KindField), access(2, plan.Read, "n", plan.KindField),
		access(3, plan.Write, "n", plan.KindField), access(4, plan.Read, "m", plan.KindMap),
	}
	p := build(t, all, nil, nil)
	gone := access(9, plan.Read, "n", plan.KindField)
	err := AddInvariants(p, []invariants.Section{
		{Package: "m", Function: "(*T).F", Variable: "T.n", Entry: half(all[0]),
			Ends: []invariants.Half{half(all[1]), half(all[2]), half(gone)}},
		{Package: "m", Function: "(*T).F", Variable: "T.n", Entry: half(gone), Ends: []invariants.Half{half(all[1])}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func parse(t *testing.T, text string) *repository.File {
	t.Helper()
	f, err := repository.Parse(repository.Name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAddInvariants(t *testing.T) {
	p := withInvariant(t)
	if len(p.Sections) != 1 || len(p.Sections[0].Ends) != 2 {
		t.Fatalf("sections %+v, want one with two ends", p.Sections)
	}
	s := p.Sections[0]
	if s.Kind != plan.Invariant || s.Name != "invariant m.(*T).F T.n" || s.Entry != 1 {
		t.Errorf("section %+v", s)
	}
	for _, e := range s.Ends { // R-w-R and R-w-W are unserialisable
		if !slices.Equal(e.Allows, []plan.Mode{plan.Read}) {
			t.Errorf("end at %d allows %v", e.Site, e.Allows)
		}
	}
}

const candidate = `section invariant m (*T).F
	entry read: t.n
	end read #2 allows read: t.n
	end write allows read: t.n
`

func TestRefreshAddsWhatIsNew(t *testing.T) {
	f := &repository.File{}
	n := Refresh(f, withInvariant(t), []string{plan.Invariant}, func(string) bool { return true })
	if got := string(f.Format()); got != candidate || n != (Changes{Added: 2}) {
		t.Errorf("%+v\n%s", n, got)
	}
	if n := Refresh(f, withInvariant(t), []string{plan.Invariant},
		func(string) bool { return true }); n != (Changes{Kept: 2}) {
		t.Errorf("a second time: %+v", n)
	}
}

// What people and refinement have said stays; what the code lacks goes, unless
// it is pinned, of another kind, or of a package that was not looked at.
func TestRefreshKeepsAndRemoves(t *testing.T) {
	const kept = `# reviewed
section invariant m (*T).F
	entry read: t.n
	end read #2 dropped: t.n
		why: harmless
	end write allows read: t.n
	why: a counter

section invariant m (*T).Gone
	entry read: t.x
	end read allows read: t.x
	pinned: comes back

section load-and-store m (*T).F
	entry read: t.y
	end write allows read: t.y

section invariant other F
	entry read: x
	end read allows read: x
`
	f := parse(t, strings.Replace(kept, "\twhy: a counter", "\tend read #7 allows read: t.n\n\twhy: a counter", 1)+`
section invariant m (*T).F
	entry write: t.x
	end read allows read: t.x
`)
	n := Refresh(f, withInvariant(t), []string{plan.Invariant}, func(pkg string) bool { return pkg == "m" })
	if got := string(f.Format()); got != kept {
		t.Errorf("refreshed:\n%s\nwant\n%s", got, kept)
	}
	if n.Added != 0 || n.Removed != 2 {
		t.Errorf("%+v, want two ends removed", n)
	}
}

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, file string
		sections   int
		ends       int // of the first section
		stale      []string
	}{
		{"no file", "", 1, 2, nil},
		{"a dropped end", strings.Replace(candidate, "read #2 allows read: t.n", "read #2 dropped: t.n\n\t\twhy: x", 1), 1,
			1, nil},
		{"an unobserved end", strings.Replace(candidate, "write allows read", "write allows read unobserved", 1), 1, 1, nil},
		{"none left", strings.ReplaceAll(candidate, "allows read:", "allows read unobserved:"), 0, 0, nil},
		{"an end that is gone", strings.Replace(candidate, "#2", "#5", 1), 1, 2,
			[]string{"interlock.sections:3: m.(*T).F has no access `read #5: t.n`: `interlock sections refresh` removes it"}},
		{"a user section", "section user m (*T).F\n\tentry read map: t.m\n\tend write allows none: t.n\n\twhy: x\n", 2, 2,
			nil},
		{"a user section that is gone", "section user m (*T).F\n\tentry read: t.m\n\tend write allows none: t.n\n\twhy: " +
			"x\n", 1, 2,
			[]string{"interlock.sections:1: m.(*T).F has no access `read: t.m`: fix or remove it"}},
		{"a pinned one that nothing infers", "section invariant m (*T).F\n\tentry read #2: t.n\n\tend write allows " +
			"read: t.n\n\tpinned: x\n", 2, 2, nil},
		{"one that nothing infers", "section invariant m (*T).F\n\tentry read #2: t.n\n\tend write allows read: t.n\n", 1,
			2, nil},
		{"a declared one with an end in a callee", "section user m (*T).F\n\tentry read: t.n\n\tend read in (*T).G " +
			"allows read: t.n\n\twhy: x\n", 1, 2,
			[]string{"interlock.sections:1: nothing has inferred the section, and one with an access in a callee cannot be " +
				"declared: mark the code that has the calls with //interlock:atomic"}},
	} {
		p := withInvariant(t)
		stale, err := Apply(p, parse(t, c.file))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(p.Sections) != c.sections || c.sections > 0 && len(p.Sections[0].Ends) != c.ends {
			t.Errorf("%s: sections %+v, want %d, the first with %d ends", c.name, p.Sections, c.sections, c.ends)
		}
		var said []string
		for _, s := range stale {
			said = append(said, s.String())
		}
		if !slices.Equal(said, c.stale) {
			t.Errorf("%s: said %q, want %q", c.name, said, c.stale)
		}
		for i, s := range p.Sections {
			if s.ID != uint32(i+1) {
				t.Errorf("%s: section %d has id %d", c.name, i+1, s.ID)
			}
		}
	}
}
