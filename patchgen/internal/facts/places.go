package facts

import (
	"fmt"
	"go/ast"
	"go/token"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// code is one package, by position.
type code struct {
	pkg       *session.Package
	isTest    bool                              // it was analysed for its tests
	functions map[token.Pos]*ssa.Function       // by where their syntax begins
	calls     map[token.Pos]ssa.CallInstruction // by the opening parenthesis
	points    map[token.Pos]point
}

// codeOf returns the package of a file, with its tests for a file of these; nil where it could not be analysed.
func (f *Facts) codeOf(file *source.File) *code {
	if known, ok := f.files[file]; ok {
		return known
	}
	isIn := func(p *session.Package) bool {
		start := file.Syntax.FileStart
		return p != nil && slices.ContainsFunc(p.Files, func(x *ast.File) bool { return x.FileStart == start })
	}
	p := f.Package(file.Package.Path)
	isTest := !isIn(p)
	if isTest {
		p = f.Tests(file.Package.Path)
	}
	if isIn(p) {
		if f.indexes[p] == nil {
			f.packages[p.IR.Pkg.Prog] = p
			f.indexes[p] = newCode(p, isTest)
		}
		f.files[file] = f.indexes[p]
	} else {
		f.files[file] = nil
	}
	return f.files[file]
}

// newCode indexes the instructions of a package by position. Where several have the same one, a load, store or call
// counts more than the address that it uses: the operands of a statement are evaluated before it, and a call among them
// may take a lock.
func newCode(p *session.Package, isTest bool) *code {
	c := &code{pkg: p, isTest: isTest, functions: map[token.Pos]*ssa.Function{},
		calls: map[token.Pos]ssa.CallInstruction{}, points: map[token.Pos]point{}}
	for _, fn := range p.IR.Funcs {
		if fn.Syntax() != nil {
			c.functions[fn.Syntax().Pos()] = fn
		}
		for instr := range ir.Instructions(fn) {
			if call, ok := instr.(ssa.CallInstruction); ok && call.Common().Pos().IsValid() {
				c.calls[call.Common().Pos()] = call
			}
		}
		p.Locks.Walk(fn, func(instr ssa.Instruction, locks *lockset.State) {
			pos := instr.Pos()
			if old, seen := c.points[pos]; pos.IsValid() && (!seen || isAddress(old.instr)) {
				c.points[pos] = point{p, instr, locks}
			}
		})
	}
	return c
}

// functionAround returns the innermost function around n; a loop over a function is the one that its body is compiled
// to.
func (f *Facts) functionAround(file *source.File, n ast.Node) *ssa.Function {
	code := f.codeOf(file)
	for child := n; code != nil && child != nil; child = file.Parents[child] {
		parent := file.Parents[child]
		if parent == nil {
			return nil
		}
		fn := code.functions[parent.Pos()]
		switch parent := parent.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return fn
		case *ast.RangeStmt:
			if fn != nil && child == ast.Node(parent.Body) {
				return fn
			}
		}
	}
	return nil
}

// evaluates returns the instructions of a function, calls apart, that run when what stands from one position to another
// is evaluated.
func evaluates(fn *ssa.Function, from, to token.Pos) iter.Seq[ssa.Instruction] {
	return func(yield func(ssa.Instruction) bool) {
		for instr := range ir.Instructions(fn) {
			pos := instr.Pos()
			if call, ok := instr.(ssa.CallInstruction); ok {
				pos = call.Common().Pos()
			}
			if from <= pos && pos < to && !yield(instr) {
				return
			}
		}
	}
}

// Blocks returns why n must not be evaluated under a new lock: it may wait, do I/O, use another lock, where a new
// region ends, or call code that is not known here. "" if nothing speaks against it. Function literals count only where
// they are run on the spot; what go and defer start counts with its operands alone.
func (f *Facts) Blocks(file *source.File, n ast.Node) string { return f.BlocksWith(file, n, nil) }

// BlocksWith is Blocks where some functions take the lock too, once the patch is made.
func (f *Facts) BlocksWith(file *source.File, n ast.Node, takes map[*ssa.Function]bool) string {
	if n == nil {
		return ""
	}
	if endlessIn(n) {
		return "loops without end"
	}
	return f.blocks(file, n, n.Pos(), n.End(), takes)
}

// HeaderBlocks is Blocks for what a loop is over, its body apart.
func (f *Facts) HeaderBlocks(file *source.File, loop *ast.RangeStmt) string {
	return f.blocks(file, loop, loop.Pos(), loop.Body.Pos(), nil)
}

// notAnalysed is the reason where nothing is known of a place.
const notAnalysed = "stands in code that was not analysed"

func (f *Facts) blocks(file *source.File, n ast.Node, from, to token.Pos, takes map[*ssa.Function]bool) string {
	fn := f.functionAround(file, n)
	if fn == nil {
		return notAnalysed
	}
	for instr := range evaluates(fn, from, to) {
		if _, isDefer := instr.(*ssa.Defer); isDefer {
			continue
		}
		if why := f.newReason(instr, takes); why != "" {
			return why
		}
	}
	// The call of the iterator has no position of its own.
	for _, body := range fn.AnonFuncs {
		if strings.HasPrefix(body.Synthetic, "range-over-func") && from <= body.Pos() && body.Pos() < to {
			return "ranges over a function"
		}
	}
	return ""
}

// newReason returns why an instruction must not come under a new lock that some functions take.
func (f *Facts) newReason(instr ssa.Instruction, takes map[*ssa.Function]bool) string {
	isTaking := func(fn *ssa.Function) bool { return takes[fn] }
	call, isCall := runsNow(instr)
	if isCall && len(takes) > 0 && slices.ContainsFunc(f.Calls.Runs(call), isTaking) {
		return fmt.Sprintf("calls %s, which takes the lock too", f.CallText(call))
	}
	return f.anew.Does(instr)
}

// CallReason returns why a call may not be made under a new lock that some functions take, its operands apart.
func (f *Facts) CallReason(file *source.File, call *ast.CallExpr, takes map[*ssa.Function]bool) string {
	code := f.codeOf(file)
	switch {
	case code == nil:
		return notAnalysed
	case code.calls[call.Lparen] == nil: // a conversion, or code that never runs
		return ""
	}
	return f.newReason(code.calls[call.Lparen], takes)
}

// Runs lists the functions of the module that a call may run.
func (f *Facts) Runs(file *source.File, call *ast.CallExpr) []*ssa.Function {
	if code := f.codeOf(file); code != nil && code.calls[call.Lparen] != nil {
		return f.Calls.Runs(code.calls[call.Lparen])
	}
	return nil
}

// LeadTo returns the functions of the module that may come to run one of the targets, these included. What they start
// by go does not count.
func (f *Facts) LeadTo(targets []*source.Function) map[*ssa.Function]bool {
	lead := map[*ssa.Function]bool{}
	var work []*ssa.Function
	add := func(fn *ssa.Function) {
		if fn != nil && !lead[fn] {
			lead[fn] = true
			work = append(work, fn)
		}
	}
	for _, target := range targets {
		if code := f.codeOf(target.File); code != nil {
			add(code.functions[target.Node.Pos()])
		}
	}
	callers := f.callers()
	for ; len(work) > 0; work = work[1:] {
		for _, caller := range callers[work[0]] {
			add(caller)
		}
	}
	return lead
}

// callers lists for each function of the module those that may run it.
func (f *Facts) callers() map[*ssa.Function][]*ssa.Function {
	callers := map[*ssa.Function][]*ssa.Function{}
	for _, p := range f.packages {
		for _, fn := range p.IR.Funcs {
			for instr := range ir.Instructions(fn) {
				call, ok := runsNow(instr)
				if !ok {
					continue
				}
				for _, callee := range f.Calls.Runs(call) {
					callers[callee] = append(callers[callee], fn)
				}
			}
		}
	}
	return callers
}

// LeadsTo reports whether a call of one function of the module may come to run another.
func (f *Facts) LeadsTo(from, to *source.Function) bool {
	code := f.codeOf(from.File)
	return code != nil && f.LeadTo([]*source.Function{to})[code.functions[from.Node.Pos()]]
}
