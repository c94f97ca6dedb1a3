package validate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// use is one access to the claim's variable, or to what it holds.
type use struct {
	touch
	base  ssa.Value // the address of the struct that the field belongs to; nil for other variables
	whole bool      // by way of a copy or an assignment of the struct
	pkg   *session.Package
	fn    *ssa.Function
	instr ssa.Instruction
	locks *lockset.State
}

// uses lists the accesses that need protection: none to objects that others
// cannot reach, none of package initialisation.
func (s *side) uses() []use {
	var list []use
	deep := s.isDeep()
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		s.eachMentioning(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			if isAsynchronous(instr) {
				st = &lockset.State{}
			}
			add := func(u use) {
				if !s.isExempt(u) {
					list = append(list, u)
				}
			}
			for _, x := range s.touches(t, instr) {
				if x.level == 0 || x.level == 1 && deep || s.claim.Within {
					add(use{touch: x, base: baseOf(x.root), pkg: p, fn: fn, instr: instr, locks: st})
				}
			}
			if base, write := s.wholeStruct(instr); base != nil {
				x := touch{write: write}
				add(use{touch: x, base: base, whole: true, pkg: p, fn: fn, instr: instr, locks: st})
			}
		})
	}
	return s.withoutHandle(list)
}

// eachMentioning is each for the functions that come to the variable, and the
// literals in them: what another function does to it, it does for one of these.
func (s *side) eachMentioning(p *session.Package, visit func(*ssa.Function, ssa.Instruction, *lockset.State)) {
	if s.mentions[p] == nil {
		s.mentions[p] = s.mentioning(p)
	}
	for _, fn := range p.IR.Funcs {
		if s.mentions[p][ir.Outermost(fn)] && !p.IR.InTest(fn) {
			p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) { visit(fn, instr, st) })
		}
	}
}

// mentioning finds the declared functions in which the variable's address, or a
// whole struct with it, occurs.
func (s *side) mentioning(p *session.Package) map[*ssa.Function]bool {
	found := map[*ssa.Function]bool{}
	isVariable := s.isVariable(p)
	for _, fn := range p.IR.Funcs {
		for instr := range ir.Instructions(fn) {
			for _, op := range instr.Operands(nil) {
				if *op != nil && isVariable(*op) {
					found[ir.Outermost(fn)] = true
				}
			}
			if whole, _ := s.wholeStruct(instr); whole != nil {
				found[ir.Outermost(fn)] = true
			}
		}
	}
	return found
}

// wholeStruct returns the address of the struct of the variable's type that
// instr copies or assigns as a whole, or of one that has such a struct in it.
func (s *side) wholeStruct(instr ssa.Instruction) (addr ssa.Value, write bool) {
	if s.claim.Variable.Type == "" {
		return nil, false
	}
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op == token.MUL {
			addr = instr.X
		}
	case *ssa.Store:
		addr, write = instr.Addr, true
	}
	if addr == nil || !s.hasOwner(addr.Type().Underlying().(*types.Pointer).Elem(), 0) {
		return nil, false
	}
	return addr, write
}

// hasOwner reports whether a value of type t is, or holds in place, a struct of
// the type that declares the variable.
func (s *side) hasOwner(t types.Type, depth int) bool {
	return holdsInPlace(t, s.claim.Variable.Package, s.claim.Variable.Type, depth)
}

// holdsInPlace reports whether a value of type t is, or holds in place, a struct of a named type.
func holdsInPlace(t types.Type, pkg, name string, depth int) bool {
	if _, isPointer := t.Underlying().(*types.Pointer); isPointer || depth > maxLevel {
		return false
	}
	if isNamed(t, pkg, name) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return holdsInPlace(u.Elem(), pkg, name, depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if holdsInPlace(f.Type(), pkg, name, depth+1) {
				return true
			}
		}
	}
	return false
}

// isAsynchronous reports whether instr is a call that runs at another time, so
// that the locks held at it say nothing.
func isAsynchronous(instr ssa.Instruction) bool {
	switch instr.(type) {
	case *ssa.Go, *ssa.Defer:
		return true
	}
	return false
}

// isDeep reports whether what the variable refers to belongs to it: the entries
// of a map, the elements of a slice that are assigned in place, and an object that the claim counts in.
func (s *side) isDeep() bool {
	deep := s.claim.Within
	for _, p := range s.packages() {
		isVariable := s.isVariable(p)
		s.eachMentioning(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			if st, ok := instr.(*ssa.Store); ok && isShortened(st.Val) && isVariable(st.Addr) {
				deep = true // what is appended next goes where the elements were
			}
			if deep {
				return
			}
			for _, x := range s.touches(tracer{isVariable}, instr) {
				elem := x.root.Type().Underlying().(*types.Pointer).Elem().Underlying()
				switch elem.(type) {
				case *types.Map:
					deep = true
				case *types.Slice:
					deep = deep || x.level == 1 && x.write
				}
			}
		})
	}
	return deep
}

// isExempt reports whether an access needs no protection.
func (s *side) isExempt(u use) bool {
	if u.pkg.Calls.Roles(u.fn).OnlyInit() {
		return true
	}
	// What a copy refers to is not new.
	isCopy := s.claim.Within && !u.whole && isCopyOfStruct(u.base) || isOfCopy(u)
	if base := u.base; base != nil && !isCopy && u.pkg.Owners.Proven().Of(base, u.instr) == ownership.Fresh {
		return true
	}
	alloc, isLocal := u.root.(*ssa.Alloc)
	return isLocal && u.fn == alloc.Parent() && !sharedBefore(u.pkg, alloc, u.instr)
}

// isOfCopy reports whether an access is of entries or elements that a new struct has from one that others can reach.
func isOfCopy(u use) bool {
	return u.level > 0 && u.base != nil && u.pkg.Owners.Held(u.root, u.instr) == ownership.Shared
}

// baseOf returns the address of the struct that a field belongs to, or the struct value; nil for
// other variables.
func baseOf(root ssa.Value) ssa.Value {
	switch f := root.(type) {
	case *ssa.FieldAddr:
		return f.X
	case *ssa.Field:
		return f.X
	}
	return nil
}

// sharedBefore reports whether a closure that captures the local is made where
// control can come from there to instr.
func sharedBefore(p *session.Package, alloc *ssa.Alloc, instr ssa.Instruction) bool {
	return slices.ContainsFunc(*alloc.Referrers(), func(ref ssa.Instruction) bool {
		_, captures := ref.(*ssa.MakeClosure)
		return captures && p.IR.Flow(alloc.Parent()).Leads(ref, instr)
	})
}

// protection is how far an access is under the claim's lock.
type protection int

const (
	unprotected protection = iota
	privateLock            // a lock of the class is held that only this goroutine can reach
	wrongObject            // a lock of the class is held, of another object
	wrongMode              // it is held for reading only, and this is a write
	protected
)

// protectionOf judges one access.
func (s *side) protectionOf(u use) protection {
	best := unprotected
	for _, h := range u.locks.Held() {
		p := unprotected
		switch {
		case !s.isLock(h):
		case isPrivate(u, h):
			p = privateLock
		case !s.sameObject(h, u.base):
			p = wrongObject
		case u.write && h.Read:
			p = wrongMode
		default:
			p = protected
		}
		best = max(best, p)
	}
	return best
}

// isLock reports whether h is of the claim's lock class.
func (s *side) isLock(h lockset.Held) bool {
	if !s.claim.isLocalLock() {
		return h.Class == s.claim.Lock
	}
	alloc, ok := h.Path.Root.(*ssa.Alloc)
	return ok && h.Path.Fields == "" && alloc.Comment == s.claim.Lock && s.inSameFunction(alloc) && !s.isNarrower(alloc)
}

// isNarrower reports whether the lock is made again where the variable is not:
// in a literal of its own, or in each round of a loop. Then it guards nothing.
func (s *side) isNarrower(lock *ssa.Alloc) bool {
	pos := s.local(s.Package(s.claim.Variable.Package))
	var variable *ssa.Alloc
	for f := lock.Parent(); f != nil; f = f.Parent() {
		for instr := range ir.Instructions(f) {
			if a, ok := instr.(*ssa.Alloc); ok && a.Pos() == pos {
				variable = a
			}
		}
	}
	return variable == nil || variable.Parent() != lock.Parent() ||
		callgraph.InLoop(lock.Block()) && lock.Block() != variable.Block()
}

// sameObject reports whether the lock belongs to the object at base, or to its
// owner. For a lock of the owner's the path from the object
// upwards decides, if it leads through an owner.
func (s *side) sameObject(h lockset.Held, base ssa.Value) bool {
	pkg, typ := s.claim.lockOwner()
	if typ == "" {
		return true // there is only one
	}
	for v := base; v != nil; v = up(v) {
		if isNamed(v.Type(), pkg, typ) {
			return h.Path.Root != nil && h.Path.Owner() == accesspath.Of(v) && sameStripe(h.Path, base)
		}
	}
	// No owner on the way: the class alone speaks for it.
	return s.claim.Variable.Package != pkg || s.claim.Variable.Type != typ
}

// sameStripe reports whether the variable at base lies in the part that lock is for, where its owner has several parts
// with a lock each: s.parts[i].n and s.locks[i].
func sameStripe(lock accesspath.Path, base ssa.Value) bool {
	owner := lock.Owner()
	part, _ := accesspath.Of(base).Under(owner)
	for _, index := range accesspath.Indexes(lock.Fields[len(owner.Fields):]) {
		if index != accesspath.Every && !slices.Contains(accesspath.Indexes(part), index) {
			return false
		}
	}
	return true
}

// isPrivate reports whether only this goroutine can reach the lock: then it keeps
// nobody out.
func isPrivate(u use, h lockset.Held) bool {
	if h.Since == nil {
		return false
	}
	base := baseOf(u.pkg.Locks.Receiver(h.Since))
	return base != nil && u.pkg.Owners.Of(base, u.instr) == ownership.Fresh
}

// up goes one step from a value towards what it was reached from.
func up(v ssa.Value) ssa.Value {
	from, _ := back(v)
	if len(from) == 1 {
		return from[0]
	}
	return nil
}

// isNamed reports whether t is the named type, or a pointer to it.
func isNamed(t types.Type, pkg, name string) bool {
	n, ok := ir.Named(t)
	return ok && finding.TypeName(n.Obj()) == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg
}

// covered demands that every access of the variable is under the lock. Reads
// that the patch leaves on purpose are let through where there was one before; so
// is what packages do that cannot name the lock.
func (j *judge) covered() {
	open := map[string]int{} // unprotected reads of the original, by function
	before := j.old.uses()
	if len(before) == 0 {
		j.doubt(place{}, finding.Heavy, "covered", stillRace, "no access of %s can be followed", j.now.claim.Variable)
	}
	for _, u := range before {
		if !u.write && j.old.protectionOf(u) == unprotected && j.old.canLock(u.pkg) {
			open[declared(u.pkg, u.fn)]++
		}
	}
	left := j.now.claim.Left
	for _, u := range j.now.uses() {
		if !j.now.canLock(u.pkg) && !j.touched[declared(u.pkg, u.fn)] {
			continue
		}
		p := j.now.protectionOf(u)
		name := declared(u.pkg, u.fn)
		if p == unprotected && !u.write && left > 0 && open[name] > 0 {
			left--
			open[name]--
			continue
		}
		j.refuseUse(u, p)
	}
	j.aliases()
	j.partsUsedBehind()
}

// canLock reports whether a package can name the claim's lock.
func (s *side) canLock(p *session.Package) bool {
	name := s.claim.Lock[strings.LastIndexByte(s.claim.Lock, '.')+1:]
	return s.claim.isLocalLock() || ast.IsExported(name) || strings.HasPrefix(s.claim.Lock, p.Path+".")
}

func (j *judge) refuseUse(u use, p protection) {
	verb := "read"
	switch {
	case u.whole && u.write:
		verb = "written with its whole struct"
	case u.whole:
		verb = "copied with its whole struct"
	case u.write:
		verb = "written"
	}
	v, lock, where, here := j.now.claim.Variable, short(j.now.claim.Lock), at(u.pkg, u.instr), place{u.pkg, u.instr}
	switch {
	case p == protected:
	case p == wrongMode && u.unknown != "":
		j.doubt(here, finding.Heavy, "covered", stillRace,
			"%s is handed to %s (%s) under the read side of %s, and may be written there", v, u.unknown, where, lock)
	case p == wrongMode:
		j.add("covered", "%s is %s at %s under the read side of %s only", v, verb, where, lock)
	// A lock that keeps nobody out is none; whether one under another name is that of this object is not known.
	case p == privateLock:
		j.add("covered", "%s is %s at %s under the lock of an object that nobody else can reach", v, verb, where)
	case p == wrongObject:
		j.doubt(here, finding.Heavy, "covered", stillRace, "%s is %s at %s under the lock of another object", v, verb, where)
	case u.unknown != "":
		j.doubt(here, finding.Heavy, "covered", stillRace, "%s is handed to %s (%s) without %s", v, u.unknown, where, lock)
	case u.base != nil && u.pkg.Owners.Of(u.base, u.instr) == ownership.Fresh && !isOfCopy(u):
		j.doubt(here, finding.Heavy, "covered", "the object looks new there; if others can reach it, they race",
			"%s is %s at %s without %s", v, verb, where, lock)
	default:
		j.add("covered", "%s is %s at %s without %s", v, verb, where, lock)
	}
}

// aliases refuses what hands the variable's map or slice on, to be used without
// the lock: a return, a send, a store elsewhere.
func (j *judge) aliases() {
	if !j.now.isDeep() {
		return
	}
	for _, p := range j.now.packages() {
		t := tracer{j.now.isVariable(p)}
		j.now.eachMentioning(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			_, returns := instr.(*ssa.Return)
			for _, v := range handedOn(instr, t.isRoot) {
				for _, o := range t.origins(v) {
					u := use{touch: touch{origin: o}, base: baseOf(o.root), pkg: p, fn: fn, instr: instr, locks: st}
					if o.level == 1 && refers(v.Type()) && !j.now.isExempt(u) && !(returns && j.now.replaced(p, v)) {
						j.doubt(place{p, instr}, finding.Heavy, "covered", "if it is used there while others change it, they race",
							"%s itself is handed on at %s, to be used without the lock", j.now.claim.Variable, at(p, instr))
					}
				}
			}
		})
	}
}

// replaced reports whether v was read before its function set the variable to another map or slice under the lock:
// nobody finds in the variable any more what is returned then.
//
//	old := c.m
//	c.m = fresh
//	return old
func (s *side) replaced(p *session.Package, v ssa.Value) (found bool) {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	t := tracer{s.isVariable(p)}
	p.Locks.Walk(load.Parent(), func(instr ssa.Instruction, st *lockset.State) {
		store, ok := instr.(*ssa.Store)
		if !ok || !t.isRoot(store.Addr) || !s.mayHold(st) || len(t.origins(store.Val)) > 0 {
			return
		}
		flow := p.IR.Flow(load.Parent())
		found = found || flow.Leads(load, store) && !flow.Leads(store, load)
	})
	return found
}

// handedOn lists the values that instr puts where a later access can find them.
func handedOn(instr ssa.Instruction, isRoot func(ssa.Value) bool) []ssa.Value {
	switch instr := instr.(type) {
	case *ssa.Return:
		return instr.Results
	case *ssa.Send:
		return []ssa.Value{instr.X}
	case *ssa.MapUpdate:
		return []ssa.Value{instr.Value}
	case *ssa.Store:
		if _, isLocal := instr.Addr.(*ssa.Alloc); !isLocal && !isRoot(instr.Addr) {
			return []ssa.Value{instr.Val}
		}
	}
	return nil
}
