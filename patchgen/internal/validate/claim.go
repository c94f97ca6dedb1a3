package validate

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// Kind is how a patch protects its variable, which decides the obligations (see promises).
type Kind int

const (
	Guarded   Kind = iota // every access is made under one lock
	Once                  // a sync.Once initialises the variable
	Published             // the variable is written before others can reach its object
	Atomic                // every access is an operation of sync/atomic
	Unshared              // no function literal captures the local any more

	// These are of patches for findings that name no variable: how locks, WaitGroups and channels are used.
	Released   // a return does not leave the lock held any more
	LockedOnce // who holds the lock does not take it again
	Ordered    // the two locks are taken in one order
	Counted    // goroutines are counted before they are started
	OneStep    // a test and what it decides about are one step under Lock
	Unblocked  // no operation on the channel Variable waits for ever
	Extended   // more of what the functions do lies under Lock
	Stoppable  // fewer operations on channels wait for their other side alone
	SignsOff   // a goroutine calls Done however it ends
	WakesAll   // no Signal is left in the functions that the patch changes
	ClosedOnce // Variable, a channel, is closed in a sync.Once only

	ReleasedFirst // Lock is released before a wait
	SentOpen      // each send on Variable, a channel, asks under Lock whether it is closed

	KeepsWakeup    // Variable, a channel, has room for one wake-up for which nobody waits yet
	NilTested      // no touched operation waits for Variable, a channel, where it may be nil
	ReleasedAnyway // a panic does not leave Lock held any more
	Drained        // what is left is received from Variable, a channel, when its function returns
	SignalClosed   // Variable, a channel, is closed in a sync.Once where it was sent on
	LeftOpen       // nobody closes Variable, a channel, any more
)

// Variable names a variable the same before and after a patch.
type Variable struct {
	Package string // import path
	Type    string // declares the field; "" for package variables and locals
	Name    string
	// Func and Nth stand for a local: the full name of the declared function
	// (see [types.Func.FullName]), and which variable called Name it is there,
	// in the order of the source, from 0.
	Func string
	Nth  int
}

// String returns Type.Name, or the name alone.
func (v Variable) String() string {
	if v.Type != "" {
		return v.Type + "." + v.Name
	}
	return v.Name
}

// Claim is what a patch promises.
type Claim struct {
	Kind     Kind
	Variable Variable
	// Lock is the class of the lock, or of the sync.Once: pkg.Type.field or
	// pkg.var. For a local it is the bare name, declared in Variable.Func.
	Lock string
	// Left is how many reads without the lock the patch leaves as they were,
	// each where there was one before.
	Left int
	// Second is the class of the other lock of an order.
	Second string
	// Tested is the field or package variable whose test has to be one step with the use of Variable, which it may be
	// itself; "" where the finding is not on a test and a use.
	Tested string
	// Flag is the field that is set where Variable, a channel, is closed.
	Flag string
	// Within: the object that Variable refers to is part of it.
	Within bool
	// Also are further variables that the patch protects as it does Variable.
	Also []Variable
	// Neighbors are variables for which the goroutines that race for Variable race too: see [Validator.Neighbors].
	Neighbors []Neighbor
	// HasPatch reports whether another patch is for a variable, made or to come; nil: none is.
	HasPatch func(Variable) bool
}

// Validator judges patches of one module. It keeps what it has worked out of
// the original, and is not safe for concurrent use.
type Validator struct {
	original *state
	patched  *state // of the last patch, see stateOf
}

// New returns a validator for patches of the module with these facts.
func New(original *facts.Facts) *Validator { return &Validator{original: newState(original)} }

// stateOf returns what is worked out of a patched module.
func (v *Validator) stateOf(after *session.Snapshot) *state {
	if v.patched == nil || v.patched.Snapshot != after {
		v.patched = newState(facts.New(after))
	}
	return v.patched
}

// Check judges the patch that led from the original to after. It returns
// nothing for a patch that meets all obligations.
func (v *Validator) Check(after *session.Snapshot, claim Claim) []*Refusal {
	r := &refusals{root: after.Root()}
	old, now := newSide(v.original, claim), newSide(v.stateOf(after), claim)
	if claim.Variable.Name != "" && old.declares() && !now.declares() {
		r.add("covered", "%s is not there any more", claim.Variable)
		return r.list
	}
	j := &judge{refusals: r, old: old, now: now, touched: after.Touched(v.original.Snapshot)}
	for _, o := range promises[claim.Kind].obligations {
		o(j)
	}
	// Those of each patch.
	j.saysOtherwise()
	j.usedInStep()
	j.noRaceBeside()
	j.copied()
	j.lockMade()
	j.reflected()
	j.stale()
	j.leftBeside()
	j.otherBuilds()
	j.selectors()
	for _, also := range claim.Also {
		claim.Variable, claim.Within = also, false
		j.old, j.now = newSide(v.original, claim), newSide(j.now.state, claim)
		if claim.Kind == Atomic {
			j.atomicOnly()
			j.standsAlone()
		} else {
			j.covered()
		}
		if claim.Kind == Guarded {
			j.owned()
			j.oneStep()
		}
		if claim.Kind == Guarded || claim.Kind == Atomic {
			j.writtenFirst()
			j.setApart()
		}
	}
	return r.list
}

// promise is what a kind of patch is held to: the name of it that a fix lists among its checks, and the obligations, in
// the order in which they are checked.
type promise struct {
	name        string
	obligations []func(*judge)
}

var promises = [...]promise{
	Guarded: {"lock covers every access", []func(*judge){(*judge).covered, (*judge).owned, (*judge).paired,
		(*judge).exits, (*judge).narrowed, (*judge).readSide, (*judge).oneStep, (*judge).lockOrder, (*judge).waits,
		(*judge).channels, (*judge).awaited, (*judge).reentry, (*judge).tried, (*judge).lockReached,
		(*judge).writtenFirst, (*judge).besideStep, (*judge).setApart, (*judge).handedBack}},
	Once: {"initialised once", []func(*judge){(*judge).onceOnly, (*judge).paired, (*judge).exits, (*judge).lockOrder}},
	Published: {"written before it is shared", []func(*judge){(*judge).published, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder}},
	Atomic: {"every access is atomic", []func(*judge){(*judge).atomicOnly, (*judge).standsAlone, (*judge).paired,
		(*judge).exits, (*judge).narrowed, (*judge).lockOrder, (*judge).writtenFirst, (*judge).setApart}},
	Unshared: {"no goroutine shares it", []func(*judge){(*judge).unshared, (*judge).paired, (*judge).exits,
		(*judge).narrowed}},
	Released: {"the lock is released", []func(*judge){(*judge).released, (*judge).paired, (*judge).narrowed,
		(*judge).readSide, (*judge).lockOrder}},
	LockedOnce: {"the lock is taken once", []func(*judge){(*judge).lockedOnce, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).readSide, (*judge).lockOrder, (*judge).waits, (*judge).channels,
		(*judge).awaited}},
	Ordered: {"one order of locks", []func(*judge){(*judge).ordered, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).readSide, (*judge).lockOrder, (*judge).waits}},
	Counted: {"counted before it is started", []func(*judge){(*judge).counted, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder, (*judge).waits}},
	OneStep: {"test and use are one step", []func(*judge){(*judge).joined, (*judge).owned, (*judge).oneStep,
		(*judge).paired, (*judge).exits, (*judge).narrowed, (*judge).readSide, (*judge).lockOrder, (*judge).waits,
		(*judge).channels, (*judge).awaited}},
	Extended: {"the use is under the lock", []func(*judge){(*judge).extended, (*judge).oneStep, (*judge).paired,
		(*judge).exits, (*judge).narrowed, (*judge).readSide, (*judge).lockOrder, (*judge).waits, (*judge).channels,
		(*judge).awaited}},
	Stoppable: {"a stop ends the wait", []func(*judge){(*judge).stoppable, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder, (*judge).waits}},
	SignsOff: {"signs off however it ends", []func(*judge){(*judge).signsOff, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder}},
	WakesAll: {"all waiters are woken", []func(*judge){(*judge).wakesAll, (*judge).paired, (*judge).exits,
		(*judge).narrowed}},
	ClosedOnce: {"closed once", []func(*judge){(*judge).closedOnce, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder}},
	ReleasedFirst: {"no wait under the lock", []func(*judge){(*judge).releasedFirst, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).readSide, (*judge).lockOrder, (*judge).waits}},
	SentOpen: {"no send meets a close", []func(*judge){(*judge).sentOpen, (*judge).owned, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).readSide, (*judge).lockOrder, (*judge).waitsToSend, (*judge).channels,
		(*judge).awaited, (*judge).leftUnsent}},
	KeepsWakeup: {"no wake-up is lost", []func(*judge){(*judge).keepsWakeup, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder}},
	NilTested: {"no nil channel is waited for", []func(*judge){(*judge).nilTested, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder}},
	ReleasedAnyway: {"released however it ends", []func(*judge){(*judge).releasedAnyway, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).readSide, (*judge).oneStep, (*judge).lockOrder, (*judge).waits, (*judge).channels,
		(*judge).awaited}},
	Drained: {"the sender comes to its end", []func(*judge){(*judge).drained, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder, (*judge).waits}},
	SignalClosed: {"the signal is a close", []func(*judge){(*judge).signalClosed, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder}},
	LeftOpen: {"no send meets a close", []func(*judge){(*judge).leftOpen, (*judge).paired, (*judge).exits,
		(*judge).narrowed, (*judge).lockOrder}},
	Unblocked: {"nothing waits for ever", []func(*judge){(*judge).unblocked, (*judge).leftBehind, (*judge).paired,
		(*judge).exits, (*judge).narrowed, (*judge).lockOrder, (*judge).waits}},
}

// Promise returns what a patch of the kind is held to, as a fix lists it among its checks.
func (k Kind) Promise() string {
	if int(k) >= len(promises) {
		return ""
	}
	return promises[k].name
}

// judge holds both sides while a patch is checked.
type judge struct {
	*refusals
	old, now *side
	touched  map[string]bool // declared functions that the patch changes
}

// declares reports whether the variable of the claim exists.
func (s *side) declares() bool {
	v := s.claim.Variable
	p := s.Package(v.Package)
	switch {
	case p == nil:
		return false
	case v.Func != "":
		return s.local(p).IsValid()
	case v.Type == "":
		_, ok := p.Types.Scope().Lookup(v.Name).(*types.Var)
		return ok
	}
	tn, ok := p.Types.Scope().Lookup(v.Type).(*types.TypeName)
	if !ok {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(tn.Type(), true, p.Types, v.Name)
	_, isVar := obj.(*types.Var)
	return isVar
}

// local returns where the local variable of the claim is declared.
func (s *side) local(p *session.Package) token.Pos {
	if pos, ok := s.locals[p]; ok {
		return pos
	}
	s.locals[p] = findLocal(p, s.claim.Variable)
	return s.locals[p]
}

func findLocal(p *session.Package, v Variable) token.Pos {
	nth, found := 0, token.NoPos
	for _, f := range p.Files {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if obj, _ := p.Info.Defs[nameOf(decl)].(*types.Func); !ok || obj == nil || obj.FullName() != v.Func {
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if _, isVar := p.Info.Defs[id].(*types.Var); ok && isVar && id.Name == v.Name {
					if nth == v.Nth {
						found = id.Pos()
					}
					nth++
				}
				return true
			})
		}
	}
	return found
}

func nameOf(decl *ast.FuncDecl) *ast.Ident {
	if decl == nil {
		return nil
	}
	return decl.Name
}

// isVariable reports whether v is the address of the claim's variable, or refers to the object that it is within.
func (s *side) isVariable(p *session.Package) func(ssa.Value) bool {
	want := s.claim.Variable
	if want.Func != "" {
		pos := token.NoPos
		if p.Path == want.Package {
			pos = s.local(p)
		}
		return func(v ssa.Value) bool {
			alloc, ok := v.(*ssa.Alloc)
			return ok && pos.IsValid() && alloc.Pos() == pos
		}
	}
	name := accesspath.Name{Package: want.Package, Type: want.Type, Field: want.Name}
	return func(v ssa.Value) bool {
		switch v := v.(type) {
		case *ssa.FieldAddr:
			if accesspath.FieldOf(v).Name() != want.Name {
				return false
			}
		case *ssa.Global:
			if v.Name() != want.Name {
				return false
			}
		// w.out of a struct value w: the object behind it
		case *ssa.Field:
			st, _ := v.X.Type().Underlying().(*types.Struct)
			return s.claim.Within && st.Field(v.Field).Name() == want.Name && isNamed(v.X.Type(), want.Package, want.Type)
		default:
			return false
		}
		got, ok := accesspath.NameOf(v)
		return ok && got == name
	}
}

// packages lists those that can name the variable.
func (s *side) packages() []*session.Package {
	v := s.claim.Variable
	if v.Func == "" && ast.IsExported(v.Name) {
		return s.Packages
	}
	if p := s.Package(v.Package); p != nil {
		return []*session.Package{p}
	}
	return nil
}

// lockOwner returns the package and the type that declare the claim's lock, "" for
// a type where it is a package variable or a local.
func (c Claim) lockOwner() (pkg, typ string) {
	slash := strings.LastIndexByte(c.Lock, '/') + 1
	parts := strings.Split(c.Lock[slash:], ".")
	if len(parts) < 3 {
		return "", ""
	}
	return c.Lock[:slash] + parts[0], parts[1]
}

// isLocalLock reports whether the claim's lock is a local variable.
func (c Claim) isLocalLock() bool { return !strings.Contains(c.Lock, ".") }

// inSameFunction reports whether the local at alloc belongs to the function
// that declares the claim's variable.
func (s *side) inSameFunction(alloc *ssa.Alloc) bool {
	return callgraph.FullName(ir.Outermost(alloc.Parent())) == s.claim.Variable.Func
}
