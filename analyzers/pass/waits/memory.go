package waits

import (
	"crypto/sha256"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/simulation"
)

// memory is which scopes of a package are known to have nothing to report, from this run and
// the one before. A scope is simulated from the code of the functions that it touches and
// from the declarations of the package, and from nothing else: as long as these are the
// same, so is its result. Results that report something refer to the program that they were
// found in, and are not kept.
type memory struct {
	prog   *ir.Program
	texts  *ir.Texts
	before *kept // nil: nothing
	now    *kept
	keep   func() // has the driver remember now
}

// kept is the data that outlives a run. It holds nothing of the program.
type kept struct {
	frame  [sha256.Size]byte
	scopes map[scopeKey]scope
}

// scopeKey names a scope in all runs.
type scopeKey struct {
	root    string
	shallow bool
}

// scope is a simulation that has found nothing.
type scope struct {
	limit, steps int // at most, and made
	cut          bool
	touched      map[string][sha256.Size]byte // code, by the name of the function
}

// recall returns the memory of earlier runs; nil if the driver lends none.
func recall(prog *ir.Program, pass *analysis.Pass) *memory {
	lent := prog.Memory()
	if lent == nil {
		return nil
	}
	texts, err := ir.ReadTexts(pass)
	if err != nil { // scopes that are not remembered are simulated
		return nil
	}
	m := &memory{prog: prog, texts: texts, now: &kept{texts.Frame, map[scopeKey]scope{}}}
	if v, ok := lent.Load(pass.Analyzer.Name); ok && v.(*kept).frame == texts.Frame {
		m.before = v.(*kept)
	}
	m.keep = func() { lent.Store(pass.Analyzer.Name, m.now) }
	return m
}

// handOn hands the memory on to the next run.
func (m *memory) handOn() {
	if m != nil {
		m.keep()
	}
}

// result returns that of a scope that is known to have nothing to report; nil if it is not.
func (m *memory) result(s simulation.Scope) *simulation.Result {
	if m == nil || m.before == nil {
		return nil
	}
	key := scopeKey{m.prog.FuncName(s.Root), s.Shallow}
	was, ok := m.before.scopes[key]
	if !ok || was.limit != s.Steps {
		return nil
	}
	for name, text := range was.touched {
		if m.texts.Named(name) != text {
			return nil
		}
	}
	m.now.scopes[key] = was
	return &simulation.Result{Steps: was.steps, Cut: was.cut}
}

// keepResult keeps the result of a simulation.
func (m *memory) keepResult(s simulation.Scope, r *simulation.Result) {
	if m == nil || len(r.Ends)+len(r.Crashes)+len(r.Races)+len(r.Late) > 0 {
		return
	}
	known := scope{s.Steps, r.Steps, r.Cut, map[string][sha256.Size]byte{}}
	for fn := range r.Touched {
		if name, text, ok := m.texts.Of(fn); ok {
			known.touched[name] = text
		}
	}
	m.now.scopes[scopeKey{m.prog.FuncName(s.Root), s.Shallow}] = known
}
