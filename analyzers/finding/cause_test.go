package finding

import (
	"slices"
	"testing"
)

func TestCauses(t *testing.T) {
	race := func(name, function, other string, locks ...string) *Finding {
		f := &Finding{Code: CaughtInTheAct, Status: Confirmed, Variable: Variable{Package: "p", Type: "T", Name: name}}
		f.Accesses = []Access{{Package: "p", Function: function}, {Package: "p", Function: other, Locks: locks}}
		return f
	}
	wait := func(name string, line int, mode Mode) *Finding {
		return &Finding{Code: BlockedForEver, Status: Confirmed, Variable: Variable{Package: "p", Type: "T", Name: name},
			Accesses: []Access{{Position: Position{File: "x.go", Line: line}, Mode: mode}}}
	}
	within := func(code Code, mode Mode, function string, lines ...int) *Finding {
		f := &Finding{Code: code, Status: Confirmed, ID: string(code)}
		for _, line := range lines {
			f.Accesses = append(f.Accesses, Access{Position: Position{File: "x.go", Line: line}, Mode: mode, Function: function})
		}
		return f
	}
	for _, tt := range []struct {
		name string
		all  []*Finding
		want []int // how many have each cause
	}{
		{"two functions", []*Finding{race("a", "Set", "Sum"), race("b", "Sum", "Set"), race("c", "Set", "Sum")}, []int{3}},
		{"one function without the lock",
			[]*Finding{race("a", "Len", "Add", "t.mu"), race("b", "Len", "Put", "s.mu")}, []int{2}},
		{"another lock is missing",
			[]*Finding{race("a", "Len", "AddA", "t.am"), race("b", "Len", "AddB", "t.bm")}, []int{1, 1}},
		{"two functions without the lock",
			[]*Finding{race("a", "Len", "Add", "t.mu"), race("a", "Cap", "Add", "t.mu")}, []int{1, 1}},
		{"one variable, by two checks", []*Finding{race("a", "Add", "Len"), race("a", "Len", "Add", "t.mu")}, []int{2}},
		{"what joins two", []*Finding{race("a", "F", "G"), race("b", "H", "K"), race("b", "F", "H"), race("b", "H", "F")},
			[]int{4}},
		{"five tests", []*Finding{wait("c", 1, Send), wait("c", 9, Send), wait("c", 1, Send)}, []int{3}},
		{"a close between a test and its use",
			[]*Finding{within(TestAndUse, Write, "Close", 20, 14), within(CloseRaces, CloseChan, "Close", 18)}, []int{2}},
		{"a close behind them, and one elsewhere", []*Finding{within(TestAndUse, Write, "Close", 20, 14),
			within(CloseRaces, CloseChan, "Close", 28), within(CloseRaces, CloseChan, "Stop", 18)}, []int{1, 1, 1}},
		{"another operation", []*Finding{wait("c", 1, Send), wait("c", 9, Receive), wait("d", 5, Send)}, []int{1, 1, 1}},
	} {
		var got []int
		for _, group := range Causes(tt.all) {
			got = append(got, len(group))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	// What is proven best comes first, wherever the others stand.
	suspected := race("a", "F", "G")
	suspected.Status = Suspected
	proven := race("b", "F", "G")
	if got := Causes([]*Finding{suspected, proven}); len(got) != 1 || got[0][0] != proven {
		t.Errorf("got %v", got)
	}
}
