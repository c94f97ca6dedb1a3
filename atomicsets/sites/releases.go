package sites

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/cfg"
)

// A lock can be handed over: one goroutine acquires it, and another one releases it. Nothing follows
// from who holds such a lock. A lock is none of them where each release in the source comes behind
// an acquisition by the same activation of a function, on all ways to it:
//
//	mu.Lock()
//	if done {
//		mu.Unlock()
//		return
//	}
//	defer mu.Unlock()
//
// A lock is a variable or field, the same in all instances. Pointers and interfaces may lead to any lock whose
// address is taken, as a Cond does to its own. An operand that may be another lock at the release, such as
// s.current.mu where s.current is assigned somewhere, does not count as acquired: see steady.go.
//
// Cost: linear in the syntax, but the statements of a function times the locks that it releases. All locks that a
// function releases which takes more than workLimit steps count as handed over; see [Unfinished].

// workLimit is how many steps may be made for one function, which take about half a second. A step is what a
// statement costs for one lock. It is a variable for tests.
var workLimit = 10_000_000

// Unfinished lists, sorted, the functions of pkgs that were not searched to their end for who releases their
// locks, each in a sentence with its package.
func Unfinished(pkgs []*Package) []string {
	list := findHandovers(pkgs).unfinished
	slices.Sort(list)
	return slices.Compact(list)
}

// handovers is what the functions of some packages do with locks.
type handovers struct {
	seen map[string]bool // packages
	// loose are the locks that are released where it is not certain that they were acquired, and those of
	// which others may do so.
	loose map[string]bool
	// aliased are the locks to which a pointer or an interface leads.
	aliased  map[string]bool
	promoted map[string]bool // locks to which a conversion of a struct to an interface may lead
	conds    map[string]bool // locks to which a Cond leads
	// assigned are the variables and fields that may change where a function that uses them does not see it: see
	// findAssigned.
	assigned map[*types.Var]bool
	// interfaces: locks are used through interfaces. looseAlias: one whose variable is not known is released where it is
	// not certain that it was acquired. looseCond: that may be the lock of a Cond. reflects: methods are called by
	// package reflect.
	interfaces, looseAlias, looseCond, reflects bool
	unfinished                                  []string // see Unfinished
}

// findHandovers reads the functions of packages, which are all that a process may have instrumented.
func findHandovers(pkgs []*Package) *handovers {
	h := &handovers{
		seen: map[string]bool{}, loose: map[string]bool{}, aliased: map[string]bool{}, promoted: map[string]bool{},
		conds: map[string]bool{}, assigned: map[*types.Var]bool{},
	}
	for _, p := range pkgs {
		h.seen[p.Types.Path()] = true
		h.findAssigned(p)
	}
	unseen := h.unseenImporters(pkgs)
	for _, p := range pkgs {
		s := &releaseScan{handovers: h, walker: &walker{pkg: p, info: p.Info}, unseen: unseen}
		for _, f := range p.Files {
			s.file(f)
		}
	}
	h.spread()
	return h
}

// spread makes all locks loose that a pointer may lead to, if a release through one is.
func (h *handovers) spread() {
	if h.interfaces || h.reflects {
		for lock := range h.promoted {
			h.aliased[lock] = true
		}
	}
	loose := h.looseAlias || h.reflects
	for lock := range h.loose {
		loose = loose || h.aliased[lock]
	}
	if loose {
		for lock := range h.aliased {
			h.loose[lock] = true
		}
	}
	for lock := range h.conds {
		h.loose[lock] = h.loose[lock] || h.looseCond || h.reflects
	}
}

// unseenImporters reports whether packages that are not seen import some that are: they may release their
// exported locks.
func (h *handovers) unseenImporters(pkgs []*Package) bool {
	leads := map[*types.Package]bool{} // to a package that is seen
	var visit func(p *types.Package) bool
	found := false
	visit = func(p *types.Package) bool {
		if known, ok := leads[p]; ok {
			return known
		}
		leads[p] = false
		for _, in := range p.Imports() {
			if visit(in) {
				leads[p] = true
			}
		}
		found = found || leads[p] && !h.seen[p.Path()]
		leads[p] = leads[p] || h.seen[p.Path()]
		return leads[p]
	}
	for _, p := range pkgs {
		visit(p.Types)
	}
	return found
}

// releaseScan reads one package.
type releaseScan struct {
	*handovers
	*walker
	unseen bool // see unseenImporters
}

// file reads the functions of a file, and those in its variables.
func (s *releaseScan) file(f *ast.File) {
	hidden := importsC(f)
	names := linknames(f)
	for _, d := range f.Decls {
		fn, isFunc := d.(*ast.FuncDecl)
		s.addresses(d)
		if isFunc && fn.Body == nil {
			continue
		}
		var body ast.Node = d
		if isFunc {
			body = fn.Body
		}
		if hidden || isFunc && neverInstrument(fn, names) {
			s.hide(body)
			continue
		}
		if isFunc {
			s.flag(s.function(fn.Body))
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				s.flag(s.function(lit.Body))
				return false
			}
			return true
		})
	}
}

// hide makes loose what is released in a function that is not instrumented.
func (s *releaseScan) hide(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if e, ok := n.(*ast.SelectorExpr); ok {
			if m, ok := s.method(e); ok && m.releases() {
				s.flag([]lockMethod{m})
			}
		}
		return true
	})
}

// flag makes loose what the releases are of.
func (s *releaseScan) flag(releases []lockMethod) {
	for _, m := range releases {
		switch {
		case m.ofCond:
			s.looseCond = true
		case m.lock == "":
			s.looseAlias = true
		default:
			s.loose[m.lock] = true
		}
	}
}

// lockMethod is a use of a method of a lock.
type lockMethod struct {
	name  string // Lock, TryRLock
	lock  string // in all instances; "" is not known
	cell  string // the operand as the function has it, and whether it is held to read
	parts []types.Object
	// ofCond: it is the lock of a Cond, by its field L.
	ofCond bool
}

func (m lockMethod) releases() bool { return strings.HasSuffix(m.name, "Unlock") }

// method returns the use of a method of a lock that e is: one of package sync, or of an interface that
// has such a method.
func (s *releaseScan) method(e *ast.SelectorExpr) (m lockMethod, ok bool) {
	sel := s.info.Selections[e]
	if sel == nil || !slices.Contains(lockMethods, e.Sel.Name) {
		return m, false
	}
	fn, ok := sel.Obj().(*types.Func)
	if !ok || fn.Signature().Params().Len() > 0 {
		return m, false
	}
	recv := fn.Signature().Recv().Type()
	byInterface := types.IsInterface(recv)
	if !byInterface && !isSyncLock(recv) {
		return m, false
	}
	m.name = e.Sel.Name
	if sel.Kind() == types.MethodExpr {
		return m, true // (*sync.Mutex).Unlock
	}
	m.cell, m.parts = s.cellOf(e.X, m.name)
	steady := s.isSteady(e.X) && s.leadsSteadily(sel)
	// Which lock it is, and whether something else may lead to it.
	v, last := s.lockVariable(e, sel)
	if m.ofCond = s.isCondLock(e.X); !m.ofCond && !byInterface && v != nil {
		m.lock = s.lockOf(e, sel)
	}
	if m.releases() && !steady {
		s.flag([]lockMethod{m})
	}
	switch {
	case m.ofCond:
	case byInterface:
		s.interfaces = true
		s.aliased[s.lockOf(e, sel)] = true
	case v == nil:
	case v.Pkg() == nil || !s.seen[v.Pkg().Path()] || s.unseen && v.Exported():
		s.loose[m.lock] = true
	case isPointer(last):
		s.aliased[m.lock] = true
	case len(sel.Index()) > 1:
		s.promoted[m.lock] = true
	}
	return m, true
}

// cellOf returns the operand x of a method as the function has it, with its variables.
func (s *releaseScan) cellOf(x ast.Expr, method string) (cell string, parts []types.Object) {
	cell = types.ExprString(x)
	if strings.HasPrefix(strings.TrimPrefix(method, "Try"), "R") {
		cell += " to read"
	}
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := s.info.Uses[id].(*types.Var); ok {
				parts = append(parts, v)
				cell += fmt.Sprintf(" %p", v)
			}
		}
		return true
	})
	return cell, parts
}

// lockVariable returns the variable or field that a lock is, and the type that it has there; nil where it is neither.
func (s *releaseScan) lockVariable(e *ast.SelectorExpr, sel *types.Selection) (*types.Var, types.Type) {
	t := sel.Recv()
	if index := sel.Index(); len(index) > 1 {
		var f *types.Var
		for _, n := range index[:len(index)-1] {
			f = structOf(t).Field(n)
			t = f.Type()
		}
		return f, t
	}
	x := ast.Unparen(e.X)
	for {
		switch y := x.(type) {
		case *ast.IndexExpr:
			x = ast.Unparen(y.X)
			continue
		case *ast.Ident:
			v, _ := s.info.Uses[y].(*types.Var)
			return v, t
		case *ast.SelectorExpr:
			v, _ := s.info.Uses[y.Sel].(*types.Var)
			return v, t
		}
		return nil, t
	}
}

// isSyncLock reports whether t is a lock of package sync, or a pointer to one.
func isSyncLock(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "sync" {
		return false
	}
	return slices.Contains([]LockKind{Mutex, RWMutex, Locker}, LockKind(n.Obj().Name()))
}

// isCondLock reports whether x is the field L of a Cond.
func (s *releaseScan) isCondLock(x ast.Expr) bool {
	e, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok || e.Sel.Name != "L" {
		return false
	}
	v, ok := s.info.Uses[e.Sel].(*types.Var)
	return ok && v.IsField() && v.Pkg() != nil && v.Pkg().Path() == "sync"
}

// addresses notes the locks whose address is taken in n. Code that is not seen may release what it gets. A Cond, whose
// Wait acquires what it has released, releases for others where a function waits that acquires nothing: see bodyScan.
func (s *releaseScan) addresses(n ast.Node) {
	forCond, used := map[ast.Expr]bool{}, map[ast.Expr]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			s.arguments(n, forCond)
		case *ast.CompositeLit:
			if isNamed(s.info.TypeOf(n), "sync", "Cond") {
				for _, elt := range n.Elts {
					if kv, ok := elt.(*ast.KeyValueExpr); ok {
						forCond[ast.Unparen(kv.Value)] = true
					}
				}
			}
		case *ast.UnaryExpr:
			if lock, ok := s.addressed(n); ok && forCond[n] {
				s.conds[lock] = true
			} else if ok {
				s.aliased[lock] = true
			}
		case *ast.SelectorExpr:
			used[ast.Unparen(n.X)] = true
			// what hands the lock of a Cond on
			s.looseCond = s.looseCond || s.isCondLock(n) && !used[n]
		}
		return true
	})
}

// addressed returns the lock whose address e is.
func (s *releaseScan) addressed(e *ast.UnaryExpr) (lock string, ok bool) {
	if e.Op != token.AND || !isSyncLock(s.info.TypeOf(e.X)) {
		return "", false
	}
	return s.operandName(e.X), true
}

// arguments notes what a call passes to functions that are not seen.
func (s *releaseScan) arguments(call *ast.CallExpr, forCond map[ast.Expr]bool) {
	fn := calleeOf(s.info, call)
	if fn == nil || fn.Pkg() == nil || s.seen[fn.Pkg().Path()] {
		return
	}
	switch fn.FullName() {
	case "(reflect.Value).Call", "(reflect.Value).CallSlice", "(reflect.Value).Method", "(reflect.Value).MethodByName":
		s.reflects = true
	case "sync.NewCond":
		arg := ast.Unparen(call.Args[0])
		forCond[arg] = true
		s.conds[s.operandName(arg)] = true // where it is a pointer
		return
	}
	for _, arg := range call.Args {
		arg = ast.Unparen(arg)
		if !isSyncLock(s.info.TypeOf(arg)) {
			continue
		}
		if e, ok := arg.(*ast.UnaryExpr); ok {
			if lock, ok := s.addressed(e); ok {
				s.loose[lock] = true
				continue
			}
		}
		s.looseAlias = true
	}
}

// calleeOf returns the function that a call names; nil where it is a value.
func calleeOf(info *types.Info, call *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	case *ast.IndexExpr:
		return calleeOf(info, &ast.CallExpr{Fun: f.X})
	default:
		return nil
	}
	fn, _ := info.Uses[id].(*types.Func)
	return fn
}

func isNamed(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && n.Obj().Name() == name
}

// What a function does with one lock.
const (
	acquire = iota
	tryAcquire
	releaseNow
	releaseLater // by a defer statement
	forget       // the operand is another lock from here on
)

type lockStep struct {
	kind int
	lockMethod
}

// function returns the releases in a function that may be of a lock which this activation has not acquired.
// Literals in it are functions of their own, except those that a defer statement calls.
func (s *releaseScan) function(body *ast.BlockStmt) (loose []lockMethod) {
	b := &bodyScan{releaseScan: s, steps: map[ast.Node][]lockStep{}, cells: map[string]lockMethod{}}
	graph := cfg.New(body, func(*ast.CallExpr) bool { return true })
	for _, block := range graph.Blocks {
		for _, n := range block.Nodes {
			b.collect(n, n)
		}
	}
	for _, m := range b.cells {
		if b.isLoose(graph, m) {
			loose = append(loose, m)
		}
	}
	s.flag(b.values)
	s.looseCond = s.looseCond || b.waits && !b.acquires
	// Of a function that is too large, nothing is certain.
	if b.work > workLimit {
		s.unfinished = append(s.unfinished, s.tooLarge(body))
		return slices.Collect(maps.Values(b.cells))
	}
	return loose
}

// tooLarge returns the sentence of Unfinished about the function of body.
func (s *releaseScan) tooLarge(body *ast.BlockStmt) string {
	at := s.position(body.Pos())
	return fmt.Sprintf("%s: the function at %s:%d is not searched to its end for who releases its locks: it is too large",
		s.pkg.Path, s.relative(at.Filename), at.Line)
}

// bodyScan is one function.
type bodyScan struct {
	*releaseScan
	steps  map[ast.Node][]lockStep // by the node of a block, in the order of their execution
	cells  map[string]lockMethod   // released in the function, by cell
	values []lockMethod            // releases that others call: method values, go statements
	work   int                     // steps made by isLoose, for all locks
	// waits: the function waits for a Cond, which releases its lock. acquires: it acquires some lock itself.
	waits, acquires bool
}

// add adds a step of a node of a block.
func (b *bodyScan) add(node ast.Node, kind int, m lockMethod) {
	b.steps[node] = append(b.steps[node], lockStep{kind, m})
	if kind == releaseNow || kind == releaseLater {
		b.cells[m.cell] = m
	}
}

// collect adds what n does, which is part of node of a block.
func (b *bodyScan) collect(node, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			b.flag(b.function(n.Body))
			return false
		case *ast.DeferStmt:
			b.deferred(node, n.Call)
			return false
		case *ast.GoStmt:
			b.collect(node, n.Call.Fun) // a method value, as far as this goroutine is concerned
			b.collectAll(node, n.Call.Args)
			return false
		case *ast.CallExpr:
			return !b.call(node, n)
		case *ast.SelectorExpr:
			if m, ok := b.method(n); ok && m.releases() {
				b.values = append(b.values, m)
			}
		case *ast.AssignStmt:
			b.collectAll(node, n.Rhs)
			for _, x := range n.Lhs {
				b.collect(node, x)
				b.add(node, forget, lockMethod{parts: b.assigned(x)})
			}
			return false
		case *ast.IncDecStmt:
			b.add(node, forget, lockMethod{parts: b.assigned(n.X)})
		case *ast.ValueSpec:
			for _, id := range n.Names {
				b.add(node, forget, lockMethod{parts: b.assigned(id)})
			}
		}
		return true
	})
}

func (b *bodyScan) collectAll(node ast.Node, list []ast.Expr) {
	for _, x := range list {
		b.collect(node, x)
	}
}

// deferred adds the releases of a call that a defer statement makes.
func (b *bodyScan) deferred(node ast.Node, call *ast.CallExpr) {
	if lit, ok := call.Fun.(*ast.FuncLit); ok {
		for _, m := range b.function(lit.Body) {
			b.add(node, releaseLater, m)
		}
	} else if m, ok := b.called(call); !ok {
		b.collect(node, call.Fun)
	} else if m.releases() {
		b.add(node, releaseLater, m)
	}
	b.collectAll(node, call.Args)
}

// call adds a call of a method of a lock, and reports whether it is one.
func (b *bodyScan) call(node ast.Node, call *ast.CallExpr) bool {
	m, ok := b.called(call)
	if !ok {
		fn := calleeOf(b.info, call)
		b.waits = b.waits || fn != nil && fn.FullName() == "(*sync.Cond).Wait"
		return false
	}
	b.acquires = b.acquires || !m.releases()
	b.collect(node, ast.Unparen(call.Fun).(*ast.SelectorExpr).X)
	switch {
	case m.releases():
		b.add(node, releaseNow, m)
	case strings.HasPrefix(m.name, "Try"):
		b.add(node, tryAcquire, m)
	default:
		b.add(node, acquire, m)
	}
	return true
}

// called returns the method of a lock that a call calls.
func (b *bodyScan) called(call *ast.CallExpr) (m lockMethod, ok bool) {
	e, isSelector := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSelector {
		return m, false
	}
	if sel := b.info.Selections[e]; sel == nil || sel.Kind() != types.MethodVal {
		return m, false
	}
	return b.method(e)
}

// assigned returns the variable or field that an assignment to x changes.
func (b *bodyScan) assigned(x ast.Expr) []types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if v := b.info.ObjectOf(x); v != nil {
			return []types.Object{v}
		}
	case *ast.SelectorExpr:
		if v := b.info.Uses[x.Sel]; v != nil {
			return []types.Object{v}
		}
	case *ast.IndexExpr:
		return b.assigned(x.X)
	case *ast.StarExpr:
		return b.assigned(x.X)
	}
	return nil
}

// states is a set of what may be the case with a lock: bit h+2d, where h is 1 if the activation holds it,
// and d is 1 if it releases it when it returns.
type states uint8

const (
	notHeld   states = 1<<0 | 1<<2
	held      states = 1<<1 | 1<<3
	whenHeld  states = 1 << 3
	whenEnds  states = 1 << 2
	beginning states = 1 << 0
)

// after returns the states behind a step, and whether it may release what is not held.
func (st states) after(step lockStep, m lockMethod) (next states, loose bool) {
	if step.kind == forget {
		if slices.ContainsFunc(step.parts, func(o types.Object) bool { return slices.Contains(m.parts, o) }) {
			return st&notHeld | st&held>>1, false
		}
		return st, false
	}
	if step.cell != m.cell {
		return st, false
	}
	switch step.kind {
	case acquire:
		return st&held | st&notHeld<<1, false
	case releaseNow:
		return st&notHeld | st&held>>1, st&notHeld != 0
	case releaseLater:
		return (st | st<<2) & (whenHeld | whenEnds), false
	}
	return st, false
}

// isLoose reports whether the function may release the lock of m where it does not hold it. What it returns means
// nothing when the work is beyond its limit.
func (b *bodyScan) isLoose(graph *cfg.CFG, m lockMethod) bool {
	in := map[*cfg.Block]states{graph.Blocks[0]: beginning}
	work := []*cfg.Block{graph.Blocks[0]}
	for len(work) > 0 && b.work <= workLimit {
		block := work[len(work)-1]
		work = work[:len(work)-1]
		st, loose := b.through(block, in[block], m)
		if loose || len(block.Succs) == 0 && st&whenEnds != 0 {
			return true
		}
		for i, next := range block.Succs {
			out := st
			if m, on := b.tried(block, m); m && i == on {
				out = st&held | st&notHeld<<1
			}
			if in[next]|out != in[next] {
				in[next] |= out
				work = append(work, next)
			}
		}
	}
	return false
}

// through returns the states behind a block.
func (b *bodyScan) through(block *cfg.Block, st states, m lockMethod) (states, bool) {
	if r, ok := block.Stmt.(*ast.RangeStmt); ok && block.Kind == cfg.KindRangeBody {
		for _, x := range []ast.Expr{r.Key, r.Value} {
			if x != nil {
				st, _ = st.after(lockStep{forget, lockMethod{parts: b.assigned(x)}}, m)
			}
		}
	}
	b.work++
	for _, n := range block.Nodes {
		b.work += 1 + len(b.steps[n])
		for _, step := range b.steps[n] {
			next, loose := st.after(step, m)
			if loose {
				return next, true
			}
			st = next
		}
	}
	return st, false
}

// tried reports whether the block ends with a condition that tries to acquire the lock of m, and in which of the
// two successors it has done so: if mu.TryLock() { … }.
func (b *bodyScan) tried(block *cfg.Block, m lockMethod) (ok bool, on int) {
	if len(block.Succs) != 2 || len(block.Nodes) == 0 {
		return false, 0
	}
	cond, isExpr := block.Nodes[len(block.Nodes)-1].(ast.Expr)
	for isExpr {
		switch x := ast.Unparen(cond).(type) {
		case *ast.UnaryExpr:
			if x.Op != token.NOT {
				return false, 0
			}
			cond, on = x.X, 1-on
			continue
		case *ast.CallExpr:
			t, isLock := b.called(x)
			return isLock && strings.HasPrefix(t.name, "Try") && t.cell == m.cell, on
		}
		return false, 0
	}
	return false, 0
}
