package crosspkg_test

import (
	"slices"
	"testing"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
)

// order returns an order in a function of its own, by the names of its locks.
func order(from, to string, change ...func(*crosspkg.Order)) crosspkg.Order {
	o := crosspkg.Order{Edge: finding.Edge{From: "m/p.T." + from, To: "m/p.T." + to, Function: from + to}}
	o.Position = finding.Position{File: from + to + ".go", Line: 1}
	for _, c := range change {
		c(&o)
	}
	return o
}

func gate(read bool) func(*crosspkg.Order) {
	return func(o *crosspkg.Order) { o.Gates = []crosspkg.Gate{{Class: "m/p.gate", Read: read}} }
}

func by(goroutine string) func(*crosspkg.Order) {
	return func(o *crosspkg.Order) { o.Goroutine = goroutine }
}

func readers(o *crosspkg.Order) { o.FromRead, o.ToRead = true, true }

func TestCycles(t *testing.T) {
	for _, tt := range []struct {
		name    string
		orders  []crosspkg.Order
		written []string
		want    []string // titles
	}{
		{"no cycle", []crosspkg.Order{order("a", "b"), order("b", "c"), order("a", "c")}, nil, nil},
		{"two", []crosspkg.Order{order("a", "b"), order("b", "a")}, nil, []string{"T.a and T.b are locked in both orders"}},
		{"three", []crosspkg.Order{order("a", "b"), order("b", "c"), order("c", "a")}, nil,
			[]string{"locks are taken in a circle: T.a -> T.b -> T.c -> T.a"}},
		{"three the other way round", []crosspkg.Order{order("a", "c"), order("c", "b"), order("b", "a")}, nil,
			[]string{"locks are taken in a circle: T.a -> T.c -> T.b -> T.a"}},
		{"the shortest only", []crosspkg.Order{order("a", "b"), order("b", "a"), order("b", "c"), order("c", "a")}, nil,
			[]string{"T.a and T.b are locked in both orders"}},
		{"gated", []crosspkg.Order{order("a", "b", gate(false)), order("b", "a", gate(true))}, nil, nil},
		{"read gates", []crosspkg.Order{order("a", "b", gate(true)), order("b", "a", gate(true))}, nil,
			[]string{"T.a and T.b are locked in both orders"}},
		{"one of two orders is gated", []crosspkg.Order{order("a", "b", gate(false)), order("a", "b"),
			order("b", "a", gate(false))}, nil, []string{"T.a and T.b are locked in both orders"}},
		{"one goroutine", []crosspkg.Order{order("a", "b", by("x.go:1")), order("b", "a", by("x.go:1"))}, nil, nil},
		{"two goroutines", []crosspkg.Order{order("a", "b", by("x.go:1")), order("b", "a", by("x.go:2"))}, nil,
			[]string{"T.a and T.b are locked in both orders"}},
		{"readers", []crosspkg.Order{order("a", "b", readers), order("b", "a", readers)}, []string{"m/p.T.a"}, nil},
		{"readers and writers", []crosspkg.Order{order("a", "b", readers), order("b", "a", readers)},
			[]string{"m/p.T.a", "m/p.T.b"}, []string{"T.a and T.b are locked in both orders"}},
		{"peers", []crosspkg.Order{order("a", "a")}, nil,
			[]string{"two T.a are locked in the order in which they are passed"}},
		{"gated peers", []crosspkg.Order{order("a", "a", gate(false))}, nil, nil},
		{"peers without writers", []crosspkg.Order{order("a", "a", readers)}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// Each order in a package of its own: no package sees a cycle.
			packages := []crosspkg.Locks{{Written: tt.written}}
			for _, o := range tt.orders {
				packages = append(packages, crosspkg.Locks{Orders: []crosspkg.Order{o}})
			}
			var got []string
			for _, f := range crosspkg.Cycles(packages...) {
				if err := f.Validate(); err != nil {
					t.Error(err)
				}
				got = append(got, f.Title)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The id of a cycle does not depend on the order of the packages.
func TestCyclesAreStable(t *testing.T) {
	a, b := crosspkg.Locks{Orders: []crosspkg.Order{order("a", "b")}},
		crosspkg.Locks{Orders: []crosspkg.Order{order("b", "a")}}
	x, y := crosspkg.Cycles(a, b), crosspkg.Cycles(b, a)
	if len(x) != 1 || len(y) != 1 || x[0].ID != y[0].ID || x[0].Message != y[0].Message {
		t.Errorf("got %+v and %+v", x, y)
	}
}
