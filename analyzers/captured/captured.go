package captured

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

//go:embed doc.go
var doc string

// Analyzer reports variables that a goroutine captures and its starter uses.
var Analyzer = check.New("captured", finding.Captured, doc, run, accesses.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	c := &checker{list: list, reporter: r}
	list.Prog.Each(pass, func(fn *ssa.Function, work *ir.Work) {
		c.work = work
		starts := map[ssa.CallInstruction]bool{}
		for _, s := range list.Graph.WithTests().Sites(fn) {
			if s.Mode == callgraph.Go && s.Caller == fn.Parent() && !starts[s.Instr] {
				starts[s.Instr] = true
				c.started(s)
			}
		}
	})
}

type checker struct {
	list     *accesses.List
	reporter *check.Reporter
	work     *ir.Work // what is left for the function at hand
}

// started judges the variables that the goroutine of s captures.
func (c *checker) started(s callgraph.Site) {
	mk := creation(s)
	if mk == nil {
		return
	}
	free := c.unordered(s.Callee)
	for i, b := range mk.Bindings {
		cell, ok := b.(*ssa.Alloc)
		if !ok || cell.Comment == "" {
			continue
		}
		inner := c.accessesTo(s.Callee.FreeVars[i], free)
		if other := c.conflict(s, cell, inner); other != nil {
			c.report(s, cell, inner, other)
		}
	}
}

func creation(s callgraph.Site) *ssa.MakeClosure {
	for _, ref := range *s.Callee.Referrers() {
		if mk, ok := ref.(*ssa.MakeClosure); ok && mk.Parent() == s.Caller {
			return mk
		}
	}
	return nil
}

// use is the accesses of one side to a variable.
type use struct{ reads, writes []ssa.Instruction }

// accessesTo lists the loads and stores at addr that are in the set, and those
// of literals that are called there.
func (c *checker) accessesTo(addr ssa.Value, in map[ssa.Instruction]bool) use {
	var u use
	for _, ref := range *addr.Referrers() {
		if !in[ref] {
			continue
		}
		switch ref := ref.(type) {
		case *ssa.MakeClosure:
			if fn := ref.Fn.(*ssa.Function); calledIn(ref, in) {
				inner := c.accessesTo(fn.FreeVars[slices.Index(ref.Bindings, addr)], c.unordered(fn))
				u.reads, u.writes = append(u.reads, inner.reads...), append(u.writes, inner.writes...)
			}
		case *ssa.UnOp:
			if ref.Op == token.MUL {
				u.reads = append(u.reads, ref)
			}
		case *ssa.Store:
			if ref.Addr == addr {
				u.writes = append(u.writes, ref)
			}
		}
	}
	return u
}

// calledIn reports whether the literal is only called, by an instruction of the set.
func calledIn(mk *ssa.MakeClosure, in map[ssa.Instruction]bool) bool {
	return !slices.ContainsFunc(*mk.Referrers(), func(ref ssa.Instruction) bool {
		call, ok := ref.(*ssa.Call)
		return !ok || call.Call.Value != mk || !in[call]
	})
}

// unordered lists the instructions of a goroutine's function at which it
// holds no lock and has not waited for anything since it was started.
func (c *checker) unordered(fn *ssa.Function) map[ssa.Instruction]bool {
	set, waits := map[ssa.Instruction]bool{}, waitsIn(fn)
	c.list.Locks.Walk(fn, func(instr ssa.Instruction, s *lockset.State) {
		if len(s.Held()) == 0 && !c.waitedBefore(waits, instr) {
			set[instr] = true
		}
	})
	return set
}

// waitedBefore reports whether one of the waits comes before at on every way
// there.
func (c *checker) waitedBefore(waits []ssa.Instruction, at ssa.Instruction) bool {
	c.work.Spend(len(waits))
	flow := c.list.Prog.Flow(at.Parent())
	return slices.ContainsFunc(waits, func(w ssa.Instruction) bool {
		if w.Block() == at.Block() {
			return flow.Index(w) < flow.Index(at)
		}
		return w.Block().Dominates(at.Block())
	})
}

// waitsIn lists the instructions of fn that surely wait.
func waitsIn(fn *ssa.Function) []ssa.Instruction {
	var waits []ssa.Instruction
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if surelyWaits(instr) {
				waits = append(waits, instr)
			}
		}
	}
	return waits
}

// conflict returns an access of the starter, after the start and before it may
// have waited, that conflicts with one of inner; or the start itself, if it
// is in a loop and all its goroutines write the variable. Parallel subtests
// wait until their starter has returned: only their siblings conflict.
func (c *checker) conflict(s callgraph.Site, cell *ssa.Alloc, inner use) ssa.Instruction {
	var found ssa.Instruction
	start, subtest := s.Instr, callgraph.ParallelSubtest(s)
	if s.Through != nil && callWaits(start.Common(), 0) {
		return nil // who starts it for the function waits for it, too
	}
	accesses.Reached(start, func(instr ssa.Instruction) bool {
		c.work.Spend(1)
		if found != nil || instr == ssa.Instruction(cell) || waits(instr, 0) {
			return false
		}
		switch instr := instr.(type) {
		case *ssa.Store:
			if !subtest && instr.Addr == cell && len(inner.reads)+len(inner.writes) > 0 {
				found = instr
			}
		case *ssa.UnOp:
			if !subtest && instr.X == cell && instr.Op == token.MUL && len(inner.writes) > 0 {
				found = instr
			}
		case ssa.CallInstruction:
			if instr == start && len(inner.writes) > 0 {
				found = instr
			}
		}
		return found == nil
	})
	return found
}

// report makes the finding of a variable that the goroutine of s uses as inner
// says, and that other accesses. One that the loop itself assigns is reported
// there: what vet's loopclosure says of it stands at its use.
func (c *checker) report(s callgraph.Site, cell *ssa.Alloc, inner use, other ssa.Instruction) {
	inside := c.mention(s.Callee, cell, s.Callee.Pos())
	outside := c.mention(s.Caller, cell, other.Pos())
	if loop := loopVariable(s.Caller, cell); loop != nil && inside != nil && other != ssa.Instruction(s.Instr) {
		c.reportLoop(s, cell, inner, loop, inside)
		return
	}
	what := "its starter goes on to use it"
	if other == ssa.Instruction(s.Instr) {
		outside = inside
		what = "so do the other goroutines that the loop starts"
	}
	if inside == nil {
		return
	}
	if outside == nil { // the results that a return statement sets
		outside = inside
	}
	f := &finding.Finding{
		Title: fmt.Sprintf("variable %s is shared with the goroutine that captures it", cell.Comment),
		Message: fmt.Sprintf("the goroutine started here uses %s, and %s, without waiting. Give the goroutine a variable "+
			"of its own, or wait for it first.",
			cell.Comment, what),
		Variable: c.variable(s, cell),
		Accesses: []finding.Access{c.side(s.Callee, inside, finding.Write)},
	}
	if outside != inside {
		mode := finding.Read
		if _, ok := other.(*ssa.Store); ok {
			mode = finding.Write
		}
		f.Accesses = append(f.Accesses, c.side(s.Caller, outside, mode))
	}
	c.reporter.Report(f, inside, outside, "used here", []ast.Expr{inside, outside})
}

// reportLoop makes the finding of a variable that the head of a loop declares
// and assigns in each round, as it does before Go 1.22.
func (c *checker) reportLoop(s callgraph.Site, cell *ssa.Alloc, inner use, loop, inside *ast.Ident) {
	mode := finding.Read
	if len(inner.writes) > 0 {
		mode = finding.Write
	}
	c.reporter.Report(&finding.Finding{
		Title: fmt.Sprintf("loop variable %s is assigned while a goroutine that captures it uses it", cell.Comment),
		Message: fmt.Sprintf("the loop assigns %s in each round, before Go 1.22 the same variable, and the goroutine "+
			"started at line %d"+
			" may still use it. Give the goroutine a variable of its own: %s := %s.",
			cell.Comment, c.list.Prog.Fset().PositionFor(s.Instr.Pos(), false).Line, cell.Comment, cell.Comment),
		Variable: c.variable(s, cell),
		Accesses: []finding.Access{c.side(s.Caller, loop, finding.Write), c.side(s.Callee, inside, mode)},
	}, loop, inside, "used here", []ast.Expr{loop, inside})
}

// loopVariable returns the identifier by which the head of a loop in fn declares
// the variable; nil if none does.
func loopVariable(fn *ssa.Function, cell *ssa.Alloc) *ast.Ident {
	if fn.Syntax() == nil {
		return nil
	}
	var declared *ast.Ident
	note := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok && id.Pos() == cell.Pos() {
				declared = id
			}
		}
	}
	ast.Inspect(fn.Syntax(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				note(n.Key, n.Value)
			}
		case *ast.ForStmt:
			if init, ok := n.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE {
				note(init.Lhs...)
			}
		}
		return declared == nil
	})
	return declared
}

func (c *checker) variable(s callgraph.Site, cell *ssa.Alloc) finding.Variable {
	return finding.Variable{Package: c.list.Prog.Pkg.Pkg.Path(), Function: c.list.Prog.FuncName(s.Caller),
		Name: cell.Comment, Kind: "captured"}
}

func (c *checker) side(fn *ssa.Function, at *ast.Ident, mode finding.Mode) finding.Access {
	return finding.Access{
		Position: accesses.Position(c.list.Prog.Fset(), at.Pos(), at.End()),
		Package:  c.list.Prog.Pkg.Pkg.Path(),
		Function: c.list.Prog.FuncName(fn),
		Expr:     at.Name,
		Mode:     mode,
	}
}

// mention returns the identifier of the variable at pos, or else the first in
// fn behind it; loads of locals have no position of their own.
func (c *checker) mention(fn *ssa.Function, cell *ssa.Alloc, pos token.Pos) *ast.Ident {
	var found *ast.Ident
	if fn.Syntax() == nil {
		return nil
	}
	ast.Inspect(fn.Syntax(), func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && found == nil && id.Pos() >= pos {
			if obj := c.list.Prog.Info().Uses[id]; obj != nil && obj.Pos() == cell.Pos() {
				found = id
			}
		}
		return found == nil
	})
	return found
}
