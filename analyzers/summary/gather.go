package summary

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesses"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/lockset"
	"github.com/interlock-go/interlock/analyzers/ownership"
)

// gatherSkips lists the accesses to objects that nobody else can reach yet.
// One expression may stand for several accesses, as in generic code; it is
// skipped if none of them may be shared.
func (s *Summary) gatherSkips(list *accesses.List) {
	fset := list.Prog.Fset()
	type place struct {
		pos   token.Pos
		mode  finding.Mode
		isMap bool
	}
	fresh := map[place]bool{}
	var order []place
	for _, a := range list.All {
		if a.Mode != finding.Read && a.Mode != finding.Write {
			continue
		}
		p := place{a.Expr.Pos(), a.Mode, a.Map}
		before, seen := fresh[p]
		if !seen {
			order = append(order, p)
		}
		fresh[p] = a.Owner == ownership.Fresh && (before || !seen)
	}
	for _, p := range order {
		if !fresh[p] {
			continue
		}
		at := fset.PositionFor(p.pos, false)
		s.Skips = append(s.Skips, Skip{File: s.file(at.Filename), Line: at.Line, Column: at.Column, Mode: p.mode, Map: p.isMap})
	}
}

// Locks is how a package uses locks, for deadlock checks.
type Locks struct {
	Edges     []finding.Edge `json:"edges,omitempty"`     // To is acquired while From is held
	Functions []Function     `json:"functions,omitempty"` // those that take locks
}

// Function is what a function does to locks.
type Function struct {
	Name string `json:"name"`
	// Takes lists the classes of locks that it may block on, callees included.
	Takes []string `json:"takes"`
}

// gatherLocks lists the lock-order edges and each function's locks.
func (s *Summary) gatherLocks(list *accesses.List, locks *lockset.Result) {
	seen := map[[3]string]bool{}
	for _, fn := range list.Prog.Funcs {
		if list.Prog.InTest(fn) {
			continue
		}
		name := list.Prog.FuncName(fn)
		locks.Walk(fn, func(instr ssa.Instruction, state *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if !ok {
				return
			}
			for _, e := range orders(locks, call, state) {
				if key := [3]string{e.From, e.To, name}; !seen[key] {
					seen[key] = true
					e.Function = name
					e.Position = accesses.Position(list.Prog.Fset(), call.Pos(), call.Pos())
					s.Locks.Edges = append(s.Locks.Edges, e)
				}
			}
		})
		if takes := locks.Takes(fn); len(takes) > 0 {
			s.Locks.Functions = append(s.Locks.Functions, Function{Name: name, Takes: takes})
		}
	}
}

func orders(locks *lockset.Result, call *ssa.Call, state *lockset.State) []finding.Edge {
	held := state.Held()
	if len(held) == 0 {
		return nil
	}
	var edges []finding.Edge
	for _, to := range locks.TakenBy(call) {
		for _, h := range held {
			e := finding.Edge{From: h.Class, To: to}
			if h.Class != "" && !slices.Contains(edges, e) {
				edges = append(edges, e)
			}
		}
	}
	return edges
}
