package accesses

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// A lock that guards an element of a list may lie in another list, at the same index. A method of the element has no
// path to it; its callers have:
//
//	c.locks[i].Lock(); c.parts[i].set(v)
//
// striped knows, by the calls of the package, which locks of its callers lie beside the object of a function.
type striped struct {
	graph *callgraph.Graph
	calls map[ssa.Instruction]*lockset.State
	known map[parameterLock]bool
}

// parameterLock is a parameter of a function, and the class of a lock that its callers hold.
type parameterLock struct {
	param *ssa.Parameter
	class string
}

// findBeside notes, of the locks that callers hold at the accesses, those that lie beside the object.
func (c *collector) findBeside(list []*Access) {
	s := striped{c.list.Graph, c.calls, map[parameterLock]bool{}}
	for _, a := range list {
		param, ok := a.Path.Root.(*ssa.Parameter)
		if !ok || param.Parent() != a.Fn {
			continue
		}
		for _, h := range a.Locks.Held() {
			if h.Path.Root == nil && h.Class != "" && s.isBeside(parameterLock{param, h.Class}) {
				a.beside = append(a.beside, h.Class)
			}
		}
	}
}

// isBeside reports whether each caller holds the lock at the index at which the argument lies.
func (s *striped) isBeside(p parameterLock) bool {
	if known, ok := s.known[p]; ok {
		return known
	}
	s.known[p] = false // a function that calls itself says nothing
	fn := p.param.Parent()
	i, sites := slices.Index(fn.Params, p.param), s.graph.Sites(fn)
	s.known[p] = s.graph.Closed(fn) && len(sites) > 0 && !slices.ContainsFunc(sites, func(site callgraph.Site) bool {
		state := s.calls[site.Instr]
		return state == nil || i >= len(site.Args) || !s.holdsBeside(state, accesspath.Of(site.Args[i]), p.class)
	})
	return s.known[p]
}

// holdsBeside reports whether a lock of the class is held that lies beside the object at the path.
func (s *striped) holdsBeside(state *lockset.State, object accesspath.Path, class string) bool {
	return slices.ContainsFunc(state.Held(), func(h lockset.Held) bool {
		switch {
		case h.Class != class:
			return false
		case h.Path.Root == nil:
			param, ok := object.Root.(*ssa.Parameter)
			return ok && s.isBeside(parameterLock{param, class})
		}
		at := accesspath.Indexes(h.Path.Fields)
		return h.Path.Root == object.Root && len(at) > 0 && slices.Equal(at, accesspath.Indexes(object.Fields))
	})
}
