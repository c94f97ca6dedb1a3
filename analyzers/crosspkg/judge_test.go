package crosspkg_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
)

// lines numbers the accesses, so that no two are at one place.
var lines int

// at returns an access in a function of its own, to a field of m.T.
func at(pkg string, mode finding.Mode, change ...func(*crosspkg.Access)) *crosspkg.Access {
	lines++
	a := &crosspkg.Access{Place: []string{"T", "n"}, Others: true}
	a.Access = finding.Access{
		Position: finding.Position{File: pkg + "/f.go", Line: lines, Column: 1},
		Package:  pkg, Function: fmt.Sprintf("F%d", lines), Expr: "t.n", Mode: mode,
	}
	for _, c := range change {
		c(a)
	}
	return a
}

func locked(a *crosspkg.Access) {
	a.Held = append(a.Held, crosspkg.Held{Class: "m.T.mu", Near: true, Name: "t.mu"})
	a.May = append(a.May, "m.T.mu")
}

func readLocked(a *crosspkg.Access) {
	a.Held = append(a.Held, crosspkg.Held{Class: "m.T.mu", Read: true, Near: true, Name: "t.mu"})
	a.May = append(a.May, "m.T.mu")
}

func otherLocked(a *crosspkg.Access) {
	a.Held = append(a.Held, crosspkg.Held{Class: "m.T.other", Near: true, Name: "t.other"})
	a.May = append(a.May, "m.T.other")
}

func far(a *crosspkg.Access) {
	a.Held = append(a.Held, crosspkg.Held{Class: "m.Other.mu"})
	a.May = append(a.May, "m.Other.mu")
}

func setUp(a *crosspkg.Access)     { a.SetUp = true }
func exempt(a *crosspkg.Access)    { a.Exempt = true }
func unknown(a *crosspkg.Access)   { a.Unknown = true }
func increment(a *crosspkg.Access) { a.Update = true }

// inside puts the object into a field of a U.
func inside(field string) func(*crosspkg.Access) {
	return func(a *crosspkg.Access) { a.Place = []string{"U", field, "n"} }
}

func ignored(codes ...finding.Code) func(*crosspkg.Access) {
	return func(a *crosspkg.Access) { a.Ignored = codes }
}

func TestJudge(t *testing.T) {
	const (
		r, w, ar, aw = finding.Read, finding.Write, finding.AtomicRead, finding.AtomicWrite
		unguarded    = "T.n is read without t.mu"
		mixed        = "T.n is read plainly and accessed atomically elsewhere"
	)
	for _, tt := range []struct {
		name     string
		accesses []*crosspkg.Access
		want     []string // titles
	}{
		{"a reader elsewhere", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment), at("p", r)},
			[]string{unguarded}},
		{"writers elsewhere", []*crosspkg.Access{at("m", r), at("p", w, locked, increment), at("q", w, locked, increment)},
			[]string{unguarded}},
		{"a writer elsewhere", []*crosspkg.Access{at("m", r, locked), at("m", w, locked, increment), at("p", w)},
			[]string{"T.n is written without t.mu"}},
		{"one package", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment), at("m", r)}, nil},
		{"all locked", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment),
			at("p", r, readLocked)}, nil},
		{"too few", []*crosspkg.Access{at("m", w, locked, increment), at("p", r)}, nil},
		{"most go without", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment), at("p", r),
			at("p", r), at("p", r)}, nil},
		{"a caller may hold it", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment),
			at("p", r, unknown)}, nil},
		{"set once", []*crosspkg.Access{at("m", w, locked), at("m", r, locked), at("p", r)}, nil},
		{"set up", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment), at("p", r, setUp)}, nil},
		{"exempt", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment), at("p", r, exempt)}, nil},
		{"ignored", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment),
			at("p", r, ignored(finding.Unguarded))}, nil},
		{"a lock of another object", []*crosspkg.Access{at("m", w, far, increment), at("m", w, far, increment), at("p", r)},
			nil},
		{"another lock of the object", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment),
			at("p", r, otherLocked)}, []string{"T.n is read under t.other, but t.mu guards it"}},
		{"of another struct that holds it", []*crosspkg.Access{at("m", w, locked, increment), at("m", w, locked, increment),
			at("p", r, func(a *crosspkg.Access) { a.Place = []string{"U", "n"} })}, nil},

		{"atomic here, plain there", []*crosspkg.Access{at("m", aw), at("p", r)}, []string{mixed}},
		{"plain here, atomic there", []*crosspkg.Access{at("m", r), at("p", aw)}, []string{mixed}},
		{"through a struct that holds it", []*crosspkg.Access{at("m", aw), at("p", r, inside("u"))}, []string{mixed}},
		{"another one of that struct", []*crosspkg.Access{at("m", aw, inside("v")), at("p", r, inside("u"))}, nil},
		{"only reads", []*crosspkg.Access{at("m", ar), at("p", r)}, nil},
		{"a write beside atomic reads", []*crosspkg.Access{at("m", ar), at("p", w)},
			[]string{"T.n is written plainly and accessed atomically elsewhere"}},
		{"all atomic", []*crosspkg.Access{at("m", aw), at("p", ar)}, nil},
		{"the package's own check has judged", []*crosspkg.Access{at("m", aw), at("m", r), at("p", aw)}, nil},
		{"both under the lock", []*crosspkg.Access{at("m", aw, locked), at("p", r, locked)}, nil},
		{"both read-locked", []*crosspkg.Access{at("m", aw, readLocked), at("p", r, readLocked)}, []string{mixed}},
		{"plain while it is set up", []*crosspkg.Access{at("m", aw), at("p", w, setUp)}, nil},
		{"plain before it is shared", []*crosspkg.Access{at("m", aw), at("p", w, exempt)}, nil},
		{"ignored mix", []*crosspkg.Access{at("m", aw), at("p", r, ignored(finding.MixedAtomic))}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := crosspkg.Judge(nil, packages(tt.accesses)...)
			finding.Seal(found)
			var got []string
			for _, f := range found {
				if err := f.Validate(); err != nil {
					t.Error(err)
				}
				got = append(got, f.Title)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if back := crosspkg.Judge(nil, packedAndUnpacked(tt.accesses)...); len(back) != len(found) {
				t.Errorf("%d findings once packed and unpacked, want %d", len(back), len(found))
			}
		})
	}
}

var variable = finding.Variable{Package: "m", Type: "T", Name: "n", Kind: "field"}

// packages puts the accesses of one variable into summaries.
func packages(accesses []*crosspkg.Access) [][]crosspkg.Variable {
	by := map[string]*crosspkg.Variable{}
	var names []string
	for _, a := range accesses {
		if by[a.Package] == nil {
			by[a.Package] = &crosspkg.Variable{Variable: variable}
			names = append(names, a.Package)
		}
		by[a.Package].Accesses = append(by[a.Package].Accesses, a)
	}
	var all [][]crosspkg.Variable
	for _, name := range names {
		all = append(all, []crosspkg.Variable{*by[name]})
	}
	return all
}

func packedAndUnpacked(accesses []*crosspkg.Access) [][]crosspkg.Variable {
	all := packages(accesses)
	for _, p := range all {
		for _, v := range p {
			path := v.Accesses[0].Package
			v.Pack()
			v.Unpack(path)
		}
	}
	return all
}

// What a package has found by itself is taken up: with the places of others,
// or not at all if these speak against its guess.
// TestJudgeEnclosed judges objects that one of another type, which has the lock, holds and hands out copies of.
func TestJudgeEnclosed(t *testing.T) {
	outer := func(a *crosspkg.Access) {
		a.Held = append(a.Held, crosspkg.Held{Class: "m.Outer.mu", Near: true, Name: "o.mu"})
		a.May = append(a.May, "m.Outer.mu")
	}
	global := func(a *crosspkg.Access) {
		a.Held = append(a.Held, crosspkg.Held{Class: "m.mu", Near: true, Name: "mu"})
		a.May = append(a.May, "m.mu")
	}
	for _, tt := range []struct {
		name string
		held func(*crosspkg.Access)
		want finding.Status
	}{
		{"the object's own lock", locked, finding.Suspected},
		{"a package variable", global, finding.Suspected},
		{"the lock of what holds the object", outer, finding.Lead},
	} {
		accesses := []*crosspkg.Access{at("m", finding.Write, tt.held, increment),
			at("m", finding.Write, tt.held, increment), at("p", finding.Read)}
		found := crosspkg.Judge(nil, packages(accesses)...)
		if len(found) != 1 || found[0].Status != tt.want {
			t.Errorf("%s: %v, want one of status %s", tt.name, found, tt.want)
		}
	}
}

func TestJudgeTakesUpFindings(t *testing.T) {
	add, sub, get := at("m", finding.Write, locked, increment), at("m", finding.Write, locked, increment),
		at("m", finding.Read)
	own := func() *finding.Finding {
		return &finding.Finding{Code: finding.Unguarded, Title: "own", Variable: variable,
			Accesses: []finding.Access{get.Access, add.Access}}
	}
	other := &finding.Finding{Code: finding.LostUnlock, Title: "other", Variable: variable,
		Accesses: []finding.Access{get.Access}}

	more := at("p", finding.Read)
	reader, writer := at("p", finding.Read, locked), at("p", finding.Write, locked, increment)
	got := crosspkg.Judge([]*finding.Finding{own(), other},
		packages([]*crosspkg.Access{add, sub, reader, writer, get, more})...)
	if len(got) != 2 || len(got[0].Accesses) != 3 || got[0].Accesses[2].Package != "p" || len(got[0].Notes) != 1 {
		t.Errorf("a further place: %+v", got)
	}

	against := []*crosspkg.Access{add, sub, get, at("p", finding.Read), at("p", finding.Read), at("p", finding.Read)}
	got = crosspkg.Judge([]*finding.Finding{own(), other}, packages(against)...)
	if len(got) != 1 || got[0] != other {
		t.Errorf("accesses without the lock elsewhere: %+v, want only the other finding", got)
	}
}

// An annotation decides in every package.
func TestJudgeAnnotated(t *testing.T) {
	all := packages([]*crosspkg.Access{at("m", finding.Write, locked), at("p", finding.Read), at("q", finding.Read),
		at("q", finding.Read)})
	all[0][0].Annotated = "mu"
	got := crosspkg.Judge(nil, all...)
	if len(got) != 1 || len(got[0].Accesses) != 4 {
		t.Errorf("got %+v, want one finding of three places", got)
	}
}
