package ir

import (
	"cmp"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// WorkLimit is how many steps a pass may make for one function. A step is the cost
// of an instruction or a pair of accesses, so the limit is about a second. No
// function of the modules of `make cost` needs a fifth of it. It is a variable
// for tests.
var WorkLimit = 100_000_000

// Work is the steps that a pass may still make for one function.
type Work struct{ left int }

// exhausted is the panic by which a pass leaves a function that has cost too much.
type exhausted struct{}

// Spend takes n steps off. When none are left, it does not return: the pass is
// done with the function, and [Program.Each] goes on with the next.
func (w *Work) Spend(n int) {
	if w.left -= n; w.left < 0 {
		panic(exhausted{})
	}
}

// Abandoned is a pass and a function that it did not finish, and how many more it left with it.
type Abandoned struct {
	Pass     string
	Function *ssa.Function
	More     int
}

// Each runs body, a pass, on every function of the package. A function for
// which it needs more than [WorkLimit] steps is left, and noted: the results up to
// then stand, the rest is missing.
func (p *Program) Each(pass *analysis.Pass, body func(*ssa.Function, *Work)) {
	p.EachOf(pass, p.Funcs, body)
}

// EachOf is Each in the order of funcs.
func (p *Program) EachOf(pass *analysis.Pass, funcs []*ssa.Function, body func(*ssa.Function, *Work)) {
	for _, fn := range funcs {
		p.Proceed()
		if !Finishes(fn, body) {
			p.GiveUp(pass, fn)
		}
	}
}

// Finishes runs body on fn with [WorkLimit] steps, and reports whether it came to its end.
func Finishes(fn *ssa.Function, body func(*ssa.Function, *Work)) (done bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(exhausted); !ok {
				panic(v)
			}
		}
	}()
	body(fn, &Work{WorkLimit})
	return true
}

// GiveUp notes that a pass has left fn for its size.
func (p *Program) GiveUp(pass *analysis.Pass, fn *ssa.Function) { p.GiveUpFrom(pass, fn, 0) }

// GiveUpFrom notes that a pass has left fn, and so many more functions, for the size of the package.
func (p *Program) GiveUpFrom(pass *analysis.Pass, fn *ssa.Function, more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.abandoned = append(p.abandoned, Abandoned{pass.Analyzer.Name, fn, more})
}

// Abandoned lists the functions that passes did not finish so far, by pass and position.
func (p *Program) Abandoned() []Abandoned {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.Clone(p.abandoned)
	slices.SortFunc(list, func(a, b Abandoned) int {
		return cmp.Or(cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Function.Pos(), b.Function.Pos()))
	})
	return slices.Compact(list)
}
