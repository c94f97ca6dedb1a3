package captured

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/parallel"
)

//go:embed doc.go
var doc string

// Analyzer reports variables that a goroutine captures and others use.
var Analyzer = check.New("captured", finding.Captured, doc, run, ir.Analyzer, parallel.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	c := &checker{pass.ResultOf[ir.Analyzer].(*ir.Program), r}
	reported := map[*ssa.Alloc]bool{}
	races := pass.ResultOf[parallel.Analyzer].([]*parallel.Race)
	for _, lead := range []bool{false, true} { // findings that are printed go first
		for _, race := range races {
			if cell, ok := race.Inside.Place.Local(); ok && race.Tested == lead && !reported[cell] {
				reported[cell] = c.report(cell, race)
			}
		}
	}
}

type checker struct {
	prog     *ir.Program
	reporter *check.Reporter
}

// report makes the finding of a variable that two goroutines use at the same time. One that the loop itself
// assigns is reported there: vet's loopclosure reports it at its use.
func (c *checker) report(cell *ssa.Alloc, race *parallel.Race) bool {
	inside, outside := c.mention(cell, race.Inside), c.mention(cell, race.Other)
	if inside == nil {
		return false
	}
	if outside == nil { // the results that a return statement sets
		outside = inside
	}
	starter := cell.Parent()
	if loop := loopVariable(starter, cell); loop != nil && race.Second == nil {
		c.reportLoop(cell, race, loop, inside)
		return true
	}
	what := "its starter goes on to use it"
	switch {
	case race.Itself():
		what = "so do the other goroutines that the loop starts"
	case race.Second != nil:
		what = fmt.Sprintf("so does the goroutine started at line %d", c.lineOf(race.Second.Pos()))
	}
	f := &finding.Finding{
		Title: fmt.Sprintf("variable %s is shared with the goroutine that captures it", cell.Comment),
		Message: fmt.Sprintf("the goroutine started at line %d uses %s, and %s; the check has found no wait in between. %s",
			c.lineOf(race.Begins()), cell.Comment, what, advice(race)),
		Variable: c.variable(cell),
		Accesses: []finding.Access{c.makeSide(race.Inside.Fn, inside, race.Inside.Mode)},
	}
	if race.Handler != nil {
		f.Title = fmt.Sprintf("variable %s is shared by the goroutines that run the handler", cell.Comment)
		f.Message = fmt.Sprintf("net/http runs the handler in a goroutine for each request, and the handler writes %s "+
			"without a lock.", cell.Comment)
	}
	if race.Tested {
		f.Status = finding.Lead
	}
	if outside != inside {
		f.Accesses = append(f.Accesses, c.makeSide(race.Other.Fn, outside, race.Other.Mode))
	}
	c.reporter.Report(f, inside, outside, "used here", []ast.Expr{inside, outside})
	return true
}

// advice returns a way to mend the race: a variable that one side accesses atomically is meant to be shared.
func advice(race *parallel.Race) string {
	for _, t := range []*parallel.Touch{race.Inside, race.Other} {
		if t.Mode == finding.AtomicRead || t.Mode == finding.AtomicWrite {
			return "Access it atomically on both sides."
		}
	}
	return "Give the goroutine a variable of its own, or wait for it first."
}

// reportLoop makes the finding of a variable that the head of a loop declares
// and assigns in each round, as it does before Go 1.22.
func (c *checker) reportLoop(cell *ssa.Alloc, race *parallel.Race, loop, inside *ast.Ident) {
	c.reporter.Report(&finding.Finding{
		Title: fmt.Sprintf("loop variable %s is assigned while a goroutine that captures it uses it", cell.Comment),
		Message: fmt.Sprintf("the loop assigns %s in each round, before Go 1.22 the same variable, and the goroutine "+
			"started at line %d"+
			" may still use it. Give the goroutine a variable of its own: %s := %s.",
			cell.Comment, c.lineOf(race.Start.Pos()), cell.Comment, cell.Comment),
		Variable: c.variable(cell),
		Accesses: []finding.Access{
			c.makeSide(cell.Parent(), loop, finding.Write), c.makeSide(race.Inside.Fn, inside, race.Inside.Mode),
		},
	}, loop, inside, "used here", []ast.Expr{loop, inside})
}

func (c *checker) lineOf(pos token.Pos) int { return ir.Position(c.prog.Fset(), pos).Line }

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

func (c *checker) variable(cell *ssa.Alloc) finding.Variable {
	return finding.Variable{Package: c.prog.Pkg.Pkg.Path(), Function: c.prog.FuncName(cell.Parent()),
		Name: cell.Comment, Kind: "captured"}
}

func (c *checker) makeSide(fn *ssa.Function, at *ast.Ident, mode finding.Mode) finding.Access {
	return finding.Access{
		Position: accesses.Position(c.prog.Fset(), at.Pos(), at.End()),
		Package:  c.prog.Pkg.Pkg.Path(),
		Function: c.prog.FuncName(fn),
		Expr:     at.Name,
		Mode:     mode,
	}
}

// mention returns the identifier by which t accesses the variable. Loads of
// locals have no position of their own: it is the first behind the instruction that
// comes before.
func (c *checker) mention(cell *ssa.Alloc, t *parallel.Touch) *ast.Ident {
	if t.Fn.Syntax() == nil {
		return nil
	}
	from := before(t.Instr)
	var found *ast.Ident
	ast.Inspect(t.Fn.Syntax(), func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && found == nil && id.Pos() >= from {
			obj := c.prog.Info().ObjectOf(id)
			declares := t.Fn == cell.Parent() && id.Pos() == cell.Pos()
			if obj != nil && obj.Pos() == cell.Pos() && !(declares && t.Mode != finding.Write) {
				found = id
			}
		}
		return found == nil
	})
	return found
}

// before returns the position of instr, or that of the last one before it in its block which has one.
func before(instr ssa.Instruction) token.Pos {
	pos := instr.Pos()
	for _, other := range instr.Block().Instrs {
		if other == instr {
			break
		}
		if other.Pos().IsValid() && !instr.Pos().IsValid() {
			pos = other.Pos()
		}
	}
	return pos
}
