package accesses

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Sharing is the knowledge, at an access, of the goroutines that can reach its object. Owner
// and Private are proofs; the methods are guesses about how programs set
// objects up, for findings only: a maker is often the only user of its object for a
// while, even where that is registered already.
type Sharing struct {
	// Owner is how far the object is known to others; it ignores tests.
	Owner ownership.Level
	// Private means that only the accessing goroutine can reach the object
	// yet, in tests, too.
	Private bool

	made, knownByCalls bool // the function allocated it; only its callees may have shared it since
	started            bool // it did, and shared it by go statements alone
	madeByCallers      bool // each caller of the function allocated it
	onceForMaker       bool // see isFirst
}

// sharingOf returns the knowledge of the object of a.
func (c *collector) sharingOf(a *Access) Sharing {
	s := Sharing{
		Owner:         c.owner.Of(a.Addr, a.Instr),
		made:          c.owner.Made(a.Addr, a.Instr),
		madeByCallers: c.owner.MadeByCallers(a.Addr, a.Instr),
	}
	if a.Map {
		s.Owner = c.owner.Held(a.Addr, a.Instr)
	}
	s.knownByCalls = s.made && c.owner.MadeKnownByCalls(a.Addr, a.Instr)
	s.started = c.owner.Started(a.Addr, a.Instr)
	return s
}

// isFirst reports whether a writes where the variable was found nil, in a
// function that some caller runs for an object which it made. Later calls write
// no more:
//
//	if t.m == nil { t.m = map[string]int{} }
func (c *collector) isFirst(a *Access) bool {
	return a.Mode == finding.Write && !a.Map && a.IfNil() && c.owner.MadeBySome(a.Addr, a.Instr)
}

// MadeHere reports whether the function of the access allocated the object.
func (s *Sharing) MadeHere() bool { return s.made }

// MadeByCallers reports whether every caller of the function allocated the object.
func (s *Sharing) MadeByCallers() bool { return s.madeByCallers }

// SetsUp reports whether the access stands in a helper that sets the object
// up: every caller made it, or the write happens once for each object.
func (s *Sharing) SetsUp() bool { return s.madeByCallers || s.onceForMaker }

// Completes reports whether the access completes the object before its users
// come: in a helper, or while only callees of its maker know of it.
func (s *Sharing) Completes() bool { return s.SetsUp() || s.knownByCalls }

// BeforeStart reports whether the object was made here or by the callers, and
// its maker has started no goroutine on it yet.
func (s *Sharing) BeforeStart() bool { return (s.made || s.madeByCallers) && !s.started }

// IfNil reports whether a, a write, stands where its variable was found nil.
func (a *Access) IfNil() bool { return accesspath.FoundNil(a.Instr, a.Path) }

// ComparedToNil reports whether a loads the variable to ask whether it is nil.
func (a *Access) ComparedToNil() bool {
	load, ok := a.Instr.(*ssa.UnOp)
	return ok && slices.ContainsFunc(*load.Referrers(), func(ref ssa.Instruction) bool {
		cmp, ok := ref.(*ssa.BinOp)
		if !ok {
			return false
		}
		asked, _ := accesspath.ComparedToNil(cmp)
		return asked == load
	})
}

// Renews reports whether a is one of several stores of constants and new containers that make an object as new: the
// function that does so has it alone, as a rule, for the next user or at its end.
//
//	op.fd, op.onRead, op.detached = 0, nil, 0
func (a *Access) Renews() bool {
	fa, ok := a.Addr.(*ssa.FieldAddr)
	if !ok || !a.Writes() || a.Atomic() || a.Map || !isInitial(a.Value) {
		return false
	}
	object := accesspath.Of(fa.X)
	stored := map[*types.Var]bool{}
	for _, instr := range a.Instr.Block().Instrs {
		st, ok := instr.(*ssa.Store)
		if !ok || !isInitial(st.Val) {
			continue
		}
		if other, ok := st.Addr.(*ssa.FieldAddr); ok && (other.X == fa.X || accesspath.Of(other.X) == object) {
			stored[accesspath.FieldOf(other)] = true
		}
	}
	p, ok := fa.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	return ok && len(stored) >= knowledge.RenewedFields &&
		float64(len(stored)) >= knowledge.RenewedShare*float64(s.NumFields())
}

// isInitial reports whether v is a constant, a struct without anything set, or a container that is made for its
// variable.
func isInitial(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Const, *ssa.MakeChan, *ssa.MakeMap, *ssa.MakeSlice:
		return true
	}
	return false
}
