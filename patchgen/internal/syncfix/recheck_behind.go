package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// behind is a test and a use of which one or both are made by a short function that takes the lock itself.
type behind struct {
	*sections
	getter, setter *accessor // nil for the half that the function makes itself
	test           *ast.IfStmt
	read           *ast.AssignStmt // the test is of its result; nil where the test reads by itself
	copies         []string        // lines that compute arguments of the setter before the lock
}

// isBehind reports whether the test or the use of a finding is made by a callee.
func (p *Problem) isBehind() bool {
	return slices.ContainsFunc(p.Findings, func(f *finding.Finding) bool {
		return f.Section != nil && (f.Section.EntryCall != nil || f.Section.EndCall != nil)
	})
}

// recheckBehind writes out the statements of a setter, under the lock, behind a second look in place of the getter's:
//
//	if c.get(k) == nil {		if c.get(k) == nil {
//		c.put(k, build())	->		built := build()
//	}						c.mu.Lock()
//							if c.entries[k] == nil {
//								c.entries[k] = built
//							}
//							c.mu.Unlock()
//						}
//
// Obligation: [validate.OneStep].
func (p *Problem) recheckBehind() (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.OneStep}
	done := map[ast.Stmt]bool{}
	var spelled []*accessor
	for _, f := range p.Findings {
		if f.Section == nil {
			return nil, errors.New("the finding names no section")
		}
		for _, section := range append([]finding.Section{*f.Section}, f.Section.Also...) {
			b, err := p.behindOf(section)
			if err != nil {
				return nil, err
			}
			if done[b.list[b.second]] {
				continue
			}
			done[b.list[b.second]] = true
			b.edits, claim.Lock = edits, b.lock.Path.Class
			if err := b.lookAgain(); err != nil {
				return nil, err
			}
			spelled = append(spelled, b.setter)
		}
		claim.Variable = validate.Variable{Package: f.Variable.Package, Type: f.Variable.Type, Name: f.Variable.Name}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim, Notes: p.unused(spelled)}, err
}

// unused notes the setters that nobody calls any more.
func (p *Problem) unused(spelled []*accessor) (notes []string) {
	for _, a := range spelled {
		if a == nil {
			continue
		}
		calls, asValue := p.Module.References(a.callee)
		calls = slices.DeleteFunc(calls, func(c source.Call) bool {
			return slices.ContainsFunc(spelled, func(s *accessor) bool { return s != nil && s.call == c.Expr })
		})
		note := fmt.Sprintf("%s is not called any more", a.callee.Name())
		if len(calls) == 0 && !asValue && !a.callee.Object.Exported() && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// behindOf finds the test and the use of a section.
func (p *Problem) behindOf(of finding.Section) (*behind, error) {
	b := &behind{sections: &sections{Problem: p}}
	entry, getter, err := p.half(of.Entry, of.EntryCall)
	if err != nil {
		return nil, err
	}
	end, setter, err := p.half(of.End, of.EndCall)
	if err != nil {
		return nil, err
	}
	b.getter, b.setter, b.entry = getter, setter, entry.path[0]
	if getter != nil {
		b.entry = getter.call
	}
	b.file, b.function = end.file, end.function()
	if entry.file != end.file || entry.function() != b.function || b.function == nil {
		return nil, fmt.Errorf("%s: the test and the use are in two functions", of.End)
	}
	if err := b.findTest(); err != nil {
		return nil, err
	}
	return b, b.findUse(end)
}

// half returns where a function tests or uses, and the accessor that it calls for that.
func (p *Problem) half(access finding.Position, call *finding.Position) (at place, a *accessor, err error) {
	if at, err = p.at(access); err != nil || call == nil {
		return at, nil, err
	}
	inner := at.function()
	if at, err = p.at(*call); err != nil {
		return at, nil, err
	}
	expr, ok := innermost[*ast.CallExpr](at)
	if !ok {
		return at, nil, fmt.Errorf("%s: no call stands there", call)
	}
	if a, err = accessorOf(at.file, expr); err != nil {
		return at, nil, err
	}
	if a.callee != inner {
		return at, nil, fmt.Errorf("%s: %s calls another function for that", call, a.callee.Name())
	}
	if a.lock == nil {
		return at, nil, fmt.Errorf("%s: %s takes no lock", call, a.callee.Name())
	}
	return at, a, nil
}

// findTest finds the test: if c.get(k) == nil, if e := c.get(k); e == nil, or an if statement behind e := c.get(k).
func (b *behind) findTest() error {
	stmt := b.file.StmtOf(b.entry)
	switch s := stmt.(type) {
	case *ast.IfStmt:
		b.test = s
		inCond := s.Cond.Pos() <= b.entry.Pos() && b.entry.End() <= s.Cond.End()
		if b.read, _ = s.Init.(*ast.AssignStmt); (b.read == nil) != inCond || s.Init != nil && b.read == nil {
			return fmt.Errorf("%s: the test has an init statement of its own", b.file.At(s))
		}
		return nil
	case *ast.AssignStmt:
		b.read = s
		results := b.file.LocalsIn(&ast.CompositeLit{Elts: s.Lhs})
		list := source.ListOf(b.file, s)
		for _, next := range list[slices.Index(list, stmt)+1:] {
			test, ok := next.(*ast.IfStmt)
			isTested := func(id *ast.Ident) bool { return results[b.object(id)] }
			if ok && test.Init == nil && b.firstIdent(test.Cond, isTested) != nil {
				b.test = test
				return nil
			}
		}
	}
	return fmt.Errorf("%s: no if statement tests what is read", b.file.At(b.entry))
}

// findUse finds the second critical section, in the branch of the test or behind a test that leaves the function.
func (b *behind) findUse(end place) error {
	stmt := b.file.StmtOf(end.path[0])
	b.list = source.ListOf(b.file, stmt)
	b.second = slices.Index(b.list, stmt)
	if b.setter != nil {
		if es, ok := stmt.(*ast.ExprStmt); !ok || es.X != ast.Expr(b.setter.call) || b.setter.ret != nil {
			return fmt.Errorf("%s: %s is more than a setter", b.file.At(stmt), b.setter.callee.Name())
		}
		b.lock = *b.setter.lock
	} else if !b.lockBefore() {
		return fmt.Errorf("%s: no Lock stands before the use in its list of statements", b.file.At(stmt))
	}
	if b.lock.Read {
		return fmt.Errorf("%s: the use is under a read lock", b.file.At(stmt))
	}
	switch parent := b.file.Parents[stmt]; {
	case parent == ast.Node(b.test.Body):
		b.branch = b.test
	case parent == b.file.Parents[b.test] && b.test.End() < stmt.Pos() && b.test.Else == nil && b.returns():
	default:
		return fmt.Errorf("%s: the test neither leads to the use nor leaves the function", b.file.At(b.test))
	}
	return b.isOneLock()
}

// lockBefore finds the Lock before the use in its list of statements.
func (b *behind) lockBefore() bool {
	for i := b.second - 1; i >= 0; i-- {
		op, ok := lockOpOf(b.file, b.list[i])
		if ok && op.Acquire {
			b.second, b.lock = i, op
			b.deferred = releasesDeferred(b.file, b.list[i+1], op)
			return true
		}
		if ok {
			return false
		}
	}
	return false
}

// returns reports whether the test returns.
func (b *behind) returns() bool {
	body := b.test.Body.List
	if len(body) == 0 {
		return false
	}
	_, ok := body[len(body)-1].(*ast.ReturnStmt)
	return ok
}

// lockText returns the lock of an accessor in the words of the caller.
func (a *accessor) lockText() (string, error) { return a.spell(a.lock.Expr) }

// isOneLock returns an error where getter and setter take two locks.
func (b *behind) isOneLock() error {
	second := b.file.Text(b.lock.Expr)
	var err error
	if b.setter != nil {
		if second, err = b.setter.lockText(); err != nil {
			return err
		}
	}
	if b.getter == nil {
		return nil // which the analysis has seen
	}
	first, err := b.getter.lockText()
	if err == nil && first != second {
		err = fmt.Errorf("%s: the test is under %s and the use under %s", b.file.At(b.entry), first, second)
	}
	return err
}
