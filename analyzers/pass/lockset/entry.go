package lockset

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// inferEntries finds the locks held on entry of each function: from the roots
// along calls, each function again whenever a call brings fewer locks.
func (r *Result) inferEntries() {
	work := r.listRoots()
	queued := map[*ssa.Function]bool{}
	for len(work) > 0 {
		fn := work[0]
		work = work[1:]
		queued[fn] = false
		for _, callee := range r.follow(fn) {
			if !queued[callee] {
				queued[callee] = true
				work = append(work, callee)
			}
		}
	}
	for _, fn := range r.prog.Funcs { // functions that nothing calls
		if r.entry[fn] == nil {
			r.entry[fn] = r.declaredState(fn, true)
		}
		f := &flow{r: r, flag: r.flagged[fn]}
		f.solveStates(fn, r.entry[fn])
		r.flows[fn] = f
	}
}

// listRoots returns the state of each function that starts with one of its own.
func (r *Result) listRoots() []*ssa.Function {
	var work []*ssa.Function
	for _, fn := range r.prog.Funcs {
		roles := r.graph.Roles(fn)
		root := r.graph.Open(fn) || r.graph.Escapes(fn) || len(r.graph.Sites(fn)) == 0
		if root {
			r.entry[fn] = r.declaredState(fn, !r.graph.Open(fn) && !roles.Main || r.wants[fn])
			r.entry[fn].unseen = !r.graph.Open(fn) && !roles.Main && r.graph.Escapes(fn)
			work = append(work, fn)
		}
	}
	return work
}

func (r *Result) declaredState(fn *ssa.Function, unknown bool) *State {
	s := &State{Unknown: unknown && len(r.declared[fn]) == 0}
	for _, d := range r.declared[fn] {
		s = s.acquire(d.path, hold{status: held, class: d.class})
	}
	return s
}

// follow runs fn from its entry state and lists the callees with a changed entry state.
func (r *Result) follow(fn *ssa.Function) []*ssa.Function {
	var changed []*ssa.Function
	f := &flow{r: r, flag: r.flagged[fn], onCall: func(call ssa.CallInstruction, s *State) {
		for _, site := range r.graph.At(call) {
			if site.Caller == fn && r.arrive(site, s) {
				changed = append(changed, site.Callee)
			}
		}
	}}
	f.solveStates(fn, r.entry[fn])
	f.walkBlocks(fn, nil)
	return changed
}

// arrive joins the state of a call into its callee's entry, and reports
// whether that changed it.
func (r *Result) arrive(site callgraph.Site, s *State) bool {
	fn := site.Callee
	if r.graph.Open(fn) || r.graph.Escapes(fn) || r.graph.Roles(site.Caller).OnlyInit() {
		return false
	}
	in := r.translate(site, s)
	if in == nil {
		return false
	}
	for _, d := range r.declared[fn] {
		in = in.acquire(d.path, hold{status: held, class: d.class})
	}
	in.Unknown = in.Unknown || r.wants[fn]
	old := r.entry[fn]
	if old == nil {
		r.flagged[fn] = flagOf(fn)
	}
	r.entry[fn] = joinEntry(old, in)
	changed := old == nil || !equalStates(old, r.entry[fn])
	if flag := r.flagged[fn]; flag != nil {
		changed = flag.arrive(site, in) || changed
	}
	return changed
}

// joinEntry returns the entry state of a function that has been called with one state, nil for none yet, and is called
// with another.
func joinEntry(old, in *State) *State {
	switch {
	case old == nil:
		return in
	case in.unseen || old.unseen: // it is called with these locks, and by a function with callers that are not seen
		return onlyHeld(joinStates(old, in))
	case old.Unknown && !in.Unknown:
		return in
	case in.Unknown && !old.Unknown:
		return old // a call that is understood says more
	}
	return onlyHeld(joinStates(old, in))
}

// translate returns the entry state that a call with state s brings, in terms
// of the callee; nil if the call does not count, its receiver being fresh.
func (r *Result) translate(site callgraph.Site, s *State) *State {
	in := &State{Unknown: s.Unknown, unseen: s.unseen, locks: map[accesspath.Path]hold{}}
	if site.Mode == callgraph.Go {
		in.Unknown, in.unseen = false, false // a goroutine shares the objects that it is started with
		r.handOver(in, site, s)
		return in
	}
	switch r.calledOn(site) {
	case ownership.Fresh:
		return nil
	case ownership.Handed:
		in.Unknown = true
	}
	if roles := r.graph.Roles(site.Caller); roles.Main && !roles.Concurrent() && !r.startsBefore(site) {
		in.Unknown = true // the goroutines may not have been started yet
	}
	if site.Through != nil {
		s = r.around(site, s)
	}
	for p, h := range s.locks {
		if h.status != held && h.status != heldRead {
			continue
		}
		h.since = nil
		names := inCallee(site, p)
		if len(names) == 0 && h.class != "" {
			names = []accesspath.Path{anonymous(h.class)}
		}
		for _, q := range names {
			in.locks[q] = h
		}
	}
	return in
}

// handOver adds to in, the entry state of a goroutine, the locks of its starter's state s that it surely releases
// without taking them:
//
//	s.mu.Lock()
//	go func() { defer s.mu.Unlock(); s.n++ }()
func (r *Result) handOver(in *State, site callgraph.Site, s *State) {
	fn, args := callgraph.Target(site.Instr.Common())
	if fn != site.Callee {
		return
	}
	for _, e := range r.effects(fn) {
		p, ok := e.inCaller(fn, args)
		if h := s.locks[p]; ok && e.status == released && (h.status == held || h.status == heldRead) {
			h.since = nil
			for _, q := range inCallee(site, p) {
				in.locks[q] = h
			}
		}
	}
}

// anonymous names a lock that a caller holds and the callee has no path to:
// some lock of the class.
func anonymous(class string) accesspath.Path { return accesspath.Path{Fields: class} }

// onlyHeld drops the locks that are not surely held: on entry nothing else is known.
func onlyHeld(s *State) *State {
	out := &State{Unknown: s.Unknown, unseen: s.unseen, locks: map[accesspath.Path]hold{}}
	for p, h := range s.locks {
		if h.status == held || h.status == heldRead {
			h.since = nil
			out.locks[p] = h
		}
	}
	return out
}

// inCallee returns the names by which the callee reaches the caller's lock p:
// unchanged for package variables and captured values, and through each
// parameter with an argument that p is reached from.
func inCallee(site callgraph.Site, p accesspath.Path) []accesspath.Path {
	var paths []accesspath.Path
	if _, global := p.Global(); global || site.Callee.Parent() != nil {
		paths = append(paths, p)
	}
	for i, arg := range site.Args {
		if i >= len(site.Callee.Params) {
			break
		}
		if rest, ok := p.Under(accesspath.Of(arg)); ok {
			paths = append(paths, accesspath.Path{Root: site.Callee.Params[i], Fields: rest})
		}
	}
	return paths
}

// startsBefore reports whether the caller may have started a goroutine when it makes the call.
func (r *Result) startsBefore(site callgraph.Site) bool {
	flow := r.prog.Flow(site.Caller)
	return slices.ContainsFunc(site.Caller.Blocks, func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Instrs, func(instr ssa.Instruction) bool {
			_, isGo := instr.(*ssa.Go)
			return isGo && flow.Leads(instr, site.Instr)
		})
	})
}

// calledOn returns how far the object that a method is called on is shared; for
// a function, the least private of the structs that it is given.
func (r *Result) calledOn(site callgraph.Site) ownership.Level {
	key := siteKey{site.Instr, site.Callee}
	level, ok := r.onObject[key]
	if !ok {
		level = r.receiverLevel(site)
		r.onObject[key] = level
	}
	return level
}

func (r *Result) receiverLevel(site callgraph.Site) ownership.Level {
	if site.Callee.Signature.Recv() != nil && len(site.Args) > 0 {
		if r.owner.LeadsToShared(site.Args[0].Type()) {
			return ownership.Shared // the object that it leads to has a lock, which its callers hold or not
		}
		return r.owner.Of(site.Args[0], site.Instr)
	}
	level, any := ownership.Fresh, false
	for _, a := range site.Args {
		if p, ok := a.Type().Underlying().(*types.Pointer); ok {
			if _, ok := p.Elem().Underlying().(*types.Struct); ok {
				any = true
				level = max(level, r.owner.Of(a, site.Instr))
			}
		}
	}
	if !any {
		return ownership.Shared
	}
	return level
}

// around adds to s the locks that the function which is handed the callee
// holds while it calls it.
func (r *Result) around(site callgraph.Site, s *State) *State {
	_, args := callgraph.Target(site.Instr.Common())
	for _, e := range r.heldAround(site.Through, site.Param) {
		if p, ok := e.inCaller(site.Through, args); ok {
			s = s.acquire(p, hold{status: e.status, class: e.class})
		}
	}
	return s
}

// RunsUnderLock reports whether a function, of any package, holds a lock or the turn of a channel whenever it calls the
// function that site hands to it.
func (r *Result) RunsUnderLock(site callgraph.Site) bool {
	return len(r.heldAround(site.Through, site.Param)) > 0
}

// heldAround lists the locks that fn holds whenever it calls its parameter i.
func (r *Result) heldAround(fn *ssa.Function, i int) []effect {
	if len(fn.Blocks) == 0 {
		var fact Effects
		if obj, ok := fn.Object().(*types.Func); ok && r.pass.ImportObjectFact(obj, &fact) {
			return imported(fact.Under[i])
		}
		return nil
	}
	if i >= len(fn.Params) {
		return nil
	}
	var all *State
	f := &flow{r: r, onCall: func(call ssa.CallInstruction, s *State) {
		if call.Common().Value == fn.Params[i] {
			all = joinStates(all, s)
		}
	}}
	f.solveStates(fn, &State{})
	f.walkBlocks(fn, nil)
	if all == nil {
		return nil
	}
	var effects []effect
	for p, h := range all.locks {
		if (h.status == held || h.status == heldRead) && visible(p, fn) {
			effects = append(effects, effect{path: p, status: h.status, class: h.class})
		}
	}
	return effects
}

// readDeclarations reads fn's name and comments for locks: gVisor's
// +checklocks:c.mu names one; conventions leave the entry state unknown.
func (r *Result) readDeclarations(fn *ssa.Function) {
	decl, ok := fn.Syntax().(*ast.FuncDecl)
	if !ok {
		return
	}
	if knowledge.NameWantsLock(fn.Name()) {
		r.wants[fn] = true
	}
	if decl.Doc == nil {
		return
	}
	r.wants[fn] = r.wants[fn] || knowledge.CommentWantsLock(strings.Join(strings.Fields(decl.Doc.Text()), " "))
	for _, c := range decl.Doc.List {
		text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
		if strings.HasPrefix(text, "+checklocksignore") {
			r.wants[fn] = true
		}
		if path, ok := strings.CutPrefix(text, "+checklocks:"); ok {
			r.declare(fn, path)
		}
	}
}

// declareReleased has fn hold, on entry, the locks that it releases on all ways, whereas it takes none of their class:
// they are handed to it by its callers, or by the goroutine that has sent it a message.
//
//	func (c *Cluster) finish() { c.current = nil; c.mu.Unlock() }
func (r *Result) declareReleased(fn *ssa.Function) {
	for _, e := range r.effects(fn) {
		takes := slices.ContainsFunc(r.takes[fn], func(a Acquire) bool { return a.Class == e.class })
		if e.status == released && e.path.Root != nil && !isTurn(e.class) && !takes {
			r.declared[fn] = append(r.declared[fn], e)
		}
	}
}

func (r *Result) declare(fn *ssa.Function, path string) {
	root, fields, _ := strings.Cut(path, ".")
	for _, p := range fn.Params {
		if p.Name() == root {
			r.declared[fn] = append(r.declared[fn], effect{path: accesspath.Path{Root: p, Fields: "." + fields}})
			return
		}
	}
	if g := r.prog.Pkg.Var(path); g != nil {
		r.declared[fn] = append(r.declared[fn], effect{path: accesspath.Path{Root: g}})
	}
}
