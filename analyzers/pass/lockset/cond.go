package lockset

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// condAlias is the lock that the conditions kept in one field stand on: a
// field of the same struct, or of a struct that it holds.
type condAlias struct {
	fields string // from that struct: ".mu"
	class  string
}

// findConds finds x.cond = sync.NewCond(&x.mu), after which x.cond.L is x.mu.
// A field that gets several locks is none of them.
func (r *Result) findConds() {
	conflict := map[accesspath.Name]bool{}
	for _, fn := range r.prog.Funcs {
		for instr := range ir.Instructions(fn) {
			st, ok := instr.(*ssa.Store)
			if !ok {
				continue
			}
			name, alias, ok := newCond(st)
			if !ok {
				continue
			}
			if old, seen := r.conds[name]; seen && old != alias || alias.fields == "" {
				conflict[name] = true
			}
			r.conds[name] = alias
		}
	}
	for name := range conflict {
		delete(r.conds, name)
	}
}

// newCond recognises the store of a new condition into a field.
func newCond(st *ssa.Store) (name accesspath.Name, alias condAlias, ok bool) {
	field, isField := st.Addr.(*ssa.FieldAddr)
	call, isCall := st.Val.(*ssa.Call)
	if !isField || !isCall || len(call.Call.Args) != 1 {
		return name, alias, false
	}
	if fn := call.Call.StaticCallee(); fn == nil || fn.Name() != "NewCond" || !inSync(fn.Object()) {
		return name, alias, false
	}
	name, ok = accesspath.NameOf(field)
	lock := call.Call.Args[0]
	if to := fieldOf(lock, field.X); to != nil {
		lock = to
	}
	if rest, under := accesspath.Of(lock).Under(accesspath.Of(field.X)); under {
		alias = condAlias{rest, classOf(lock)}
	}
	return name, alias, ok
}

// fieldOf returns the field of object into which the lock is stored as well; nil if there is none:
//
//	mu := new(sync.Mutex); t := &table{mu: mu, cond: sync.NewCond(mu)}
func fieldOf(lock, object ssa.Value) ssa.Value {
	if boxed, ok := lock.(*ssa.MakeInterface); ok {
		lock = boxed.X
	}
	refs := lock.Referrers()
	if refs == nil {
		return nil
	}
	for _, ref := range *refs {
		if st, ok := ref.(*ssa.Store); ok && st.Val == lock {
			if to, ok := st.Addr.(*ssa.FieldAddr); ok && to.X == object {
				return to
			}
		}
	}
	return nil
}

func inSync(obj types.Object) bool {
	return obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "sync"
}

// condLock names the lock c.L of a condition: the lock that NewCond was given,
// where that is known, and else by the field that holds the condition.
func (r *Result) condLock(v ssa.Value) (accesspath.Path, string, bool) {
	l, ok := ir.Back(v, ir.Loaded).(*ssa.FieldAddr)
	if !ok || accesspath.FieldOf(l).Name() != "L" || !inSync(accesspath.FieldOf(l)) {
		return accesspath.Path{}, "", false
	}
	if path, class, ok := r.lockOfCond(l.X); ok {
		return path, class, true
	}
	return accesspath.Of(v), "", true
}

// lockOfCond names the lock of the condition at v.
func (r *Result) lockOfCond(v ssa.Value) (accesspath.Path, string, bool) {
	v = ir.Address(v)
	name, ok := accesspath.NameOf(v)
	if !ok {
		return accesspath.Path{}, "", false
	}
	if alias, known := r.conds[name]; known {
		if field, isField := v.(*ssa.FieldAddr); isField {
			return accesspath.Of(field.X).Plus(alias.fields), alias.class, true
		}
	}
	return accesspath.Of(v).Plus(".L"), name.String() + ".L", true
}

// LockOfCond returns the class of the lock of the condition at v; not ok where that is not known.
func (r *Result) LockOfCond(v ssa.Value) (class string, ok bool) {
	name, named := accesspath.NameOf(ir.Address(v))
	alias, known := r.conds[name]
	return alias.class, named && known && alias.class != ""
}

// releaseByGoroutine returns the state after a goroutine is started that releases a lock
// which it has not taken, or waits for a condition under it: from then on it
// may be held or not.
func (r *Result) releaseByGoroutine(s *State, start *ssa.Go) *State {
	fn, _ := callgraph.Target(&start.Call)
	if fn == nil || len(fn.Blocks) == 0 {
		return s
	}
	for p, h := range s.locks {
		if (h.status == held || h.status == heldRead) && (r.releases(fn, h.class) || r.waitsUnder(fn, p)) {
			s = s.withHold(p, hold{status: maybe, class: h.class})
		}
	}
	return s
}

// waitsUnder reports whether fn waits for a condition of the lock at p.
func (r *Result) waitsUnder(fn *ssa.Function, p accesspath.Path) bool {
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(*ssa.Call)
		if !ok {
			continue
		}
		callee := call.Call.StaticCallee()
		if callee == nil || callee.Name() != "Wait" || callee.Signature.Recv() == nil || !inSync(callee.Object()) {
			continue
		}
		if path, _, ok := r.lockOfCond(call.Call.Args[0]); ok && path == p {
			return true
		}
	}
	return false
}
