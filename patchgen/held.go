package patchgen

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strings"

	"golang.org/x/tools/go/cfg"
)

// lockOp is one call of Lock, RLock, Unlock or RUnlock.
type lockOp struct {
	call    *ast.CallExpr
	lock    ast.Expr // the lock: x.mu
	place   place
	acquire bool
	read    bool // RLock, RUnlock
	try     bool // may fail to acquire
}

// lockOp classifies a call; ok is false for anything else. Every type with
// Lock and Unlock counts as a lock, wrappers and sync.Locker too.
func (u *unit) lockOp(call *ast.CallExpr) (op lockOp, ok bool) {
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSel || len(call.Args) > 0 {
		return op, false
	}
	s := u.pkg.info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return op, false
	}
	switch sel.Sel.Name {
	case "Lock":
		op.acquire = true
	case "RLock":
		op.acquire, op.read = true, true
	case "TryLock":
		op.acquire, op.try = true, true
	case "TryRLock":
		op.acquire, op.read, op.try = true, true, true
	case "Unlock":
	case "RUnlock":
		op.read = true
	default:
		return op, false
	}
	if !lockable(s.Recv()) {
		return op, false
	}
	op.call, op.lock = call, sel.X
	p, found := u.place(sel.X)
	if !found {
		p = place{key: "?" + u.text(sel.X), class: ownerName(u.pkg.info.TypeOf(sel.X)) + " (unknown)"}
	}
	op.place = p.through(s.Recv(), s.Index()[:len(s.Index())-1])
	return op, true
}

// lockable reports whether *t has Lock and Unlock without parameters.
func lockable(t types.Type) bool {
	t = deref(t)
	if _, isInterface := t.Underlying().(*types.Interface); !isInterface {
		t = types.NewPointer(t)
	}
	set := types.NewMethodSet(t)
	for _, name := range []string{"Lock", "Unlock"} {
		m := set.Lookup(nil, name)
		if m == nil {
			return false
		}
		sig, ok := m.Type().(*types.Signature)
		if !ok || sig.Params().Len()+sig.Results().Len() > 0 {
			return false
		}
	}
	return true
}

// hasRLock reports whether t is a lock with a read side.
func hasRLock(t types.Type) bool {
	return types.NewMethodSet(types.NewPointer(deref(t))).Lookup(nil, "RLock") != nil
}

// hold is one lock held: its class, and whether only the read side is.
type hold struct {
	class string
	read  bool
}

// holds is a set of held locks by place.
type holds map[string]hold

// lockState is what is held at a point: on every way there, on some way.
type lockState struct{ must, may holds }

func (s lockState) clone() lockState { return lockState{maps.Clone(s.must), maps.Clone(s.may)} }

// lockFlow knows what is held where. Locks held by all callers of an
// unexported function, tests apart, count as held in it (callers that call it
// through an interface, a function value or a go statement hold nothing for
// it).
type lockFlow struct {
	m      *Module
	entry  map[*fn]holds                  // must, by callers
	states map[*fn]map[ast.Node]lockState // before each node of the control-flow graph
	graphs map[*fn]*cfg.CFG
	calls  map[string][]callSite // static call sites by full name of the callee
	values map[string]bool       // functions that are used as values, by full name
	ifaces map[string]bool       // names of methods that some interface of the module demands
}

type callSite struct {
	in   *fn
	call *ast.CallExpr
	kind token.Token // token.GO, token.DEFER, or token.ILLEGAL for a plain call
}

// callers' locks go through this many levels of calls.
const entryRounds = 4

func (m *Module) lockFlow() *lockFlow {
	if m.flow != nil {
		return m.flow
	}
	fl := &lockFlow{m: m, entry: map[*fn]holds{}, states: map[*fn]map[ast.Node]lockState{}, graphs: map[*fn]*cfg.CFG{},
		calls: map[string][]callSite{}, values: map[string]bool{}, ifaces: map[string]bool{}}
	fns := m.sortedFns()
	fl.findCalls()
	for _, f := range fns {
		fl.states[f] = fl.solve(f)
	}
	for range entryRounds {
		changed := false
		for _, f := range fns {
			held := fl.heldByCallers(f)
			if len(held) != len(fl.entry[f]) {
				fl.entry[f], changed = held, true
			}
		}
		if !changed {
			break
		}
		for _, f := range fns {
			if len(fl.entry[f]) > 0 {
				fl.states[f] = fl.solve(f)
			}
		}
	}
	m.flow = fl
	return fl
}

func (fl *lockFlow) findCalls() {
	for _, p := range fl.m.pkgs {
		for _, u := range p.units {
			called := map[*ast.Ident]bool{}
			ast.Inspect(u.file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					fl.addCall(u, n, called)
				case *ast.Ident:
					if f, ok := u.pkg.info.Uses[n].(*types.Func); ok && !called[n] {
						fl.values[f.Origin().FullName()] = true
					}
				case *ast.InterfaceType:
					for _, field := range n.Methods.List {
						for _, name := range field.Names {
							fl.ifaces[name.Name] = true
						}
					}
				}
				return true
			})
		}
	}
}

func (fl *lockFlow) addCall(u *unit, call *ast.CallExpr, called map[*ast.Ident]bool) {
	callee := u.callee(call)
	if callee == nil {
		return
	}
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		called[fun] = true
	case *ast.SelectorExpr:
		called[fun.Sel] = true
	case *ast.IndexExpr, *ast.IndexListExpr: // explicit instantiation: leave it a value
	}
	site := callSite{in: u.fnOf(call), call: call}
	switch u.parents[call].(type) {
	case *ast.GoStmt:
		site.kind = token.GO
	case *ast.DeferStmt:
		site.kind = token.DEFER
	}
	name := callee.obj.FullName()
	fl.calls[name] = append(fl.calls[name], site)
}

// heldByCallers is what is held at every call of f, in f's own terms.
func (fl *lockFlow) heldByCallers(f *fn) holds {
	if f.obj == nil {
		return fl.heldByUser(f)
	}
	name := f.obj.FullName()
	sites := withoutTests(fl.calls[name])
	if f.obj.Exported() || len(sites) == 0 || fl.values[name] || f.recv != nil && fl.ifaces[f.obj.Name()] {
		return nil
	}
	var common holds
	for i, site := range sites {
		if site.in == nil || site.kind != token.ILLEGAL {
			return nil
		}
		held := fl.translate(f, site)
		if i == 0 {
			common = held
		} else {
			common = intersect(common, held)
		}
	}
	return common
}

// withoutTests leaves out calls by tests, which often call an unexported
// function alone and without its lock; unless only tests call it.
func withoutTests(sites []callSite) []callSite {
	var out []callSite
	for _, s := range sites {
		if s.in == nil || !s.in.unit.test {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return sites
	}
	return out
}

// heldByUser is what is held when a function literal runs that is called on
// the spot, or handed to a function that certainly calls it before it returns.
func (fl *lockFlow) heldByUser(f *fn) holds {
	if call := f.unit.runsAt(f); call != nil && f.outer != nil {
		return fl.at(f.outer, call).must
	}
	return nil
}

// translate returns the locks held at a call with the callee's parameters in
// place of the arguments.
func (fl *lockFlow) translate(f *fn, site callSite) holds {
	out := holds{}
	args, params := f.arguments(site.call), f.params()
	for key, h := range fl.at(site.in, site.call).must {
		if !strings.Contains(key, "@") {
			out[key] = h // rooted at a package variable
			continue
		}
		for i, arg := range args {
			if params[i] == nil {
				continue
			}
			p, ok := site.in.unit.place(arg)
			if rest, found := strings.CutPrefix(key, p.key); ok && found && (rest == "" || rest[0] == '.') {
				out[objKey(fl.m, params[i])+rest] = h
			}
		}
	}
	return out
}

// at returns what is held when n, somewhere in f, is evaluated.
func (fl *lockFlow) at(f *fn, n ast.Node) lockState {
	var best ast.Node
	for node := range fl.states[f] {
		if node.Pos() <= n.Pos() && n.End() <= node.End() && (best == nil || node.End()-node.Pos() < best.End()-best.Pos()) {
			best = node
		}
	}
	if best == nil {
		return lockState{fl.entry[f], fl.entry[f]}
	}
	return fl.states[f][best]
}

// solve runs the data flow of f: locks held before each node.
func (fl *lockFlow) solve(f *fn) map[ast.Node]lockState {
	g := fl.graphs[f]
	if g == nil {
		g = cfg.New(f.body, func(call *ast.CallExpr) bool { return !isBuiltin(f.unit, call, "panic") })
		fl.graphs[f] = g
	}
	in := make(map[*cfg.Block]lockState)
	before := map[ast.Node]lockState{}
	start := lockState{maps.Clone(fl.entry[f]), maps.Clone(fl.entry[f])}
	if start.must == nil {
		start = lockState{holds{}, holds{}}
	}
	if len(g.Blocks) == 0 {
		return before
	}
	in[g.Blocks[0]] = start
	work := []*cfg.Block{g.Blocks[0]}
	for len(work) > 0 {
		b := work[0]
		work = work[1:]
		s := in[b].clone()
		for _, n := range b.Nodes {
			before[n] = s.clone()
			f.unit.transfer(n, &s)
		}
		for _, succ := range b.Succs {
			old, seen := in[succ]
			joined := s.clone()
			if seen {
				joined = join(old, s)
			}
			if !seen || !equalState(old, joined) {
				in[succ] = joined
				work = append(work, succ)
			}
		}
	}
	return before
}

// transfer applies the lock operations that n performs. Deferred ones happen
// at the end of the function, so they change nothing here.
func (u *unit) transfer(n ast.Node, s *lockState) {
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.CallExpr:
			op, ok := u.lockOp(x)
			if !ok {
				return true
			}
			h := hold{op.place.class, op.read}
			if op.acquire {
				s.may[op.place.key] = h
				if !op.try {
					s.must[op.place.key] = h
				}
			} else {
				delete(s.must, op.place.key)
				delete(s.may, op.place.key)
			}
		}
		return true
	})
}

func join(a, b lockState) lockState {
	out := lockState{intersect(a.must, b.must), maps.Clone(a.may)}
	maps.Copy(out.may, b.may)
	return out
}

func intersect(a, b holds) holds {
	out := holds{}
	for k, h := range a {
		if o, ok := b[k]; ok {
			h.read = h.read || o.read
			out[k] = h
		}
	}
	return out
}

func equalState(a, b lockState) bool { return maps.Equal(a.must, b.must) && maps.Equal(a.may, b.may) }
