package parallel

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// mapping leads from the names of a callee to those of its caller.
type mapping struct {
	site  callgraph.Site
	once  *signal // of the sync.Once that calls the callee
	lists map[listKey][]signal
}

// listKey is a list of signals, which many touches share.
type listKey struct {
	first *signal
	n     int
	may   bool
}

// shared is signals, worked out once for each list.
func (m mapping) shared(list []signal, may bool) []signal {
	if len(list) == 0 {
		return nil
	}
	key := listKey{&list[0], len(list), may}
	moved, ok := m.lists[key]
	if !ok {
		moved = slices.Clip(m.signals(list, may))
		m.lists[key] = moved
	}
	return moved
}

func newMapping(s callgraph.Site) mapping {
	m := mapping{site: s, lists: map[listKey][]signal{}}
	if s.Through != nil && throughName(s) == "sync.Do" && len(s.Instr.Common().Args) > 0 {
		once := signalOf(order.Ended, s.Instr.Common().Args[0])
		m.once = &once
	}
	return m
}

// pathInCaller returns the path in the caller of p, a path in the callee.
func (m mapping) pathInCaller(p accesspath.Path) (accesspath.Path, bool) {
	callee := m.site.Callee
	switch root := p.Root.(type) {
	case nil:
		return accesspath.Path{}, false
	case *ssa.Global:
		return p, true
	case *ssa.Parameter:
		i := p.Param(callee)
		if i < 0 {
			break
		}
		if i >= len(m.site.Args) {
			return accesspath.Path{}, false
		}
		arg := accesspath.Of(m.site.Args[i])
		if _, isConst := arg.Root.(*ssa.Const); isConst {
			return accesspath.Path{}, false
		}
		return arg.Plus(p.Fields), true
	default:
		if root.Parent() == callee {
			return m.result(p)
		}
	}
	// A variable that the callee captures has the same name in every function within that of its root.
	for fn := m.site.Caller; fn != nil; fn = fn.Parent() {
		if p.Root.Parent() == fn {
			return p, true
		}
	}
	return accesspath.Path{}, false
}

// result returns the path of an object that the callee has made and returns.
func (m mapping) result(p accesspath.Path) (accesspath.Path, bool) {
	call, ok := m.site.Instr.(*ssa.Call)
	if !ok || m.site.Through != nil {
		return accesspath.Path{}, false
	}
	i := resultOf(m.site.Callee, p.Root)
	switch {
	case i < 0:
		return accesspath.Path{}, false
	case m.site.Callee.Signature.Results().Len() == 1:
		return accesspath.Of(call).Plus(p.Fields), true
	}
	for _, ref := range *call.Referrers() {
		if e, ok := ref.(*ssa.Extract); ok && e.Index == i {
			return accesspath.Of(e).Plus(p.Fields), true
		}
	}
	return accesspath.Path{}, false
}

// signals returns those that mean something to the caller. Of signals that the callee
// may give it keeps those that it cannot name, too, unless the callee has made the object
// for itself alone.
func (m mapping) signals(list []signal, may bool) []signal {
	var moved []signal
	for _, s := range list {
		if s.sort == order.Unknown || s.sort == order.Everything || s.sort == order.Polled {
			moved = addSignals(moved, s)
			continue
		}
		path, ok := m.pathInCaller(s.path)
		switch {
		case ok:
			moved = addSignals(moved, signal{s.sort, path, s.name, s.seen})
		case s.name != (accesspath.Name{}):
			moved = addSignals(moved, signal{s.sort, accesspath.Path{}, s.name, s.seen})
		case may && !s.isWeak() && !ownObject(s.path, m.site.Callee):
			moved = addSignals(moved, signal{sort: order.Unknown})
		}
	}
	return moved
}

func ownObject(p accesspath.Path, fn *ssa.Function) bool {
	switch p.Root.(type) {
	case *ssa.MakeChan, *ssa.Alloc:
		return p.Root.Parent() == fn
	}
	return false
}

// touchInCaller returns t as the caller sees it, made by its instruction at with the
// locks held; nil if the caller has no name for the variable.
func (m mapping) touchInCaller(t *Touch, at ssa.Instruction, locks []held) *Touch {
	path, ok := m.pathInCaller(t.Place.Path)
	if !ok || countSelections(path) > knowledge.FieldsOfPath {
		return nil
	}
	if local, ok := path.Root.(*ssa.Alloc); ok && !local.Heap {
		return nil
	}
	// Put the signals and locks that order it into the names of the caller.
	moved := *t
	moved.at = at
	moved.Place.Path = path
	moved.after, moved.then = m.shared(t.after, false), m.shared(t.then, true)
	moved.locks = slices.Clone(locks)
	for _, h := range t.locks {
		h.path, ok = m.pathInCaller(h.path)
		if ok || h.class != "" {
			moved.locks = append(moved.locks, h)
		}
	}
	moved.tests = nil
	for _, test := range t.tests {
		if test.Path, ok = m.pathInCaller(test.Path); ok {
			moved.tests = append(moved.tests, test)
		}
	}
	if m.once != nil {
		moved.locks = append(moved.locks, held{path: m.once.path, class: m.once.name.Short()})
		moved.then = addSignals(moved.then, *m.once)
	}
	return &moved
}
