package syncfix

import (
	"go/ast"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// callsUnderLock returns the frames of a goroutine from the place where it waits for a lock outwards to the function
// that has taken it, with where that did; none where that function is not on the stack.
func (p *Problem) callsUnderLock(f *finding.Finding, a finding.Access) (frames []finding.Frame, since finding.Holder) {
	if a.Goroutine == nil || f.Evidence == nil {
		return nil, since
	}
	if len(f.Evidence.Holders) == 0 {
		return p.callsUnderHeld(a)
	}
	for i, frame := range a.Goroutine.Stack {
		for _, h := range f.Evidence.Holders {
			fn := p.functionOn(frame)
			if i > 0 && fn != nil && h.File == frame.File &&
				p.functionOn(finding.Frame{File: h.File, Line: h.Line}) == fn {
				return a.Goroutine.Stack[:i+1], h
			}
		}
	}
	return nil, since
}

// callsUnderHeld is callsUnderLock for a goroutine whose run has not named a holder: where the source shows that one of
// its functions holds such a lock at the call that leads to the wait.
func (p *Problem) callsUnderHeld(a finding.Access) (frames []finding.Frame, since finding.Holder) {
	at, err := p.at(a.Position)
	if err != nil {
		return nil, since
	}
	op, ok := lockTakenAt(at)
	if !ok || op.Path.Class == "" {
		return nil, since
	}
	// Outwards, to a function that takes such a lock, and holds it at its call.
	for i, frame := range a.Goroutine.Stack {
		fn := p.functionOn(frame)
		if i == 0 || fn == nil {
			continue
		}
		isHeld, taken := false, (*ast.CallExpr)(nil)
		fn.EachCall(func(call *ast.CallExpr) {
			line := fn.File.Line(call.Rparen)
			isHeld = isHeld || line == frame.Line && p.Facts.SurelyHolds(fn.File, call, op.Path.Class)
			lock, isOp := fn.File.LockOp(call)
			if isOp && lock.Acquire && lock.Path.Class == op.Path.Class && line < frame.Line {
				taken = call
			}
		})
		if isHeld && taken != nil {
			at := p.Module.Fset.PositionFor(taken.Pos(), false)
			return a.Goroutine.Stack[:i+1], finding.Holder{
				Position: finding.Position{File: fn.File.Path, Line: at.Line, Column: at.Column}}
		}
	}
	return nil, since
}

// functionOn returns the innermost function of the module around a line; nil if there is none.
func (p *Problem) functionOn(frame finding.Frame) (best *source.Function) {
	file, err := p.Module.File(frame.File)
	if err != nil {
		return nil
	}
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		f := p.Module.FunctionAt(n)
		if f != nil && file.Line(n.Pos()) <= frame.Line && frame.Line <= file.Line(n.End()) {
			best = f
		}
		return true
	})
	return best
}
