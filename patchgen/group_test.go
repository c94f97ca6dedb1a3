package patchgen

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// One patch corrects a race in all its kinds, but locks by code and cycles one by one.
func TestGroups(t *testing.T) {
	race := func(name, kind string) *finding.Finding {
		v := finding.Variable{Package: "p", Name: name, Kind: kind}
		return &finding.Finding{Variable: v, Code: finding.CaughtInTheAct, Accesses: []finding.Access{{Mode: finding.Read}}}
	}
	lock := func(code finding.Code, name string) *finding.Finding {
		return &finding.Finding{Variable: finding.Variable{Package: "p", Name: name}, Code: code,
			Accesses: []finding.Access{{Mode: finding.Lock}}}
	}
	cycle := func(id string) *finding.Finding {
		return &finding.Finding{ID: id, Code: finding.LockCycle, Cycle: []finding.Edge{{}}}
	}
	// A run saw a goroutine wait for the lock that a return had left held.
	leak := lock(finding.LostUnlock, "s.mu")
	leak.Accesses[0].Expr, leak.Accesses[0].Mode = "s.mu", finding.Leave
	stuck := lock(finding.BlockedForEver, "sync.mu")
	stuck.Accesses[0].Expr, stuck.Status = "t.mu", finding.Confirmed
	// A run saw the race that a use behind the lock leads to, and another one.
	used := &finding.Finding{Code: finding.UsedAfterLock, Variable: finding.Variable{Package: "p", Name: "items"},
		Accesses: []finding.Access{{Position: finding.Position{File: "a.go", Line: 7}, Mode: finding.Read}}}
	below := race("data[]", "element")
	below.Status = finding.Confirmed
	below.Accesses[0].Goroutine = &finding.Goroutine{
		Stack: []finding.Frame{{File: "b.go", Line: 1}, {File: "a.go", Line: 7}}}
	other := race("more[]", "element")
	other.Status = finding.Confirmed
	other.Accesses[0].Goroutine = &finding.Goroutine{Stack: []finding.Frame{{File: "a.go", Line: 8}}}
	// A run saw a goroutine wait for the lock that another one takes twice.
	again, waiter := lock(finding.ReadLockAgain, "z"), lock(finding.BlockedForEver, "z")
	waiter.Variable.Kind, waiter.Status = "field", finding.Confirmed
	got := Groups([]*finding.Finding{again, waiter, leak, stuck, used, below, other,
		race("x", "field"), race("y", ""), race("x", ""),
		lock(finding.DoubleLock, "x"), lock(finding.DoubleLock, "x"), lock(finding.LostUnlock, "x"),
		cycle("a"), cycle("b"),
	})
	want := []int{2, 2, 2, 1, 2, 1, 2, 1, 1, 1}
	if len(got) != len(want) {
		t.Fatalf("%d groups, want %d", len(got), len(want))
	}
	for i, g := range got {
		if len(g) != want[i] {
			t.Errorf("group %d has %d findings, want %d", i, len(g), want[i])
		}
	}
}

// Fields of one type that race in the same functions get one patch, where a run has shown that; so does what links two
// such groups. Each is a part by itself.
func TestGroupsMissOneLock(t *testing.T) {
	race := func(name string, functions ...string) *finding.Finding {
		f := &finding.Finding{Code: finding.CaughtInTheAct, Status: finding.Confirmed,
			Variable: finding.Variable{Package: "p", Type: "T", Name: name, Kind: "field"}}
		for _, function := range functions {
			f.Accesses = append(f.Accesses, finding.Access{Package: "p", Function: function, Mode: finding.Write})
		}
		return f
	}
	suspected, other := race("c", "(*T).Set", "(*T).Get"), race("a", "(*T).Set", "(*T).Get")
	suspected.Status, other.Variable.Type = finding.Suspected, "U"
	global := func(name string, functions ...string) *finding.Finding {
		f := race(name, functions...)
		f.Variable.Type, f.Variable.Kind = "", "global"
		return f
	}
	for _, test := range []struct {
		name     string
		findings []*finding.Finding
		want     []int
	}{
		{"two fields", []*finding.Finding{race("a", "(*T).Set", "(*T).Get"), race("b", "(*T).Get", "(*T).Set")}, []int{2}},
		{"other functions", []*finding.Finding{race("a", "(*T).Set", "(*T).Get"), race("b", "(*T).Add", "(*T).Sum")},
			[]int{1, 1}},
		{"two package variables", []*finding.Finding{global("a", "Set", "Get"), global("b", "Set", "Get")}, []int{2}},
		{"in other functions", []*finding.Finding{global("a", "Set", "Get"), global("b", "Set", "Sum")}, []int{1, 1}},
		{"another type", []*finding.Finding{race("a", "(*T).Set", "(*T).Get"), other}, []int{1, 1}},
		{"no run has shown one", []*finding.Finding{race("a", "(*T).Set", "(*T).Get"), suspected}, []int{1, 1}},
		{"linked by the third", []*finding.Finding{race("a", "(*T).Set", "(*T).Get"), race("b", "(*T).Add", "(*T).Sum"),
			race("c", "(*T).Set", "(*T).Get"), race("c", "(*T).Add", "(*T).Sum")}, []int{4}},
	} {
		var got []int
		groups := Groups(test.findings)
		for _, g := range groups {
			got = append(got, len(g))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: groups of %v findings, want %v", test.name, got, test.want)
		}
		if len(test.want) == 1 && len(Parts(groups[0])) < 2 {
			t.Errorf("%s: the group has no parts", test.name)
		}
	}
}

// A patch for T.a, which Set and Get access, must not leave what Set does to T.b; other types, functions, tests and
// locks are bugs of their own, and so is what no run has shown.
func TestIsBeside(t *testing.T) {
	race := func(typ, name string, at ...string) *finding.Finding {
		f := &finding.Finding{Code: finding.CaughtInTheAct, Status: finding.Confirmed,
			Variable: finding.Variable{Package: "p", Type: typ, Name: name, Kind: "field"}}
		for _, function := range at {
			f.Accesses = append(f.Accesses, finding.Access{Package: "p", Function: function, Mode: finding.Write,
				Position: finding.Position{File: "a.go", Line: 1}})
		}
		return f
	}
	lock, test, elsewhere := race("T", "mu", "(*T).Set"), race("T", "b", "(*T).Set", "Test"), race("T", "b", "(*T).Set")
	lock.Accesses[0].Mode, test.Accesses[1].File, elsewhere.Variable.Package = finding.Lock, "a_test.go", "q"
	suspected, torn := race("T", "b", "(*T).Set"), race("T", "b", "(*T).Set")
	suspected.Status, torn.Code = finding.Suspected, finding.TestAndUse
	predicted, generic := race("T", "b", "(*T).Set"), race("T", "b", "(*T[...]).Reset.func2")
	predicted.Status = finding.Predicted
	// The patch changes Reset too, which no finding of the group is in.
	patch := Candidate{touched: map[string]bool{"(*p.T[K]).Reset": true, "p.init": true}}
	group := []*finding.Finding{race("T", "a", "(*T).Set", "(*T).Get")}
	for name, c := range map[string]struct {
		f    *finding.Finding
		want bool
	}{
		"both in the function":   {race("T", "b", "(*T).Set", "(*T).Set"), true},
		"one in the function":    {race("T", "b", "(*T).Close", "(*T).Set"), true},
		"the group's own":        {race("T", "a", "(*T).Set", "(*T).Get"), false},
		"its elements":           {race("T", "a[]", "(*T).Set", "(*T).Get"), false},
		"another type":           {race("U", "b", "(*T).Set", "(*T).Set"), false},
		"another function":       {race("T", "b", "(*T).Close", "(*T).Close"), false},
		"one that it changes":    {race("T", "b", "(*T).Close", "(*T).Reset"), true},
		"a literal in it":        {generic, true},
		"one of a longer name":   {race("T", "b", "(*T).ResetAll", "(*T).Close"), false},
		"predicted":              {predicted, true},
		"memory without a name":  {race("", finding.MemoryAt("a.go", 7), "(*T).Set", "(*T).Set"), true},
		"such memory elsewhere":  {race("", finding.MemoryAt("a.go", 7), "(*T).Close", "(*T).Close"), false},
		"places that are gone":   {race("T", "b", "", ""), false},
		"of the test":            {test, false},
		"another package":        {elsewhere, false},
		"not shown":              {suspected, false},
		"a use of two sections":  {torn, false},
		"a lock of the function": {lock, false},
	} {
		if got := patch.IsBeside(group, c.f); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if patch.IsBeside([]*finding.Finding{lock}, race("T", "b", "(*T).Set")) {
		t.Error("a patch for a lock is to correct a race")
	}
}

// A finding that quotes a line which stands elsewhere now is not patched.
func TestStaleFinding(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "stale", "a.go"), []byte("package a\n\nvar n int\n\nfunc set() { n = 1 }\n"))
	m := moduleOf(t, root, "stale", loadAll(t, root))
	at := finding.Access{Position: finding.Position{File: "stale/a.go", Line: 4, Column: 14}, Mode: finding.Write,
		Source: "func set() { n = 1 }"}
	f := &finding.Finding{Code: finding.CaughtInTheAct, Accesses: []finding.Access{at},
		Variable: finding.Variable{Package: "example.com/m/stale", Name: "n"}}
	fix, _, err := Fix(context.Background(), Input{Module: m, Group: []*finding.Finding{f}})
	if want := "stale/a.go:4: the file changed since"; err != nil || !strings.HasPrefix(fix.Withheld, want) {
		t.Errorf("%v, withheld %q, want %q", err, fix.Withheld, want)
	}
}
