package pointsto

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// verdict is the proof that the whole program has for a site. Of two proofs the larger
// one holds for both, see [site.add].
type verdict int

const (
	unjudged     verdict = iota // no code that the program may run was found there
	maybeShared                 // it may race, for all that is known
	local                       // only one goroutine can reach the object
	notParallel                 // the variable is accessed by goroutines that follow each other only
	neverWritten                // nobody writes the variable once others can reach its object
)

// reasons are the plan's, by verdict.
var reasons = map[verdict]plan.Reason{
	local: plan.WholeLocal, notParallel: plan.WholeNotParallel, neverWritten: plan.WholeStationary,
}

// Result answers questions about a program. It is not safe for concurrent use.
type Result struct {
	program *program
	exprs   map[ast.Expr][]access
	sites   map[plan.Key]*site
}

// access is where an expression of the source is evaluated: its value, or the
// address that it writes to.
type access struct {
	in      *ssa.Function
	value   ssa.Value
	store   *ssa.Store
	address bool // value is the address
}

// site is a site of the source as it is compiled. It has one location and one
// pointer for each function that its code was compiled to.
type site struct {
	plan    *plan.Site
	verdict verdict
	by      context
	nodes   []node
}

// Verdicts judges all sites of the main modules, in no order. A site in a file that
// belongs to several packages, such as a package with and without its tests, is
// judged by the worst.
func (r *Result) Verdicts() []plan.Verdict {
	r.judgeSites()
	all := make([]plan.Verdict, 0, len(r.sites))
	for _, s := range r.sites {
		all = append(all, plan.Verdict{Site: *s.plan, Judged: s.verdict != unjudged, Reason: reasons[s.verdict]})
	}
	return all
}

func (r *Result) judgeSites() {
	if r.sites != nil {
		return
	}
	r.sites = map[plan.Key]*site{}
	r.findExprs()
	for _, p := range r.program.loaded.Own {
		for _, a := range sites.Enumerate(p.Package) {
			k := a.Site.Key()
			s := r.sites[k]
			if s == nil {
				s = &site{plan: &a.Site}
				r.sites[k] = s
			}
			r.judgeAccess(s, &a)
		}
	}
}

// findExprs finds the values of the expressions in the main modules' code.
func (r *Result) findExprs() {
	r.exprs = map[ast.Expr][]access{}
	for _, fn := range r.program.live {
		for _, b := range fn.Blocks {
			for i, instr := range b.Instrs {
				ref, ok := instr.(*ssa.DebugRef)
				if !ok {
					continue
				}
				a := access{in: fn, value: ref.X, address: ref.IsAddr}
				if i > 0 && !ref.IsAddr {
					if st, ok := b.Instrs[i-1].(*ssa.Store); ok && st.Val == ref.X {
						a.store = st
					}
				}
				r.exprs[ref.Expr] = append(r.exprs[ref.Expr], a)
			}
		}
	}
}

// judgeAccess adds the proof for one access in the source to s.
func (r *Result) judgeAccess(s *site, a *sites.Access) {
	list := r.accesses(ast.Unparen(a.Node))
	if a.Map() || a.Site.Behind && a.Through == "" {
		list = values(list)
	}
	for _, acc := range list {
		l, ok := r.program.locate(a, acc)
		if !ok {
			s.addVerdict(maybeShared)
			continue
		}
		s.by |= r.program.ctx.of[acc.in]
		s.nodes = append(s.nodes, l.pointers...)
		s.addVerdict(r.program.verdict(l))
	}
}

// accesses returns the compiled accesses of expression e. That of a selected field bears,
// where it is stored to or its address is taken, the name of the field alone.
func (r *Result) accesses(e ast.Expr) []access {
	list := r.exprs[e]
	if sel, ok := e.(*ast.SelectorExpr); ok {
		list = append(slices.Clip(list), r.exprs[sel.Sel]...)
	}
	return list
}

// values leaves out the addresses that a list's values are loaded from, in the
// same function.
func values(list []access) []access {
	loaded := map[*ssa.Function]bool{}
	for _, a := range list {
		if !a.address {
			loaded[a.in] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(a access) bool { return a.address && loaded[a.in] })
}

// addVerdict joins the verdicts on the functions that a site was compiled to.
func (s *site) addVerdict(v verdict) {
	switch {
	case s.verdict == unjudged || v == maybeShared:
		s.verdict = v
	case s.verdict != maybeShared:
		s.verdict = max(s.verdict, v) // each proof holds for its own function
	}
}

func (p *program) verdict(l accessed) verdict {
	if !slices.ContainsFunc(l.pointers, func(n node) bool { return n == none || p.hasMarks(n, shared) }) {
		return local
	}
	written := false
	for _, pl := range l.locations {
		u := pl.representative().by
		if u.conflict() {
			return maybeShared
		}
		written = written || u.writes != 0
	}
	if written {
		return notParallel
	}
	return neverWritten
}

// accessed is the memory that an access touches: pointers to the object, and all locations
// in it.
type accessed struct {
	pointers  []node
	locations []*location
}

// locate returns the memory that a accesses; not ok where that is not known.
func (p *program) locate(a *sites.Access, acc access) (accessed, bool) {
	switch {
	case a.Synchronises(), a.SyncMap():
		return accessed{}, false // channels, WaitGroups and entries of a sync.Map have no location of their own
	case a.Map():
		return p.mapAccessed(acc)
	case a.Through != "":
		return p.embedded(acc, strings.Split(a.Through, "."))
	case a.Site.Behind:
		return p.pointee(acc)
	}
	addr := acc.addressOf(a.Site.Mode)
	if addr == nil {
		return accessed{}, false
	}
	return accessed{[]node{p.nodeOf(addr)}, p.withParts(p.locationAt(addr), pointedType(addr.Type()))}, true
}

// withParts lists a location and those of its parts.
func (p *program) withParts(pl *location, t types.Type) []*location {
	return append([]*location{pl}, p.partsOfWhole(t)...)
}

func (p *program) mapAccessed(acc access) (accessed, bool) {
	v := acc.value
	if acc.address {
		return accessed{}, false
	}
	m, ok := v.Type().Underlying().(*types.Map)
	if !ok {
		return accessed{}, false
	}
	return accessed{[]node{p.nodeOf(v)}, []*location{p.mapVal(m)}}, true
}

// pointee returns the memory that the slice or pointer leads to.
func (p *program) pointee(acc access) (accessed, bool) {
	if acc.address {
		return accessed{}, false
	}
	n := p.nodeOf(acc.value)
	switch u := acc.value.Type().Underlying().(type) {
	case *types.Slice:
		return accessed{[]node{n}, p.withParts(p.elemOf(acc.value), u.Elem())}, true
	case *types.Pointer:
		if a, ok := u.Elem().Underlying().(*types.Array); ok {
			return accessed{[]node{n}, p.withParts(p.elemOf(acc.value), a.Elem())}, true
		}
		return accessed{[]node{n}, p.withParts(p.pointeeLocation(u.Elem()), u.Elem())}, true
	}
	return accessed{}, false
}

// embedded returns the field at the end of a path of embedded structs.
func (p *program) embedded(acc access, path []string) (accessed, bool) {
	t, isPointer := acc.value.Type().Underlying().(*types.Pointer)
	if !isPointer {
		return accessed{}, false
	}
	l := accessed{pointers: []node{p.nodeOf(acc.value)}}
	at := t.Elem()
	if _, ok := at.Underlying().(*types.Pointer); ok { // the address of the variable that holds the pointer
		return accessed{}, false
	}
	for _, name := range path {
		st, ok := at.Underlying().(*types.Struct)
		if !ok {
			return accessed{}, false
		}
		i := 0
		for i < st.NumFields() && st.Field(i).Name() != name {
			i++
		}
		if i == st.NumFields() {
			return accessed{}, false
		}
		pl := p.fieldLocation(at, i).representative()
		if pl.sub != none {
			l.pointers = append(l.pointers, pl.sub)
		}
		l.locations, at = []*location{pl}, st.Field(i).Type()
	}
	l.locations = append(l.locations, p.partsOfWhole(at)...)
	return l, true
}

// addressOf returns the address that an expression stands for.
func (acc access) addressOf(mode plan.Mode) ssa.Value {
	switch {
	case acc.address:
		return acc.value
	case mode == plan.Write && acc.store != nil:
		return acc.store.Addr
	case mode == plan.Write:
		return nil
	}
	v := acc.value
	for {
		switch x := v.(type) {
		case *ssa.Field:
			v = x.X
		case *ssa.Index:
			v = x.X
		case *ssa.UnOp:
			if x.Op == token.MUL {
				return x.X
			}
			return nil
		default:
			return nil
		}
	}
}

// String returns the size of the program.
func (r *Result) String() string { return r.program.String() }
