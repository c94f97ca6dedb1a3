package ownership

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// Started reports whether the function of at allocated the object in which base lies, and go statements before at,
// and nothing else, have shared it.
func (r *Result) Started(base ssa.Value, at ssa.Instruction) (started bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	root := rootObject(base)
	switch x := root.(type) {
	case *ssa.Alloc:
	case *ssa.Call:
		if !r.freshResult(x, 0) {
			return false
		}
	default:
		return false
	}
	if root.Parent() != at.Parent() {
		return false
	}
	for _, p := range r.publications(root) {
		if p.level < Shared || !r.reaches(p.instr, at, root) {
			continue
		}
		if _, isGo := p.instr.(*ssa.Go); !isGo {
			return false
		}
		started = true
	}
	return started
}

// Made reports whether the function of at allocated the object in which base
// lies, itself or by a constructor, no matter which functions know of it since.
func (r *Result) Made(base ssa.Value, at ssa.Instruction) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	root := rootObject(base)
	if root.Parent() != at.Parent() {
		return false
	}
	return r.isMadeObject(root)
}

// MadeKnownByCalls reports whether the function of at made the object in which
// base lies, and only functions that it called before at, none of its own go
// statements, sends and assignments, may have shared it.
func (r *Result) MadeKnownByCalls(base ssa.Value, at ssa.Instruction) bool {
	if !r.Made(base, at) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	root := rootObject(base)
	return !slices.ContainsFunc(r.publications(root), func(p publication) bool {
		_, isCall := p.instr.(*ssa.Call)
		return !isCall && p.level == Shared && r.reaches(p.instr, at, root)
	})
}

// MadeByCallers reports whether base lies in an object that comes as a
// parameter, and every caller has made it itself or by such a helper: the
// function is part of the code that sets the object up.
func (r *Result) MadeByCallers(base ssa.Value, at ssa.Instruction) bool {
	return r.madeByCallers(base, at, 0)
}

// MadeBySome reports whether base lies in an object that comes as a parameter
// which some caller has made itself: to set the object up is one of the
// function's uses.
func (r *Result) MadeBySome(base ssa.Value, at ssa.Instruction) bool {
	return r.madeBySome(base, at, 0)
}

func (r *Result) madeBySome(base ssa.Value, at ssa.Instruction, depth int) bool {
	p, ok := rootObject(base).(*ssa.Parameter)
	if !ok || p.Parent() != at.Parent() || depth > knowledge.CallsToOwner {
		return false
	}
	i := slices.Index(p.Parent().Params, p)
	return slices.ContainsFunc(r.graph.Sites(p.Parent()), func(s callgraph.Site) bool {
		return s.Mode == callgraph.Call && i < len(s.Args) &&
			(r.Made(s.Args[i], s.Instr) || r.madeBySome(s.Args[i], s.Instr, depth+1))
	})
}

func (r *Result) madeByCallers(base ssa.Value, at ssa.Instruction, depth int) bool {
	p, ok := rootObject(base).(*ssa.Parameter)
	if !ok || p.Parent() != at.Parent() || depth > knowledge.CallsToOwner || !r.graph.Closed(p.Parent()) {
		return false
	}
	i, sites := slices.Index(p.Parent().Params, p), r.graph.Sites(p.Parent())
	for _, s := range sites {
		if s.Mode == callgraph.Go || i >= len(s.Args) ||
			!r.Made(s.Args[i], s.Instr) && !r.madeByCallers(s.Args[i], s.Instr, depth+1) {
			return false
		}
	}
	return len(sites) > 0
}
