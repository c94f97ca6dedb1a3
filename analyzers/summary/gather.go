package summary

import (
	"go/token"
	"strconv"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockgraph"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/stationary"
)

// gatherSkips lists the accesses to objects that nobody else can reach yet,
// and the reads of stationary fields. One expression may stand for several
// accesses, as in generic code; it is skipped if none of them may race.
func (s *Summary) gatherSkips(list *accesses.List, still *stationary.Fields) {
	fset := list.Prog.Fset()
	type place struct {
		pos   token.Pos
		mode  finding.Mode
		isMap bool
	}
	// One reason for all accesses of an expression, or none.
	guarded := guardedFields(list, still)
	reasons := map[place]why{}
	var order []place
	for _, a := range list.All {
		if a.Atomic() {
			continue
		}
		p := place{a.Expr.Pos(), a.Mode, a.Map}
		reason := reasonToSkip(a, still)
		if reason == (why{}) && !a.Map && guarded[a.Obj] {
			reason = why{reason: Guarded}
		}
		if before, seen := reasons[p]; !seen {
			order = append(order, p)
		} else if before != reason {
			reason = why{}
		}
		reasons[p] = reason
	}
	// Names of fields are listed once.
	fields := map[string]int{}
	for _, p := range order {
		reason := reasons[p]
		if reason.reason == "" {
			continue
		}
		at := ir.Position(fset, p.pos)
		skip := Skip{
			File: s.fileNumber(at.Filename), Line: at.Line, Column: at.Column, Mode: p.mode, Map: p.isMap, Reason: reason.reason,
		}
		if name := reason.unless; name != "" {
			if fields[name] == 0 {
				s.Fields = append(s.Fields, name)
				fields[name] = len(s.Fields)
			}
			skip.Unless = fields[name]
		}
		s.Skips = append(s.Skips, skip)
	}
	s.Written = still.Written()
}

// why an access cannot race, unless some package writes a field while it is shared.
type why struct {
	reason Reason
	unless string
}

// reasonToSkip returns why a cannot race; empty if it can.
func reasonToSkip(a *accesses.Access, still *stationary.Fields) why {
	switch {
	case a.Private:
		return why{reason: Fresh}
	case a.Map || a.Mode != finding.Read:
		return why{}
	case still.Has(a.Obj):
		return why{reason: Stationary}
	}
	if name, ok := still.Unless(a.Obj); ok {
		return why{Stationary, name}
	}
	return why{}
}

// gatherVariables lists the accesses to variables that other packages may access too.
func (s *Summary) gatherVariables(pass *analysis.Pass, list *accesses.List) {
	comments := pass.ResultOf[directives.Analyzer].(*directives.Set)
	ignored := func(a *accesses.Access) []finding.Code {
		var codes []finding.Code
		for _, code := range []finding.Code{finding.Unguarded, finding.MixedAtomic, finding.DifferentLocks} {
			if comments.Ignored(code, a.Expr.Pos()) {
				codes = append(codes, code)
			}
		}
		return codes
	}
	s.Variables = list.Exported(ignored, pass.ResultOf[guards.Annotations].(guards.Annotated))
	for _, v := range s.Variables {
		for _, a := range v.Accesses {
			a.File = strconv.Itoa(s.fileNumber(a.File))
		}
		v.Pack()
	}
}

// Locks is how a package uses locks, for the join and for deadlock checks.
type Locks struct {
	crosspkg.Locks
	Functions []Function `json:"functions,omitempty"` // those that take locks
}

// Function lists the uses that a function makes of locks.
type Function struct {
	Name string `json:"name"`
	// Takes lists the classes of locks that it may block on, callees included.
	Takes []string `json:"takes"`
}

// gatherLocks lists the lock orders and each function's locks.
func (s *Summary) gatherLocks(list *accesses.List, locks *lockset.Result, order *lockgraph.Result) {
	s.Locks.Locks = order.Locks
	for _, fn := range list.Prog.Funcs {
		if list.Prog.InTest(fn) {
			continue
		}
		if takes := locks.Takes(fn); len(takes) > 0 {
			s.Locks.Functions = append(s.Locks.Functions, Function{Name: list.Prog.FuncName(fn), Takes: takes})
		}
	}
}
