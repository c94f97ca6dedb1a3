package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

// ReportWaits reports the endless waits of the reporter's code, except at
// places where the check has reported before.
func (r *Reporter) ReportWaits(list *waits.Result) {
	if r.code == finding.EndlessWait { // once for all checks that read them
		r.result.Problems = append(r.result.Problems, list.Problems...)
	}
	for _, w := range list.Waits {
		if w.Code != r.code {
			continue
		}
		f := &finding.Finding{Message: w.Why, Variable: waitVariable(list.Prog, w.Side)}
		switch {
		case w.Guessed:
			f.Status = finding.Lead
		case w.LeftBehind:
			f.Class = string(finding.EndlessWait) + finding.LeftBehind
		}
		f.Title = fmt.Sprintf("%s of %s may wait for ever", w.Mode, ShortName(f.Variable))
		if w.Select {
			f.Title = fmt.Sprintf("select with %s may wait for ever", ShortName(f.Variable))
		}
		switch r.code {
		case finding.CloseRaces:
			f.Title = fmt.Sprintf("%s of %s may find it closed", w.Mode, ShortName(f.Variable))
		case finding.OutlivesTest:
			f.Title = fmt.Sprintf("%s may be used after the end of the test", ShortName(f.Variable))
		case finding.LostUnlock:
			f.Title = fmt.Sprintf("%s may stay locked", ShortName(f.Variable))
		}
		var notes []Note
		sides := slices.DeleteFunc(append([]waits.Side{w.Side}, w.Others...), hasNoPlace)
		for _, s := range sides {
			f.Accesses = append(f.Accesses, SideAt(list.Prog, s.Fn, s.Pos, s.Mode, sideText(list.Prog, s)))
			switch {
			case s.Held:
				notes = append(notes, Note{Pos: s.Pos, Text: "a lock that is waited for is held since here"})
			case s.Mode == finding.CloseChan && s.Pos != w.Pos:
				notes = append(notes, Note{Pos: s.Pos, Text: "closed here"})
			case s.Pos != w.Pos:
				notes = append(notes, Note{Pos: s.Pos, Text: string(s.Mode) + " here waits, too"})
			}
		}
		if !r.reported(f.Accesses[0].Position) && !r.relocked(f.Accesses, sides) {
			r.ReportAt(f, w.Pos, notes...)
		}
	}
}

// sideText returns an operation as the source writes it: a select, which waits for several operations, or its
// operand.
func sideText(prog *ir.Program, s waits.Side) string {
	if s.Select {
		return "select"
	}
	if text := operandText(s.Fn, s.Pos); text != "" {
		return text
	}
	return waitVariable(prog, s).Name
}

// hasNoPlace reports whether the source has no place for a side: it is in the method that a method value calls.
func hasNoPlace(s waits.Side) bool { return !s.Pos.IsValid() && s.Fn.Syntax() == nil }

// relocked reports whether a finding has said already that the lock is acquired again which was acquired at one of the
// places.
func (r *Reporter) relocked(places []finding.Access, sides []waits.Side) bool {
	if r.code != finding.DoubleLock && r.code != finding.ReadLockAgain {
		return false
	}
	for i, s := range sides {
		if s.Held && r.reported(places[i].Position) {
			return true
		}
	}
	return false
}

// reported reports whether a finding has p as a side.
func (r *Reporter) reported(p finding.Position) bool {
	return slices.ContainsFunc(r.result.Findings, func(f *finding.Finding) bool {
		return slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return a.File == p.File && a.Line == p.Line })
	})
}

// waitVariable returns the operand of an operation as findings name it.
func waitVariable(prog *ir.Program, s waits.Side) finding.Variable {
	v := finding.Variable{Package: prog.Pkg.Pkg.Path(), Kind: "channel"}
	switch {
	case s.Mode == finding.Lock || s.Mode == finding.ReadLock:
		v.Kind = "lock"
	case s.Mode == finding.Wait:
		v.Kind = "waitgroup"
	case s.Mode == finding.Call: // of a method of a test
		v.Kind = "local"
	}
	if s.On != nil {
		if n, ok := accesspath.NameOf(s.On); ok {
			v.Package, v.Type, v.Name = n.Package, n.Type, n.Field
			return v
		}
	}
	v.Function, v.Name = prog.FuncName(ir.Outermost(s.Fn)), operandText(s.Fn, s.Pos)
	if v.Name == "" && s.On != nil {
		v.Name = accesspath.Of(s.On).String()
	}
	if v.Name == "" {
		v.Name = "select"
	}
	return v
}

// operandText returns the channel, lock or WaitGroup of the operation at pos as the source writes it.
func operandText(fn *ssa.Function, pos token.Pos) string {
	text := ""
	if fn.Syntax() == nil {
		return text
	}
	ast.Inspect(fn.Syntax(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.OpPos == pos {
				text = ir.Text(n.X)
			}
		case *ast.SendStmt:
			if n.Arrow == pos {
				text = ir.Text(n.Chan)
			}
		case *ast.RangeStmt:
			if n.For == pos {
				text = ir.Text(n.X)
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && n.Lparen == pos {
				text = ir.Text(sel.X)
			} else if n.Lparen == pos && len(n.Args) > 0 {
				text = ir.Text(n.Args[0])
			}
		}
		return text == ""
	})
	return text
}
