package simulation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/simulation"
)

// Each function of features is a scope; the line of its name says how it ends.
func TestFeatures(t *testing.T) {
	passtest.Run(t, ir.Analyzer, endsOf(false), "features")
}

// The same without long functions that reach nothing of the scope.
func TestShallow(t *testing.T) {
	passtest.Run(t, ir.Analyzer, endsOf(true), "shallow")
}

// endsOf returns the text for the function that is declared in a line: the goroutines that are stuck in some
// end, which channels crash, and whether something was left out.
func endsOf(shallow bool) func(*passtest.Line) string {
	return func(l *passtest.Line) string {
		r := simulation.Run(simulation.Scope{Pkg: l.Prog.Pkg, Root: l.Fn, Layouts: simulation.NewLayouts(),
			Steps: 100_000, States: 1000, Shallow: shallow})
		var parts []string
		for _, end := range r.Ends {
			for _, s := range end.Stuck {
				parts = append(parts, fmt.Sprintf("goroutine %d at %s%s", s.Goroutine, operation(s), held(s)))
			}
		}
		for _, c := range r.Crashes {
			parts = append(parts, c.What)
		}
		if r.Cut {
			parts = append(parts, "cut")
		}
		slices.Sort(parts)
		if parts = slices.Compact(parts); len(parts) == 0 {
			return "ends"
		}
		return strings.Join(parts, ", ")
	}
}

func operation(s simulation.Stuck) string {
	switch s.At.(type) {
	case *ssa.Send:
		return "send"
	case *ssa.UnOp:
		return "receive"
	case *ssa.Select:
		return "select"
	}
	switch {
	case s.Kind.IsLock():
		return "lock"
	case s.Kind.IsWaitGroup():
		return "wait"
	case s.Kind.IsCond():
		return "cond"
	}
	return "other"
}

// held lists the goroutines that hold the lock which s waits for.
func held(s simulation.Stuck) string {
	text := ""
	for _, h := range s.Holders {
		text += fmt.Sprintf(" of %d", h.Goroutine)
		switch {
		case h.Ended:
			text += " (ended)"
		case h.Returned:
			text += " (returned)"
		}
	}
	return text
}

// Each function of races is a program; the line of its name says which goroutines race.
func TestRaces(t *testing.T) {
	passtest.Run(t, ir.Analyzer, func(l *passtest.Line) string {
		r := simulation.Run(simulation.Scope{Pkg: l.Prog.Pkg, Root: l.Fn, Layouts: simulation.NewLayouts(),
			Steps: 100_000, States: 1000, Program: true})
		var parts []string
		for _, race := range r.Races {
			parts = append(parts, fmt.Sprintf("%s with %s", accessBy(race.First), accessBy(race.Second)))
		}
		slices.Sort(parts)
		if parts = slices.Compact(parts); len(parts) == 0 {
			return "none"
		}
		return strings.Join(parts, ", ")
	}, "races")
}

func accessBy(a simulation.Access) string {
	if a.Write {
		return fmt.Sprintf("write of %d", a.Goroutine)
	}
	return fmt.Sprintf("read of %d", a.Goroutine)
}
