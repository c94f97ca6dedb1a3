package waitgroupadd

import (
	_ "embed"
	"fmt"
	"go/ast"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
)

//go:embed doc.go
var doc string

// Analyzer reports goroutines that count themselves in a WaitGroup.
var Analyzer = check.New("waitgroupadd", finding.AddRacesWait, doc, run, syncops.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	c := &checker{pass.ResultOf[syncops.Analyzer].(*syncops.List), r}
	for _, op := range c.list.All {
		if op.Mode != finding.Add || vetReports(op) {
			continue
		}
		if wait := c.findWait(op); wait != nil && c.usesGroup(op.Fn, op.Key, finding.Done) && c.uncounted(op) {
			status := finding.Suspected
			if c.mayHear(op, wait) {
				status = finding.Lead
			}
			c.report(op, wait, status, "", "%s is raised by the goroutine that it counts", "%s runs in a goroutine of its "+
				"own; Wait in %s may come before its Add, and does not wait for it then.")
		} else if end := c.findEnd(op); end != nil {
			c.report(op, end, finding.Suspected, beside, "%s may be raised from zero while Wait is called", "Nothing orders "+
				"%s and %s, which any goroutine may call: Wait may miss the Add, and an Add from zero beside a Wait is misuse, "+
				"which may panic.")
		}
	}
	for _, op := range c.list.All {
		if op.Mode == finding.Wait {
			c.startedEarly(op)
		}
	}
}

type checker struct {
	list     *syncops.List
	reporter *check.Reporter
}

// uncounted reports whether op's function is started by go statements, and
// some of them do not count it before.
func (c *checker) uncounted(op *syncops.Op) bool {
	for _, s := range c.list.Started(op.Fn) {
		if !c.usesGroup(s.Caller, op.Key, finding.Add) && !c.usesGroup(s.Caller, op.Key, finding.Done) {
			return true
		}
	}
	return false
}

// startedEarly judges a goroutine that begins by waiting: the goroutine that starts it
// must have counted before.
func (c *checker) startedEarly(wait *syncops.Op) {
	if !waitsAtOnce(wait) {
		return
	}
	for _, s := range c.list.Started(wait.Fn) {
		late, early := c.findLateAdd(s, wait.Key)
		if late != nil && !early && !c.handsOver(late, s.Instr) {
			c.report(late, wait, finding.Suspected, "", "%s is raised after Wait may have begun", "%[2]s waits as soon as it "+
				"is started, and %[1]s raises the count only later: Wait may find nothing to wait for.")
			return
		}
	}
}

// findLateAdd returns an Add that the starting function comes to only after the start,
// and whether there is one before.
func (c *checker) findLateAdd(start callgraph.Site, key syncops.Key) (late *syncops.Op, early bool) {
	for _, o := range c.list.ByKey[key] {
		switch {
		case o.Mode != finding.Add:
		case o.Fn != start.Caller:
			early = true // somewhere else, perhaps before
		case c.list.Reaches(o.Instr, start.Instr):
			early = true
		case late == nil && c.list.Reaches(start.Instr, o.Instr):
			late = o
		}
	}
	return late, early
}

// waitsAtOnce reports whether nothing that may take time comes before op in its function.
func waitsAtOnce(op *syncops.Op) bool {
	if op.Instr.Block() != op.Fn.Blocks[0] {
		return false
	}
	for _, instr := range op.Fn.Blocks[0].Instrs {
		switch instr := instr.(type) {
		case *ssa.Call:
			return instr == op.Instr
		default:
			if order.May(instr, order.Send|order.Receive) {
				return false
			}
		}
	}
	return false
}

// usesGroup reports whether fn, or a closure in it, does mode on the WaitGroup.
func (c *checker) usesGroup(fn *ssa.Function, key syncops.Key, mode finding.Mode) bool {
	for _, o := range c.list.ByKey[key] {
		if o.Mode != mode {
			continue
		}
		for f := o.Fn; f != nil; f = f.Parent() {
			if f == fn {
				return mode != finding.Add || o.Fn == fn
			}
			if len(c.list.Started(f)) > 0 {
				break // of another goroutine
			}
		}
	}
	return false
}

// findWait returns a Wait that another goroutine may call. One that has counted itself before waits until another
// goroutine takes its count off, and not for nothing:
//
//	p.inFlight.Add(1)
//	p.input <- shutdown // behind all that the goroutine has to count
//	p.inFlight.Wait()
func (c *checker) findWait(op *syncops.Op) *syncops.Op {
	for _, o := range c.list.ByKey[op.Key] {
		if o.Mode == finding.Wait && o.Fn != op.Fn && !c.countsItself(o) {
			return o
		}
	}
	return nil
}

// countsItself reports whether an Add always comes before a Wait in its function.
func (c *checker) countsItself(wait *syncops.Op) bool {
	return slices.ContainsFunc(c.list.ByKey[wait.Key], func(o *syncops.Op) bool {
		return o.Mode == finding.Add && o.Fn == wait.Fn && o.Instr.Block().Dominates(wait.Instr.Block()) &&
			c.list.Reaches(o.Instr, wait.Instr) && !c.startsBetween(o.Instr, wait.Instr)
	})
}

// startsBetween reports whether the function of the two starts a goroutine
// between them: then it is that one which the Add counts.
func (c *checker) startsBetween(add, wait ssa.Instruction) bool {
	for instr := range ir.Instructions(add.Parent()) {
		if _, starts := instr.(*ssa.Go); starts && c.list.Reaches(add, instr) && c.list.Reaches(instr, wait) {
			return true
		}
	}
	return false
}

// vetReports reports whether op is the first statement of a literal, which vet reports.
func vetReports(op *syncops.Op) bool {
	lit, ok := op.Fn.Syntax().(*ast.FuncLit)
	return ok && len(lit.Body.List) > 0 && lit.Body.List[0].Pos() <= op.Pos && op.Pos < lit.Body.List[0].End()
}

// report reports an Add that Wait may miss, of a class, if that is not the code's. The title is a format for the
// variable, the message one for the function of the Add and that of Wait.
func (c *checker) report(add, wait *syncops.Op, status finding.Status, class, title, message string) {
	prog := c.list.Prog
	v := c.list.Variable(add)
	f := &finding.Finding{
		Status:   status,
		Class:    class,
		Title:    fmt.Sprintf(title, check.ShortName(v)),
		Message:  fmt.Sprintf(message, prog.FuncName(add.Fn), prog.FuncName(wait.Fn)),
		Variable: v,
		Accesses: []finding.Access{
			check.Side(prog, add.Fn, add.Instr, add.Mode, add.Path.String()),
			check.Side(prog, wait.Fn, wait.Instr, wait.Mode, wait.Path.String()),
		},
	}
	c.reporter.ReportAt(f, add.Pos, check.Note{Pos: wait.Pos, Text: "may be called before"})
}
