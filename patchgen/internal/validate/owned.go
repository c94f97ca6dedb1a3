package validate

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// owned demands, of a variable under the lock of an object, that it belongs to that object alone: it lies in it, or is
// reached by references to others that were made for the object and that no other keeps. Where several objects share
// it, each has a lock of its own, which keeps no holder of another one out.
//
//	func (s *Set) Sub() *Set { return &Set{m: s.m} }	// one map, under two locks
//	func newWorker(t *Tally) *worker { return &worker{tally: t} }	// one Tally, under the lock of each worker
func (j *judge) owned() {
	s := j.now
	pkg, typ := s.claim.lockOwner()
	isOfObject := typ != "" && !s.claim.isLocalLock() && s.claim.Variable.Name != ""
	switch {
	case !isOfObject || s.isSingle(home{pkg, typ}):
		return
	case s.claim.Variable.Type == "":
		j.ownedApart(home{pkg, typ})
		return
	}
	// The way from the lock's object to each access leads by references, or by none.
	b := &belonging{side: s, owner: home{pkg, typ}, links: map[link]bool{}}
	for _, u := range s.uses() {
		if s.protectionOf(u) != protected {
			continue // which covered judges
		}
		if !b.isOwn(u) {
			j.doubt(place{u.pkg, u.instr}, finding.Heavy, "owned", j.manyLocks(),
				"%s is accessed at %s under %s, and it need not belong to that %s", s.claim.Variable, at(u.pkg, u.instr),
				short(s.claim.Lock), typ)
		}
	}
	j.madeForOne(b)
}

// madeForOne demands that each reference on the ways leads to an object that was made for the one with the reference.
func (j *judge) madeForOne(b *belonging) {
	s := j.now
	if b.byHolder && b.byPointer != "" && !b.isSameBothWays() {
		j.doubt(place{}, finding.Heavy, "owned", j.manyLocks(),
			"%s is under the lock of the %s that holds it, and under that of its %s, which may be another one",
			s.claim.Variable, b.owner.name, b.byPointer)
	}
	name, ok := s.contents()
	switch {
	case s.claim.Kind == SentOpen: // a channel
		b.links[link{field: name}] = true
	case ok && !s.claim.Within:
		b.links[link{field: name, contents: true}] = true
	}
	for _, l := range b.sorted() {
		m := &making{side: s, link: l}
		for _, x := range m.shared() {
			if x.isKnown {
				j.add("owned", "%s: %s", x.what, j.manyLocks())
			} else {
				j.doubt(place{x.pkg, x.instr}, finding.Heavy, "owned", j.manyLocks(), "%s", x.what)
			}
		}
	}
}

// manyLocks is the consequence where several objects share a variable.
func (j *judge) manyLocks() string {
	_, typ := j.now.claim.lockOwner()
	return fmt.Sprintf("each %s has a %s of its own, and the race stays", typ, j.now.lockName())
}

// lockName is the name of the claim's lock alone.
func (s *side) lockName() string { return s.claim.Lock[strings.LastIndexByte(s.claim.Lock, '.')+1:] }

// ownedApart is owned for a package variable or a local, which is part of no object: it has to be the lock of one
// object, by one name.
//
//	func (r *recorder) miss() {
//		r.mu.Lock()
//		total++	// of all recorders
func (j *judge) ownedApart(owner home) {
	s := j.now
	var first *use
	paths := map[accesspath.Path]bool{}
	isOne := true
	for _, u := range s.uses() {
		for _, h := range s.guarding(u) {
			paths[h.Path] = true
			_, isGlobal := h.Path.Global()
			isOne = isOne && h.Path.Root != nil && (s.claim.Variable.Func != "" || isGlobal)
			if first == nil {
				first = &u
			}
		}
	}
	if first == nil || isOne && len(paths) == 1 {
		return
	}
	all := "all " + owner.name + "s"
	made := j.old.madeTwice(owner)
	if s.claim.Variable.Func == "" && len(made) > 1 {
		j.add("owned", "%s is one variable for %s, of which some are made at %s: %s", s.claim.Variable, all,
			strings.Join(made, " and "), j.manyLocks())
		return
	}
	j.doubt(place{first.pkg, first.instr}, finding.Heavy, "owned", j.manyLocks(),
		"%s, under %s at %s, is one variable for %s", s.claim.Variable, short(s.claim.Lock), at(first.pkg, first.instr), all)
}

// guarding lists the held locks that protect an access.
func (s *side) guarding(u use) (list []lockset.Held) {
	for _, h := range u.locks.Held() {
		if s.isLock(h) && !isPrivate(u, h) && s.sameObject(h, u.base) && !(u.write && h.Read) {
			list = append(list, h)
		}
	}
	return list
}

// contents returns the field whose map, array behind a slice, or number behind a pointer the claim's lock is for too;
// not ok if the variable is of another type, or nothing is written there.
func (s *side) contents() (name accesspath.Name, ok bool) {
	v := s.claim.Variable
	ok = s.isDeep()
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		s.eachMentioning(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			if ok {
				return
			}
			if call, isCall := instr.(*ssa.Call); isCall && builtinOf(call) == "append" && isAppend(call) {
				ok = slices.ContainsFunc(t.origins(call.Call.Args[0]), func(o origin) bool { return o.level == 1 })
			}
			ok = ok || slices.ContainsFunc(s.touches(t, instr), func(x touch) bool { return x.level == 1 && toNumber(x.root) })
		})
	}
	return accesspath.Name{Package: v.Package, Type: v.Type, Field: v.Name}, ok
}

// toNumber reports whether the variable at an address is a pointer to a number or the like: fields of a struct are
// variables of their own.
func toNumber(addr ssa.Value) bool {
	pointer, ok := ir.Pointee(addr.Type()).Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	_, isStruct := pointer.Elem().Underlying().(*types.Struct)
	return !isStruct
}

// isAppend reports whether a call of append may write behind the end of its first argument: append(x[:n:n], …) never
// does.
func isAppend(call *ssa.Call) bool {
	part, ok := call.Call.Args[0].(*ssa.Slice)
	return !ok || part.Max == nil
}
