package strategy

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/critsec"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// holders are the functions that are to hold a lock from start to end: those that access what it guards. Some take it,
// the others are called by those alone:
//
//	func (c *cache) Add(k string, v int) {	// takes it
//		if len(c.m) == c.max {
//			c.evict()
//		}
//		c.m[k] = v
//	}
//
//	func (c *cache) evict() {	// is called under it
type holders struct {
	*Problem
	lock   *knownLock
	isNew  bool // nobody holds the lock yet
	climbs bool // an unexported function that others call without the lock has these take it, and gets no twin
	all    []*source.Function
	writes map[*source.Function]bool
	// What settle finds: the functions that take the lock, those of them that holders call as well, and these calls.
	takes []*source.Function
	twins []*source.Function
	held  []heldCall
}

// heldCall is a call of a holder by another one.
type heldCall struct {
	source.Call
	callee *source.Function
}

// takeAtStart has the functions with the accesses hold a lock from start to end. Where not all that call an
// unexported one without the lock can take it, that gets a twin.
func (p *Problem) takeAtStart(accs []*source.Access, lock *knownLock, isNew bool) (*edit.Edits, error) {
	var first error
	for _, climbs := range []bool{true, false} {
		edits := edit.New()
		h, err := p.holdersOf(accs, lock, isNew, climbs)
		if err == nil {
			err = h.edit(edits)
		}
		if err == nil {
			return edits, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

// holdersOf finds the holders for accesses.
func (p *Problem) holdersOf(accs []*source.Access, lock *knownLock, isNew, climbs bool) (*holders, error) {
	h := &holders{Problem: p, lock: lock, isNew: isNew, climbs: climbs, writes: map[*source.Function]bool{}}
	for _, a := range accs {
		f := a.Outermost()
		if f == nil || f.Outer != nil {
			return nil, errors.New("an access is in a function literal, which may run at another time")
		}
		isDoubt := p.Bold && a.Mode == source.Alias // the judge has that
		if err := critsec.Coverable(p.Variable, a); err != nil && (isNew || p.Variable.Within) && !isDoubt {
			return nil, err
		}
		h.add(f)
		h.writes[f] = h.writes[f] || a.Mode != source.Read
	}
	for {
		n := len(h.all)
		if err := h.settle(); err != nil {
			return nil, err
		}
		if n == len(h.all) {
			break
		}
	}
	h.spreadWrites()
	return h, nil
}

func (h *holders) add(f *source.Function) {
	if !slices.Contains(h.all, f) {
		h.all = append(h.all, f)
	}
}

// settle decides for each holder whether it takes the lock. Callers that have to take it for one become holders.
func (h *holders) settle() error {
	h.takes, h.twins, h.held = nil, nil, nil
	for _, f := range slices.Clone(h.all) {
		held, free, isOpen, err := h.callsOf(f)
		switch {
		case err != nil:
			return err
		case len(held) == 0:
			h.takes = append(h.takes, f)
		case isOpen || len(free) > 0 && !h.climbs:
			h.takes, h.twins = append(h.takes, f), append(h.twins, f)
		default:
			for _, call := range free {
				if call.In.Outer != nil {
					return fmt.Errorf("a function literal calls %s, which may run at another time", f.Name())
				}
				h.add(call.In)
				h.writes[call.In] = h.writes[call.In] || h.writes[f]
			}
		}
		for _, call := range held {
			h.held = append(h.held, heldCall{call, f})
		}
	}
	return nil
}

// callsOf sorts the calls of a holder: those under the lock, and those without it. It is open to others if it is
// exported, used as a value, or a literal of a package variable. An object that the caller has just made needs no lock.
func (h *holders) callsOf(f *source.Function) (held, free []source.Call, isOpen bool, err error) {
	calls, asValue := h.Module.References(f)
	for _, call := range calls {
		if call.In == nil || call.In.File.Test || !call.IsGo() && h.isOnFresh(f, call) {
			continue
		}
		// A literal that runs on the spot belongs to what is around it.
		from := call.In
		for from.Outer != nil && from.File.RunsAt(from) != nil {
			from = from.Outer
		}
		isIn := slices.Contains(h.all, from.Declaration())
		switch {
		case call.IsGo():
			free = append(free, source.Call{In: from, Expr: call.Expr})
		case isIn && from.Outer != nil:
			if _, isGo := from.File.Parents[from.File.Parents[from.Node]].(*ast.GoStmt); !isGo {
				return nil, nil, false, fmt.Errorf("%s: a function literal calls %s, perhaps under the lock",
					from.File.At(call.Expr), f.Name())
			}
			free = append(free, source.Call{In: from, Expr: call.Expr})
		case isIn && !h.isSameObject(f, from, call):
			return nil, nil, false, fmt.Errorf("%s: %s calls %s for another object", from.File.At(call.Expr), from.Name(),
				f.Name())
		case isIn || !h.isNew && h.Facts.MayHold(from.File, call.Expr, h.lock.class):
			held = append(held, source.Call{In: from, Expr: call.Expr})
		default:
			free = append(free, source.Call{In: from, Expr: call.Expr})
		}
	}
	if asValue && len(held) > 0 {
		return nil, nil, false, fmt.Errorf("%s is called with the lock, and others may call it without", f.Name())
	}
	return held, free, asValue || f.Object == nil || f.Object.Exported(), nil
}

// isSameObject reports whether a holder calls another one for the object whose lock it holds.
func (h *holders) isSameObject(f, from *source.Function, call source.Call) bool {
	own, other := h.lock.param(from), h.lock.param(f)
	if h.lock.owner == nil {
		return true // a package variable
	}
	args := f.Arguments(call.Expr)
	i := slices.Index(f.Params(), other)
	if own == nil || other == nil || i >= len(args) {
		return false
	}
	id, ok := ast.Unparen(args[i]).(*ast.Ident)
	return ok && from.File.Package.Info.ObjectOf(id) == own
}

// spreadWrites has the callers of a holder that writes take the write side.
func (h *holders) spreadWrites() {
	for range h.all {
		for _, call := range h.held {
			f := call.In.Declaration()
			h.writes[f] = h.writes[f] || h.writes[call.callee]
		}
	}
}

// edit has the holders take the lock.
func (h *holders) edit(edits *edit.Edits) error {
	// All that they do comes under it, except the calls of each other.
	own := map[*ast.CallExpr]bool{}
	for _, call := range h.held {
		own[call.Expr] = true
	}
	takes := h.Facts.LeadTo(h.takes)
	for _, f := range h.all {
		if h.lock.isUsedIn(f) {
			return ErrNoVariant
		}
		if !h.isNew && h.Facts.IsHeldAround(f, h.lock.class) {
			continue // its author has decided that it may be
		}
		if why := h.reasonApart(f, h.lock.class, own, takes); why != "" {
			return fmt.Errorf("%s %s", f.Name(), why)
		}
	}
	names := map[*source.Function]string{}
	for _, f := range h.takes {
		text, err := h.lock.atStart(f)
		if err != nil {
			return err
		}
		side := ""
		if h.lock.hasRLock && !h.writes[f] {
			side = "R"
		}
		first := fmt.Sprintf("%s.%sLock()\ndefer %s.%sUnlock()", text, side, text, side)
		if !slices.Contains(h.twins, f) {
			edits.AtStart(f, first)
			continue
		}
		from := f.File.EndOfLine(f.Body.Lbrace + 1)
		if names[f], err = Twin(edits, f, from, "\n\t"+strings.ReplaceAll(first, "\n", "\n\t"), text); err != nil {
			return err
		}
	}
	for _, call := range h.held {
		if name := names[call.callee]; name != "" {
			CallTwin(edits, call.In.File, call.Expr, name)
		}
	}
	return nil
}
