package unordered

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/parallel"
)

//go:embed doc.go
var doc string

// Analyzer reports variables that two goroutines access in no order.
var Analyzer = check.New("unordered", finding.Unordered, doc, run, ir.Analyzer,
	accesses.Analyzer, parallel.Analyzer, guards.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	c := &checker{pass.ResultOf[ir.Analyzer].(*ir.Program), r, map[token.Pos]bool{}}
	// An access without the lock that guards it elsewhere is IL1001 or IL1006, the load of an update with its
	// store.
	guarded := map[accesspath.Name]bool{}
	for _, s := range pass.ResultOf[guards.Analyzer].([]guards.Suspect) {
		guarded[s.Variable.Name] = true
		for _, a := range s.All {
			c.judged[a.Expr.Pos()] = !s.Lead
		}
	}
	// Leads come last, since a variable is reported once.
	reported := map[finding.Variable]bool{}
	for _, status := range []finding.Status{finding.Suspected, finding.Lead} {
		for _, race := range pass.ResultOf[parallel.Analyzer].([]*parallel.Race) {
			if (c.awaitsMessage(race) || race.Tested) == (status == finding.Lead) {
				c.report(race, status, reported)
			}
		}
	}
	c.reportShared(pass.ResultOf[accesses.Analyzer].(*accesses.List), guarded, reported)
}

// report makes the finding of a race, if it is the first of its variable and no other check's matter.
func (c *checker) report(race *parallel.Race, status finding.Status, reported map[finding.Variable]bool) {
	if _, local := race.Inside.Place.Local(); local || c.isJudged(race.Inside) || c.isJudged(race.Other) {
		return
	}
	if f := c.finding(race); f != nil && !reported[f.Variable] {
		reported[f.Variable] = true
		f.Status = status
		inside, outside := c.exprOf(race.Inside), c.exprOf(race.Other)
		c.reporter.Report(f, inside, outside, "used here", []ast.Expr{inside, outside})
	}
}

// awaitsMessage reports whether the goroutine has received something before it comes to its access: the sender
// of the message is likely to send it after the starter's access. In a test that is so unless the starter sends
// it itself, in an order that is seen.
//
//	go func() { for m := range messages { s.handle(m) } }(); s.handle = handle
//	go func() { <-started; e.Cancel() }(); e.cancel = cancel; e.Execute(func() { close(started) })
func (c *checker) awaitsMessage(race *parallel.Race) bool {
	if race.Itself() || race.Second != nil {
		return false
	}
	inTest := c.prog.InTestFile(race.In)
	for instr := range ir.Preceding(race.Inside.Instr) {
		if ch := order.On(instr, order.Receive); ch != nil && !(inTest && maySend(race.In, ch)) {
			return true
		}
	}
	return false
}

// maySend reports whether fn itself sends to a channel or closes it, or has it from elsewhere.
func maySend(fn *ssa.Function, channel ssa.Value) bool {
	root := accesspath.Of(channel).Root
	if root == nil || root.Parent() != fn {
		return true
	}
	for instr := range ir.Instructions(fn) {
		to := order.On(instr, order.Send|order.Close)
		if to != nil && accesspath.Of(to).Root == root {
			return true
		}
	}
	return false
}

type checker struct {
	prog     *ir.Program
	reporter *check.Reporter
	judged   map[token.Pos]bool // accesses that other checks report, by where the source writes them
}

func (c *checker) isJudged(t *parallel.Touch) bool {
	e := c.exprOf(t)
	return e != nil && c.judged[e.Pos()]
}

// finding makes the finding of a race; nil where the source does not write the access.
func (c *checker) finding(race *parallel.Race) *finding.Finding {
	inside, outside := c.exprOf(race.Inside), c.exprOf(race.Other)
	if inside == nil || outside == nil {
		return nil
	}
	v, title := c.variable(race, inside)
	f := &finding.Finding{
		Title:    title + " is accessed by two goroutines that nothing orders",
		Variable: v,
		Accesses: []finding.Access{c.makeSide(race.Inside, inside)},
	}
	// The goroutines of the two, and how they run.
	if race.Handler != nil {
		f.Message = fmt.Sprintf("net/http runs the handler in a goroutine for each request, and the handler %s it without a "+
			"lock.", pastVerb(race.Inside))
		return f
	}
	start := fmt.Sprintf("the goroutine started at %s %s it", c.describeLine(race.Start.Pos(), inside),
		pastVerb(race.Inside))
	switch {
	case race.Itself():
		f.Message = start + ", and so do the others that the loop starts, with no lock in common."
		return f
	case race.Second != nil:
		f.Message = fmt.Sprintf("%s, and the one started at %s %s it, with no lock in common"+unseen,
			start, c.describeLine(race.Second.Pos(), inside), pastVerb(race.Other))
	default:
		f.Message = fmt.Sprintf("%s, and %s, which leads to that, %s it afterwards, with no lock in common"+unseen, start,
			c.prog.FuncName(race.In), pastVerb(race.Other))
	}
	f.Accesses = append(f.Accesses, c.makeSide(race.Other, outside))
	return f
}

// unseen ends the message of two sides of which one may wait for the other in a way that is not seen.
const unseen = ", and the check has found no wait in between."

func pastVerb(t *parallel.Touch) string {
	switch t.Mode {
	case finding.Read:
		return "reads"
	case finding.AtomicRead:
		return "atomically reads"
	case finding.AtomicWrite:
		return "atomically writes"
	}
	return "writes"
}

// variable names the variable at stake: a field or package variable, or else the expression in the function
// that has it as a local.
func (c *checker) variable(race *parallel.Race, at ast.Expr) (v finding.Variable, title string) {
	contents := race.Inside.Place.Contents()
	if name, ok := accesspath.NameOf(race.Inside.Addr); ok {
		v = finding.Variable{Package: name.Package, Type: name.Type, Name: name.Field, Kind: "field"}
		if name.Type == "" {
			v.Kind = "global"
		}
		title = name.Short()
	} else {
		v = finding.Variable{Package: c.prog.Pkg.Pkg.Path(), Function: c.prog.FuncName(race.In),
			Name: ir.Text(at), Kind: "deref"}
		if contents {
			v.Name = race.Inside.Place.Path.String()
		}
		title = v.Name
	}
	if _, element := race.Inside.Addr.(*ssa.IndexAddr); element {
		v.Kind = "element"
	}
	if contents {
		v.Kind, title = "map", "what "+title+" holds"
	}
	return v, title
}

func (c *checker) makeSide(t *parallel.Touch, at ast.Expr) finding.Access {
	return finding.Access{
		Position: accesses.Position(c.prog.Fset(), at.Pos(), at.End()),
		Package:  c.prog.Pkg.Pkg.Path(),
		Function: c.prog.FuncName(t.Fn),
		Expr:     ir.Text(at),
		Mode:     t.Mode,
	}
}

// exprOf returns the expression that accesses, or the call; nil if the source has none.
func (c *checker) exprOf(t *parallel.Touch) ast.Expr {
	if e := c.receiver(t.Instr); e != nil {
		return e
	}
	for _, pos := range []token.Pos{t.Instr.Pos(), t.Addr.Pos()} {
		switch node := c.prog.Node(pos).(type) {
		case *ast.RangeStmt:
			return node.X
		case ast.Expr:
			return node
		}
	}
	return nil
}

// receiver returns the expression that a call copies by itself, the receiver of a method that has it by value;
// nil for other accesses. The copy has no place of its own, and the pointer's is where that was made.
func (c *checker) receiver(instr ssa.Instruction) ast.Expr {
	// p.Get() for func (T) Get and p of type *T
	load, ok := instr.(*ssa.UnOp)
	if !ok || load.Pos().IsValid() {
		return nil
	}
	for _, ref := range *load.Referrers() {
		call, ok := ref.(ssa.CallInstruction)
		if !ok || len(call.Common().Args) == 0 || call.Common().Args[0] != ssa.Value(load) ||
			call.Common().Signature().Recv() == nil {
			continue
		}
		node, _ := c.prog.Node(call.Pos()).(*ast.CallExpr)
		if node == nil {
			continue
		}
		if method, ok := ast.Unparen(node.Fun).(*ast.SelectorExpr); ok {
			return method.X
		}
	}
	return nil
}

// describeLine returns the line of a position, with its file where the access that is reported is in another one.
func (c *checker) describeLine(pos token.Pos, reported ast.Node) string {
	at := ir.Position(c.prog.Fset(), pos)
	if at.Filename != ir.Position(c.prog.Fset(), reported.Pos()).Filename {
		return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
	}
	return fmt.Sprintf("line %d", at.Line)
}
