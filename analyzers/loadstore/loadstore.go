package loadstore

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/endpoints"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

//go:embed doc.go
var doc string

// Analyzer reports loads and stores that should be one step.
var Analyzer = check.New("loadstore", finding.LoadAndStore, doc, run, accesses.Analyzer, endpoints.Analyzer,
	guards.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	c := newChecker(pass, list, r)
	c.skipReported(pass.ResultOf[guards.Analyzer].([]guards.Suspect))
	ends := pass.ResultOf[endpoints.Analyzer].(*endpoints.Package)
	var leads []section
	for _, s := range sections(pass, list, ends) {
		if s.drains && !c.countedElsewhere(s) {
			continue
		}
		if why, other := c.shared(s); why != "" {
			status := finding.Suspected
			if s.store.Mode == finding.AtomicWrite && !c.writtenElsewhere(s) || !c.goroutinesMeet(s, other) {
				status = finding.Lead
			}
			c.report(s, why, other, status)
		} else if c.isLead(s) {
			leads = append(leads, s)
		}
	}
	for _, lead := range []bool{false, true} {
		for _, fn := range list.Prog.Funcs {
			for _, u := range ends.Updates(fn) {
				if u.Lead == lead {
					c.reportUpdate(u)
				}
			}
		}
	}
	// Leads come last, since a function has one update of a variable.
	for _, s := range leads {
		if c.isFirst(s) {
			c.report(s, "its users may start goroutines", nil, finding.Lead)
		}
	}
}

// section is a load and the store that depends on it; the same access for x++.
type section struct {
	load, store *accesses.Access
	split       bool // a lock is held at both, and released in between
	drains      bool // the store zeroes a value loaded for use elsewhere: n := c.Load(); c.Store(0); return n
}

// sections lists the load-and-store sections that no lock holds together, and
// that do not ask a version before they store.
func sections(pass *analysis.Pass, list *accesses.List, ends *endpoints.Package) []section {
	var all []section
	byFn := map[*ssa.Function][]*accesses.Access{}
	for _, a := range list.All {
		byFn[a.Fn] = append(byFn[a.Fn], a)
	}
	list.Prog.Each(pass, func(fn *ssa.Function, work *ir.Work) {
		f := newFinder(list.Prog.Flow(fn), byFn[fn], work)
		for _, st := range byFn[fn] {
			// The maker of an object has no need of atomics before others know of it.
			atomic := st.Mode == finding.AtomicWrite
			if !list.Counts(st) || st.Owner != ownership.Shared || st.MadeByCallers() && !atomic {
				continue
			}
			s, ok := f.sectionTo(st)
			if !ok || !s.split && st.MadeHere() {
				continue
			}
			if !s.split || !ends.Versioned(s.load, s.store) {
				all = append(all, s)
			}
		}
	})
	return all
}

// finder looks for the sections of one function.
type finder struct {
	flow  *ir.Flow
	loads map[cell][]*accesses.Access
	under map[underLock][]*accesses.Access
	work  *ir.Work
}

// underLock is a variable in one critical section.
type underLock struct {
	path, lock accesspath.Path
	since      ssa.Instruction
}

// cell is a variable, or an entry of a map, that is accessed plainly or atomically.
type cell struct {
	path   accesspath.Path
	isMap  bool
	key    any // of a map access: a constant, or a value of the function
	atomic bool
}

func cellOf(a *accesses.Access) cell {
	var key any = a.Index
	if c, ok := a.Index.(*ssa.Const); ok {
		key = struct{ constant.Value }{c.Value}
	}
	return cell{a.Path, a.Map, key, a.Atomic()}
}

func newFinder(flow *ir.Flow, all []*accesses.Access, work *ir.Work) finder {
	f := finder{flow, map[cell][]*accesses.Access{}, map[underLock][]*accesses.Access{}, work}
	for _, a := range all {
		if a.Value != nil && (a.Mode == finding.Read || a.Mode == finding.AtomicRead) {
			f.loads[cellOf(a)] = append(f.loads[cellOf(a)], a)
		}
		for _, h := range a.Locks.Held() {
			in := underLock{a.Path, h.Path, h.Since}
			f.under[in] = append(f.under[in], a)
		}
	}
	return f
}

// sectionTo finds the section that ends at the store st, if there is one.
func (f *finder) sectionTo(st *accesses.Access) (section, bool) {
	switch {
	case st.Update:
		s := section{load: st, store: st}
		return s, unlocked(st)
	case st.Mode != finding.Write && st.Mode != finding.AtomicWrite || st.Value == nil:
		return section{}, false
	}
	loads := f.loads[cellOf(st)]
	f.work.Spend(len(loads))
	for _, ld := range loads {
		if !f.flow.Precedes(ld.Instr, st.Instr) {
			continue
		}
		s := section{load: ld, store: st, drains: drains(ld, st)}
		if !s.drains && !dependsOn(st.Value, ld.Value) {
			continue
		}
		if unlocked(ld) && unlocked(st) {
			return s, true
		}
		if splitLock(ld, st) && !f.checkedAgain(st) {
			s.split = true
			return s, true
		}
	}
	return section{}, false
}

// drains reports whether st sets an atomic to zero that ld has loaded for more than to decide about it.
func drains(ld, st *accesses.Access) bool {
	c, ok := st.Value.(*ssa.Const)
	return ok && st.Mode == finding.AtomicWrite && (c.Value == nil || c.Value.ExactString() == "0") &&
		slices.ContainsFunc(*ld.Value.Referrers(), func(use ssa.Instruction) bool {
			switch use := use.(type) {
			case *ssa.DebugRef:
				return false
			case *ssa.BinOp:
				return !ir.IsBool(use.Type())
			}
			return true
		})
}

// unlocked reports whether surely no lock is held at a.
func unlocked(a *accesses.Access) bool { return a.Locks.Free() }

// splitLock reports whether a lock is held at both, but was taken anew for the store.
func splitLock(ld, st *accesses.Access) bool {
	for _, h := range ld.Locks.Turns() {
		if again, held := st.Locks.Has(h.Path); held && again.Since == h.Since {
			return false
		}
	}
	split := false
	for _, h := range ld.Locks.Held() {
		again, held := st.Locks.Has(h.Path)
		if !held {
			return false
		}
		if again.Since == h.Since || again.Since == nil || h.Since == nil || again.Read {
			return false
		}
		split = true
	}
	return split && len(ld.Locks.Held()) == len(st.Locks.Held())
}

// checkedAgain reports whether the variable is read once more under the lock of
// the store, as optimistic code does before it writes.
func (f *finder) checkedAgain(st *accesses.Access) bool {
	for _, h := range st.Locks.Held() {
		section := f.under[underLock{st.Path, h.Path, h.Since}]
		f.work.Spend(len(section))
		for _, a := range section {
			if a != st && f.flow.Precedes(a.Instr, st.Instr) {
				return true
			}
		}
	}
	return false
}

// dependsOn reports whether v is computed from loaded: through operators, conversions and calls that take it. A
// choice between the old value and another (x = x or y) computes nothing.
func dependsOn(v, loaded ssa.Value) bool { return ir.DependsOn(v, loaded, carries) == ir.Computes }

func carries(instr ssa.Instruction) ir.Carry {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op != token.MUL && instr.Op != token.ARROW { // an object behind a pointer is a variable of its own
			return ir.Computes
		}
	case *ssa.BinOp:
		return ir.Computes
	case *ssa.Call:
		if !instr.Call.IsInvoke() {
			return ir.Computes
		}
	case *ssa.Convert, *ssa.ChangeType, *ssa.Extract, *ssa.Phi, *ssa.Slice, *ssa.MakeInterface, *ssa.TypeAssert:
		return ir.Copies
	}
	return ir.Stops
}

// report makes the finding of s.
func (c *checker) report(s section, why string, other *accesses.Access, status finding.Status) {
	f := &finding.Finding{
		Status: status,
		Title:  fmt.Sprintf("update of %s is not one step", s.store.Name.Short()),
		Message: fmt.Sprintf("%s loads and stores it %s; %s. An update by another goroutine in between would be lost.",
			c.list.Prog.FuncName(s.store.Fn), describeHow(s), why),
		Variable: s.store.Variable(),
		Accesses: []finding.Access{c.list.Side(s.store)},
		Section: &finding.Section{
			Kind:   "load-and-store",
			Entry:  c.list.Side(s.load).Position,
			End:    c.list.Side(s.store).Position,
			Allows: []finding.Mode{finding.Read},
		},
		Notes: []string{why},
	}
	if s.load != s.store {
		f.Notes = append(f.Notes, fmt.Sprintf("loaded at line %d: the gap ends with the store at line %d",
			f.Section.Entry.Line, f.Section.End.Line))
	}
	var node ast.Expr
	note := ""
	if other != nil {
		f.Accesses = append(f.Accesses, c.list.Side(other))
		node, note = other.Expr, "another goroutine may access it here"
	} else if s.load != s.store {
		node, note = s.load.Expr, "loaded here"
	}
	c.reporter.Report(f, s.store.Expr, node, note, check.Spots(s.store, s.load))
}

// reportUpdate makes the finding of an update by way of calls.
func (c *checker) reportUpdate(u endpoints.Update) {
	key := u.Name + "\x00" + u.Store.Function
	if c.reported[u.Store.Position] || c.reported[u.Load.Position] || c.done[key] {
		return
	}
	c.done[key] = true
	f := &finding.Finding{
		Title: fmt.Sprintf("update of %s is not one step", u.Name),
		Message: fmt.Sprintf("%s loads it at line %d and stores at line %d%s what it has computed from that; %s. An update "+
			"by another goroutine in between would be lost.",
			u.Store.Function, u.Load.Line, u.Store.Line, u.Via, u.Gap),
		Variable: u.Variable,
		Accesses: []finding.Access{u.Store, u.Load},
		Section:  u.Section,
		Notes: []string{fmt.Sprintf("loaded at line %d: the gap ends with the store at line %d", u.Load.Line,
			u.Store.Line)},
	}
	if u.Lead {
		f.Status = finding.Lead
	}
	if u.Remote != nil {
		f.Accesses = append(f.Accesses, c.list.Side(u.Remote))
	}
	c.reporter.Report(f, u.StoreNode, u.LoadNode, "loaded here", []ast.Expr{u.StoreNode, u.LoadNode})
}

func describeHow(s section) string {
	switch {
	case s.split:
		return "under a lock that is released in between"
	case s.store.Mode == finding.AtomicWrite:
		return "with two atomic operations"
	}
	return "without a lock"
}
