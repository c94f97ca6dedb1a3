package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// handDown hands the value of a field down to a function that is called under the field's lock by some and without it
// by others, and asks a getter for the value, which takes the lock again:
//
//	func (c *client) sign(ch string, id string) string {	<- id is new
//		return id + ch					<- was c.ID() + ch
//	}
//
//	c.mu.Lock()						c.sign(ch, c.ID())	<- elsewhere
//	defer c.mu.Unlock()
//	c.sign(ch, c.id)
//
// It applies where a run has shown the calls that lead from the lock to the getter. Obligation: [validate.LockedOnce].
func handDown(p *Problem) (*strategy.Patch, error) {
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Goroutine == nil || f.Evidence == nil || a.Mode != finding.Lock && a.Mode != finding.ReadLock {
				continue
			}
			h, err := p.handing(f, a)
			if err != nil {
				return nil, err
			}
			return h.build()
		}
	}
	return nil, strategy.NotMeant("no run has shown the calls that lead to the second Lock")
}

// handing is the work on one getter that is called under its own lock.
type handing struct {
	*Problem
	edits  *edit.Edits
	getter *source.Function
	body   lockedBody
	field  *ast.SelectorExpr           // that the getter returns
	chain  map[*source.Function]bool   // called one by another, from the holder of the lock to the getter
	last   *source.Function            // calls the getter
	object map[*source.Function]string // behind the receiver of a function, to the object of the getter: ".client"
}

// handing finds the getter, and the functions between the holder of the lock and it, on the stack of a goroutine.
func (p *Problem) handing(f *finding.Finding, a finding.Access) (*handing, error) {
	at, err := p.at(a.Position)
	if err != nil {
		return nil, err
	}
	// The getter, which waits for the lock.
	h := &handing{Problem: p, edits: edit.New(), getter: at.function(), chain: map[*source.Function]bool{},
		object: map[*source.Function]string{}}
	if h.getter == nil || h.getter.Recv == nil {
		return nil, strategy.NotMeant("%s: no method stands there", a.Position)
	}
	if h.body, err = lockedBodyOf(h.getter); err != nil {
		return nil, err
	}
	var isField bool
	if h.field, isField = h.body.returnsField(h.getter).(*ast.SelectorExpr); !isField {
		return nil, strategy.NotMeant("%s returns more than a field", h.getter.Name())
	}
	// The functions between the two, from the getter outwards.
	frames, _ := p.callsUnderLock(f, a)
	if len(frames) < 2 {
		return nil, strategy.NotMeant("%s: the function that has taken the lock is not on the stack", a.Position)
	}
	for _, frame := range frames[1:] {
		fn := p.functionOn(frame)
		if fn == nil {
			return nil, fmt.Errorf("%s: code in between is not of the module", a.Position)
		}
		if h.last == nil {
			h.last = fn
		}
		h.chain[fn] = true
	}
	return h, nil
}

// build puts a parameter in the place of the getter, in the function that calls it.
func (h *handing) build() (*strategy.Patch, error) {
	decl := h.last.Declaration()
	n := &newParameter{Problem: h.Problem, edits: h.edits, name: source.LowerFirst(h.getter.Object.Name()),
		has: map[*source.Function]bool{}}
	n.typeIn = func(file *source.File) string {
		return source.NewNames(decl).TypeText(h.getter.Object.Signature().Results().At(0).Type())
	}
	// The calls of the getter, all on one object that the function can name by its receiver.
	calls := 0
	var err error
	decl.EachCall(func(call *ast.CallExpr) {
		if decl.File.Callee(call) != h.getter || err != nil {
			return
		}
		calls++
		err = h.isOnObject(decl, call, "")
		h.edits.Replace(decl.File, call, n.name)
	})
	switch {
	case err != nil:
		return nil, err
	case calls == 0:
		return nil, fmt.Errorf("%s calls the getter in a literal", h.last.Name())
	}
	var unknown error
	var doubts []finding.Doubt
	n.valueAt = func(c source.Call) (string, bool) {
		text, known, err := h.valueAt(c)
		if err != nil {
			unknown = err
		}
		return text, known
	}
	if err := n.add(decl); err != nil {
		return nil, err
	}
	if unknown != nil {
		return nil, unknown
	}
	if changed := h.mayChange(n.has); changed != "" && !h.Bold {
		return nil, errors.New(changed)
	} else if changed != "" {
		doubts = append(doubts, finding.Doubt{Obligation: "maker", Weight: finding.Light, Text: changed})
	}
	files, err := h.edits.Files()
	claim := validate.Claim{Kind: validate.LockedOnce, Lock: h.body.lock.Path.Class}
	return &strategy.Patch{Files: files, Claim: claim, Doubts: doubts}, err
}

// mayChange returns a sentence where a function that gets the value as a parameter may come to set the field before it
// uses the value; "" where none does.
func (h *handing) mayChange(has map[*source.Function]bool) string {
	_, obj := h.getter.File.VariableOf(h.field)
	for _, a := range h.Module.Accesses(h.Module.NewVariable(obj, h.getter.File, h.field)) {
		if !a.Mode.Writes() || a.File.Test || a.Function == nil || h.Facts.IsPrivate(a) {
			continue
		}
		for f := range has {
			if f == a.Function.Declaration() || h.Facts.LeadsTo(f, a.Function) {
				return fmt.Sprintf("%s: %s may lead there with the value that it was handed before: it is the old one then",
					a.File.At(a.Expr), f.Name())
			}
		}
	}
	return ""
}

// isOnObject notes by which fields the receiver of a function leads to the object of the getter, by a call with that
// object behind its receiver.
func (h *handing) isOnObject(f *source.Function, call *ast.CallExpr, behind string) error {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	recv := f.Receiver()
	if !ok || recv == nil {
		return fmt.Errorf("%s: the object is not named by a receiver", f.File.At(call))
	}
	rest, isOwn := strings.CutPrefix(f.File.Text(sel.X), recv.Name())
	if !isOwn || rest != "" && rest[0] != '.' {
		return fmt.Errorf("%s: the object is not found by the receiver of %s", f.File.At(call), f.Name())
	}
	path := rest + behind
	if known, has := h.object[f]; has && known != path {
		return fmt.Errorf("%s: the objects of two calls differ", f.File.At(call))
	}
	h.object[f] = path
	return nil
}

// valueAt writes the value at a call: the field where the lock is held, and the getter where it is not. Not known
// where both may be, in a function between the two, which gets the parameter as well.
func (h *handing) valueAt(c source.Call) (text string, known bool, err error) {
	file, decl := c.In.File, c.In.Declaration()
	sel, ok := ast.Unparen(c.Expr.Fun).(*ast.SelectorExpr)
	callee := file.Callee(c.Expr)
	if !ok || callee == nil {
		return "", false, fmt.Errorf("%s: the object is not named", file.At(c.Expr))
	}
	object, class := file.Text(sel.X)+h.object[callee], h.body.lock.Path.Class
	// Under its lock, the receiver is the object.
	owner := source.Named(h.getter.Receiver().Type())
	if recv := decl.Receiver(); h.chain[c.In] && recv != nil && source.SameNamed(source.Named(recv.Type()), owner) {
		object = recv.Name()
	}
	switch {
	case file.Test:
	case h.Facts.SurelyHolds(file, c.Expr, class):
		return object + "." + h.field.Sel.Name, true, nil
	case h.chain[c.In]:
		return "", false, h.isOnObject(decl, c.Expr, h.object[callee])
	case h.Facts.MayHold(file, c.Expr, class):
		return "", true, fmt.Errorf("%s: whether the lock is held there is not known", file.At(c.Expr))
	}
	return object + "." + h.getter.Object.Name() + "()", true, nil
}
