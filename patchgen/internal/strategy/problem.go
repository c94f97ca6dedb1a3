package strategy

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/critsec"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Problem is one variable to protect, with what every strategy needs to know.
type Problem struct {
	Module   *source.Module
	Facts    *facts.Facts
	Variable *source.Variable
	Findings []*finding.Finding
	Accesses []*source.Access // all accesses of the variable in the module
	// Patched reports that the module holds other patches, one of which may have put the
	// variable under its lock already.
	Patched bool
	covered []*Problem // further variables that a patch has to cover: see [Problem.Cover]
	// isRaced reports of a variable to cover that a run has shown the race for it, too.
	isRaced bool
	// byPointer: the struct is copied, so a new lock in it is a pointer, which each literal of the struct sets.
	byPointer bool
	// Bold has the strategies edit where they could not show that it is right: what they leave open becomes a doubt of
	// the patch. What they know to be wrong they refuse all the same.
	Bold   bool
	doubts []finding.Doubt // of the strategy that is at work
}

// open settles what could not be shown: it returns the reason, or notes it as a doubt where the strategies are bold.
func (p *Problem) open(weight finding.Weight, follows string, reason error) error {
	if !p.Bold || reason == nil {
		return reason
	}
	d := finding.Doubt{Obligation: "maker", Weight: weight, Text: reason.Error() + ": " + follows}
	if !slices.Contains(p.doubts, d) {
		p.doubts = append(p.doubts, d)
	}
	return nil
}

// NewProblem finds the variable of the findings. The error is the reason why it
// cannot be found.
func NewProblem(m *source.Module, facts *facts.Facts, group []*finding.Finding) (*Problem, error) {
	t, err := m.Resolve(group)
	if err != nil {
		return nil, err
	}
	return &Problem{Module: m, Facts: facts, Variable: t, Findings: group, Accesses: m.Accesses(t)}, nil
}

// computedBeside refuses, where the strategies are bold, what is stored in the variable and computed by another field
// that changes. Else they find that out where they compute the value before the lock.
func (p *Problem) computedBeside() error {
	for _, a := range p.Accesses {
		s, ok := a.File.StmtOf(a.Expr).(*ast.AssignStmt)
		if !p.Bold || !a.Mode.Writes() || !ok {
			continue
		}
		for _, value := range s.Rhs {
			if err := critsec.ComputedBeside(a.File, p.Variable, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// named reports whether a finding names the access.
func (p *Problem) named(a *source.Access) bool {
	for e := range p.Variable.Named {
		if e == a.Expr {
			return true
		}
	}
	return false
}

// protectable lists the accesses that a lock has to cover: not those of
// objects that nobody else can reach yet, not initial values, not those in
// tests unless a finding names them.
func (p *Problem) protectable() []*source.Access {
	var out []*source.Access
	for _, a := range p.Accesses {
		switch {
		case a.Mode == source.Initial, a.Function == nil:
		case p.isBeyond(a), p.isOfOtherSide(a):
		case source.IsGlobal(p.Variable.Object) && a.Function.Declaration().IsInit():
		case p.Facts.IsPrivate(a) && !p.named(a):
		case p.Variable.Function != nil && !p.captured(a):
		default:
			out = append(out, a)
		}
	}
	return out
}

// isBeyond reports whether an access stands in a test, which a patch of other code leaves as it is. What a test
// declares itself is not other code.
func (p *Problem) isBeyond(a *source.Access) bool {
	return a.File.Test && !p.named(a) && !p.isTestOnly()
}

// isTestOnly reports whether a test file declares the variable.
func (p *Problem) isTestOnly() bool {
	return ir.IsTestFile(p.Module.Fset.Position(p.Variable.Object.Pos()).Filename)
}

// inTest refuses findings of which a side is a read of a test itself, not of a goroutine of it. A
// test that looks at what its goroutine writes wants to have waited for it; a lock or an
// atomic would silence the race, and leave to chance what the test sees. Where it sleeps, waits for
// something else or asks in a loop, its author has left that to time.
func (p *Problem) inTest() error {
	for _, a := range p.Accesses {
		isBody := a.Function != nil && a.Function.Outer == nil && isTest(a.Function.Name())
		inFile := ir.IsTestFile(p.Module.Fset.Position(a.Expr.Pos()).Filename)
		if p.named(a) && inFile && isBody && a.Mode == source.Read && !p.waitsBefore(a) {
			return fmt.Errorf("%s: the test should wait for its goroutine, by a channel or a WaitGroup, before it uses %s",
				a.File.At(a.Expr), p.Variable)
		}
	}
	return nil
}

// waitsBefore reports whether a test waits between the first goroutine that uses the variable and an access, or makes
// the access in a loop.
func (p *Problem) waitsBefore(a *source.Access) bool {
	start := a.Expr.Pos()
	for _, other := range p.Accesses {
		if other.Function != a.Function && other.Function != nil {
			start = min(start, other.Function.Node.End())
		}
	}
	waits := false
	ast.Inspect(a.Function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		// time.Sleep(d), wg.Wait(), <-done
		case *ast.CallExpr:
			if start <= n.Pos() && n.End() <= a.Expr.Pos() {
				text := a.File.Text(n.Fun)
				waits = waits || text == "time.Sleep" || strings.HasSuffix(text, ".Wait")
			}
		case *ast.UnaryExpr, *ast.SelectStmt:
			waits = waits || source.IsWait(n) && start <= n.Pos() && n.End() <= a.Expr.Pos()
		case *ast.ForStmt:
			waits = waits || n.Pos() <= a.Expr.Pos() && a.Expr.Pos() < n.End() && start <= n.Pos()
		}
		return true
	})
	return waits
}

// isTest reports whether go test runs a function of the name.
func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark") || strings.HasPrefix(name, "Fuzz")
}

// captured reports whether a local is accessed where a closure may run at the
// same time: in a closure, or after the first one that uses it.
func (p *Problem) captured(a *source.Access) bool {
	if a.Function != p.Variable.Function {
		return true
	}
	for _, other := range p.Accesses {
		if other.Function != p.Variable.Function && other.Function != nil {
			lit := other.Function
			for lit.Outer != nil && lit.Outer != p.Variable.Function {
				lit = lit.Outer
			}
			if lit.Node.Pos() < a.Expr.Pos() || inLoopWith(lit.Node, a) {
				return true
			}
		}
	}
	return false
}

// inLoopWith reports whether one loop within the function holds both.
func inLoopWith(n ast.Node, a *source.Access) bool {
	return a.File.IsWithin(a.Expr, func(p ast.Node) bool {
		return source.IsLoop(p) && p.Pos() <= n.Pos() && n.End() <= p.End()
	})
}

// declaredIn is the package that declares the variable.
func (p *Problem) declaredIn() *source.Package {
	for _, q := range p.Module.Packages {
		if q.Path == p.Variable.Object.Pkg().Path() {
			return q
		}
	}
	return &source.Package{}
}

// copyNote returns the note on a patch that adds a lock or an atomic to an
// exported struct without one: its values must not be copied any more.
func (p *Problem) copyNote() []string {
	owner := p.Variable.Owner
	if owner == nil || !owner.Obj().Exported() || source.HoldsLock(owner, map[types.Type]bool{}) {
		return nil
	}
	return []string{fmt.Sprintf("%s is exported: values of it must not be copied any more, "+
		"and code outside the module may do so", owner.Obj().Name())}
}

// lockFor returns which lock protects an access, as source and as place.
type lockFor func(a *source.Access) (text, key string, err error)

// protectAll puts every one of the accesses under its lock, with the accesses
// of other variables under that lock that belong to them.
func (p *Problem) protectAll(edits *edit.Edits, accs []*source.Access, lock lockFor, rw bool,
	others *relatedVariables) (notes []string, err error) {
	type job struct {
		f    *source.Function
		text string
	}
	// One task for each function and lock.
	jobs := map[job]*critsec.Task{}
	var order []*critsec.Task
	for _, a := range accs {
		text, key, err := lock(a)
		if err != nil {
			return nil, err
		}
		f := a.Outermost()
		j := job{f, text}
		c := jobs[j]
		if c == nil {
			c = critsec.NewTask(p.Facts, f, edits)
			c.Variable, c.Lock, c.LockKey, c.HasRLock = p.Variable, text, key, rw
			if a.Base != nil {
				if at, ok := a.File.PathOf(a.Base); ok {
					c.Object = at.Key
				}
			}
			jobs[j] = c
			order = append(order, c)
		}
		c.Accesses[a.Expr] = a
	}
	for _, c := range order {
		c.Beside = map[ast.Expr]bool{}
		for _, q := range p.beside() {
			for _, a := range q.Accesses {
				c.Beside[a.Expr] = true
			}
		}
	}
	if err := critsec.OneObjectPerStatement(order); err != nil {
		return nil, err
	}
	// Regions must not call what takes the lock itself, once the patch is made.
	var locking []*source.Function
	for _, c := range order {
		locking = append(locking, c.Function)
	}
	takes := p.Facts.LeadTo(locking)
	// Each function is covered on its own; what stays two steps is noted or refused.
	for _, c := range order {
		c.Acquirers = takes
		if others != nil {
			others.addTo(c)
		}
		split, err := c.Protect()
		for _, torn := range c.Torn {
			err = cmp.Or(err, p.open(finding.Heavy, "if that changes in between, what is done then is wrong", torn.Err))
		}
		if err != nil {
			return nil, err
		}
		// What is decided by a read may no longer hold when it is done.
		slices.Sort(c.LateWrites)
		for _, text := range slices.Compact(c.LateWrites) {
			p.doubts = append(p.doubts, finding.Doubt{Obligation: "one step", Weight: finding.Heavy,
				Text: text + ": what others do in between may be lost, or done twice"})
		}
		if (c.TwoSteps || len(split) > 0) && p.wantsOneStep(c) {
			return nil, fmt.Errorf("%s: the load and the store that depends on it cannot be one region", c.Function.Name())
		}
		if c.TwoSteps && len(split) == 0 {
			split = []string{fmt.Sprintf("%s (%s): a read and a later write of %s are two steps, as they were; "+
				"neither depends on the other", c.Function.Name(), c.File.Path, p.Variable)}
		}
		slices.Sort(split)
		notes = append(notes, slices.Compact(split)...)
	}
	return notes, nil
}

// wantsOneStep reports whether an atomicity finding is about this function.
func (p *Problem) wantsOneStep(c *critsec.Task) bool {
	for _, f := range p.Findings {
		if f.Code != finding.LoadAndStore && f.Section == nil {
			continue
		}
		for _, a := range c.Accesses {
			if p.named(a) {
				return true
			}
		}
	}
	return false
}
