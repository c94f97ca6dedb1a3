package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// point is an instruction with the locks that are held before it.
type point struct {
	pkg   *session.Package
	instr ssa.Instruction
	locks *lockset.State
}

// Lock is a lock that may be held at an access.
type Lock struct {
	Class string
	// Sibling is the lock's field where it lies in the same struct as the
	// accessed variable: then it must be that of the same object. "" takes any
	// lock of the class.
	Sibling string
}

// Held is what is known of one lock at one place.
type Held struct {
	Surely   bool // held on every path there
	Perhaps  bool // held on some path, or a lock of which only the class is known
	ReadOnly bool // only its read side is held
}

// OneRegion reports whether some lock is held at both accesses that was acquired once for both.
func (f *Facts) OneRegion(a, b *source.Access) bool {
	p, known := f.access(a)
	q, alsoKnown := f.access(b)
	return known && alsoKnown && slices.ContainsFunc(p.locks.Held(), func(h lockset.Held) bool {
		again, held := q.locks.Has(h.Path)
		return held && h.Since != nil && again.Since == h.Since
	})
}

// Held returns what is known of a lock at an access. Known is false where the
// passes have no state for it: in tests, and in code that never runs.
func (f *Facts) Held(a *source.Access, lock Lock) (held Held, known bool) {
	p, ok := f.access(a)
	if !ok {
		return Held{}, false
	}
	want, sameObject := p.beside(lock.Sibling)
	sameObject = sameObject && lock.Sibling != ""
	for _, h := range p.locks.Held() {
		switch {
		case class(p.pkg, h) != lock.Class:
		case !sameObject || h.Path == want:
			return Held{Surely: true, Perhaps: true, ReadOnly: h.Read}, true
		case h.Path.Root == nil:
			held.Perhaps = true // it may be the lock of this object or of another
		}
	}
	if sameObject {
		held.Perhaps = held.Perhaps || p.locks.MayHold(want)
	} else {
		held.Perhaps = held.Perhaps || p.locks.MayHoldClass(lock.Class)
	}
	return held, true
}

// Classes lists the classes of the locks that are surely held at an access.
// One in a local variable has [source.LocalClass] and the variable's key.
func (f *Facts) Classes(a *source.Access) []string {
	var out []string
	if p, ok := f.access(a); ok {
		for _, h := range p.locks.Held() {
			if name := class(p.pkg, h); name != "" {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Perhaps lists the classes of the locks that are held on some way to an access.
func (f *Facts) Perhaps(a *source.Access) []string {
	p, ok := f.access(a)
	if !ok {
		return nil
	}
	return p.locks.MayHoldClasses()
}

// Knows reports whether the passes know which locks are held at an access.
func (f *Facts) Knows(a *source.Access) bool {
	_, ok := f.access(a)
	return ok
}

// IsHeld reports whether the lock that a call releases is surely held before the call, the side that it releases.
func (f *Facts) IsHeld(file *source.File, op source.LockOp) bool {
	p, ok := f.at(file, op.Call.Lparen)
	if !ok {
		return false
	}
	lock := p.pkg.Locks.Receiver(p.instr)
	if lock == nil {
		return false
	}
	held, ok := p.locks.Has(accesspath.Of(lock))
	return ok && held.Read == op.Read
}

// MayHold reports whether a lock of the class may be held at a call: where nothing is known, it may.
func (f *Facts) MayHold(file *source.File, call *ast.CallExpr, class string) bool {
	p, ok := f.at(file, call.Lparen)
	return !ok || p.locks.MayHoldClass(class)
}

// SurelyHolds reports whether some lock of the class is surely held at a call.
func (f *Facts) SurelyHolds(file *source.File, call *ast.CallExpr, class string) bool {
	p, ok := f.at(file, call.Lparen)
	return ok && slices.ContainsFunc(p.locks.Held(), func(h lockset.Held) bool { return h.Class == class })
}

// IsPrivate reports whether no other goroutine can reach the accessed memory
// yet. It errs towards false.
func (f *Facts) IsPrivate(a *source.Access) bool {
	if a.Mode == source.Initial || a.Function == nil {
		return true
	}
	if a.Base == nil {
		return false
	}
	p, ok := f.access(a)
	if !ok {
		return false
	}
	address, ok := p.address()
	return ok && p.pkg.Owners.Proven().Of(address, p.instr) == ownership.Fresh
}

// class names a lock as patches do: by what declares it, or by the local
// variable that holds it.
func class(p *session.Package, h lockset.Held) string {
	if h.Class != "" || h.Path.Fields != "" {
		return h.Class
	}
	switch root := h.Path.Root.(type) {
	case *ssa.Alloc:
		return source.LocalClass + source.KeyAt(p.Fset, root.Comment, root.Pos())
	case *ssa.Parameter:
		return source.LocalClass + source.KeyAt(p.Fset, root.Name(), root.Pos())
	}
	return ""
}

// access returns the point of an access: the load or store, else the computation of its address or, of an array, of the
// slice or element. There is none in tests, of which the passes draw no conclusions, nor in code that never runs.
func (f *Facts) access(a *source.Access) (point, bool) {
	p, ok := f.accessed(a)
	return p, ok && !f.codeOf(a.File).isTest
}

// accessed is access in tests too.
func (f *Facts) accessed(a *source.Access) (point, bool) {
	code := f.codeOf(a.File)
	if code == nil {
		return point{}, false
	}
	p, ok := code.points[source.NameOf(a.Expr).Pos()]
	if t := a.File.TypeOf(a.Expr); !ok && t != nil {
		// An array outside of a struct has no instruction of its own: the slice or element of it has, at the bracket.
		if _, isArray := t.Underlying().(*types.Array); isArray {
			p, ok = code.points[a.Expr.End()]
		}
	}
	return p, ok
}

// at returns the instruction at a position; there is none in tests, nor in code that never runs.
func (f *Facts) at(file *source.File, pos token.Pos) (point, bool) {
	code := f.codeOf(file)
	if code == nil || code.isTest {
		return point{}, false
	}
	p, ok := code.points[pos]
	return p, ok
}

func isAddress(instr ssa.Instruction) bool {
	_, ok := instr.(*ssa.FieldAddr)
	return ok
}

// address returns the address of the memory that p accesses.
func (p point) address() (ssa.Value, bool) {
	switch instr := p.instr.(type) {
	case *ssa.FieldAddr:
		return instr, true
	case *ssa.UnOp:
		return instr.X, instr.Op == token.MUL
	case *ssa.Store:
		return instr.Addr, true
	}
	return nil, false
}

// beside returns the path of a field of the struct whose field p accesses.
func (p point) beside(field string) (accesspath.Path, bool) {
	address, ok := p.address()
	if !ok {
		return accesspath.Path{}, false
	}
	if f, ok := address.(*ssa.FieldAddr); ok {
		return accesspath.Of(f.X).Plus("." + field), true
	}
	return accesspath.Path{}, false
}
