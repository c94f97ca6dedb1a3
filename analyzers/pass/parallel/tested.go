package parallel

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/simulation"
)

// byTested reports whether the code that a test tests may order t, of the goroutines of s, and the access o of the
// test, or keep the goroutine from t: the calls of the test bring about the one order that it counts on. If the tested
// code starts the goroutine, it knows when, and may wait for it. A test that uses goroutines, channels and locks of its
// own alone is judged as all other code is.
func (f *frame) byTested(s *strand, t, o *Touch) bool {
	return f.prog.InTestFile(f.fn) && (f.startedByTested(s.start) || f.awaitsTested(t) ||
		f.waitsInTested(t.Fn, nil, t.Instr) || f.waitsInTested(f.fn, s.at, o.at) || unwanted(t, o))
}

// startedByTested reports whether the code under test starts a goroutine, perhaps with a function of the test.
func (f *frame) startedByTested(start ssa.CallInstruction) bool {
	if !f.prog.InTestFile(start.Parent()) {
		return true
	}
	_, goes := start.(*ssa.Go)
	fn := start.Common().StaticCallee()
	return !goes && fn != nil && fn.Pkg != nil && !f.prog.InTestFile(fn) &&
		fn.Pkg.Pkg.Path() == strings.TrimSuffix(f.prog.Pkg.Pkg.Path(), "_test")
}

// awaitsTested reports whether the goroutine receives before t from a channel that the code under test has made.
//
//	ready := target.Subscribe(2); go func() { <-ready; called = true }(); target.Signal(1)
func (f *frame) awaitsTested(t *Touch) bool {
	for instr := range ir.Preceding(t.Instr) {
		call, ok := origin(order.On(instr, order.Receive)).(*ssa.Call)
		if ok && f.testee(call) != nil {
			return true
		}
	}
	return false
}

// origin returns the value of a variable that is assigned once, be it captured; v itself for other values.
func origin(v ssa.Value) ssa.Value {
	addr := ir.Back(v, ir.Loaded)
	if addr == nil {
		return v
	}
	cell, ok := accesspath.Of(addr).Root.(*ssa.Alloc)
	if !ok {
		return v
	}
	var stored []ssa.Value
	for _, ref := range *cell.Referrers() {
		if store, ok := ref.(*ssa.Store); ok && store.Addr == cell {
			stored = append(stored, store.Val)
		}
	}
	if len(stored) != 1 {
		return v
	}
	return stored[0]
}

// waitsInTested reports whether a function outside of the tests that fn calls, from an instruction on, may wait before
// another: the starter after the go statement, or the goroutine.
//
//	go func() { tracker.await(ctx); released++ }()
//	go func() { future.Err = failed; future.Done <- true }(); …; future.Wait(ctx); future = New()
func (f *frame) waitsInTested(fn *ssa.Function, from, to ssa.Instruction) bool {
	flow := f.prog.Flow(fn)
	for instr := range ir.Preceding(to) {
		call, ok := instr.(ssa.CallInstruction)
		if !ok || from != nil && from != instr && !flow.Leads(from, instr) {
			continue
		}
		if sum := f.testee(call); sum != nil && len(strong(sum.all.waits)) > 0 {
			return true
		}
	}
	return false
}

// testee returns the summary of the function outside of the tests that a call runs; nil if it runs none that is known.
func (f *frame) testee(call ssa.CallInstruction) *summary {
	site, known := f.onlyCallee(call)
	if !known || f.prog.InTestFile(site.Callee) {
		return nil
	}
	return f.summaries[site.Callee]
}

// unwanted reports whether o asks whether the variable has changed, and the test fails if so: t, which changes it, does
// not come where the test passes.
//
//	go func() { <-ready; called = true }(); …; if called { t.Fatal("called") }
//	if calls != 0 { t.Errorf("%d calls", calls) }
func unwanted(t, o *Touch) bool {
	store, ok := t.Instr.(*ssa.Store)
	load, isLoad := o.Instr.(*ssa.UnOp)
	return ok && isLoad && changes(store) && slices.ContainsFunc(*load.Referrers(), func(use ssa.Instruction) bool {
		branch, differs := branchOn(load, use)
		return branch != nil && simulation.Fails(branch.Block().Succs[differs])
	})
}

// changes reports whether a store leaves another value than the zero value behind: true, or one more.
func changes(store *ssa.Store) bool {
	switch v := store.Val.(type) {
	case *ssa.Const:
		return !ir.IsZero(v)
	case *ssa.BinOp:
		return accesspath.Of(v.X) == accesspath.Of(store.Addr)
	}
	return false
}

// branchOn returns the branch by which use compares a value with its zero value, and which way is taken where
// they differ.
func branchOn(v ssa.Value, use ssa.Instruction) (branch *ssa.If, differs int) {
	switch use := use.(type) {
	case *ssa.If:
		return use, 0
	case *ssa.BinOp:
		zero, ok := use.Y.(*ssa.Const)
		if !ok || use.X != v || !ir.IsZero(zero) || len(*use.Referrers()) != 1 {
			return nil, 0
		}
		branch, _ = (*use.Referrers())[0].(*ssa.If)
		switch use.Op.String() {
		case "==":
			return branch, 1
		case "!=", ">":
			return branch, 0
		}
	}
	return nil, 0
}
