package validate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/pairing"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// tally counts what happens in a declared function, its literals included.
type tally map[tallyKey]int

type tallyKey struct{ function, what string }

// more lists what now has more of than old, sorted.
func (now tally) more(old tally) []tallyKey {
	var list []tallyKey
	for _, k := range sortedKeys(now) {
		if now[k] > old[k] {
			list = append(list, k)
		}
	}
	return list
}

// left lists what now has less of than old, and still some: a patch that corrects
// one place corrects all of its function, as one finding names them all.
func (now tally) left(old tally) []tallyKey {
	var list []tallyKey
	for _, k := range sortedKeys(now) {
		if 0 < now[k] && now[k] < old[k] {
			list = append(list, k)
		}
	}
	return list
}

// byWhat sums up over the functions.
func (t tally) byWhat() map[string]int {
	sums := map[string]int{}
	for k, n := range t {
		sums[k.what] += n
	}
	return sums
}

func sortedKeys(t tally) []tallyKey {
	return slices.SortedFunc(maps.Keys(t), func(a, b tallyKey) int {
		return slices.Compare([]string{a.function, a.what}, []string{b.function, b.what})
	})
}

// eachTouched visits the instructions of the functions that the patch touches,
// of the side s.
func (j *judge) eachTouched(s *side, visit func(*session.Package, *ssa.Function, ssa.Instruction, *lockset.State)) {
	for _, p := range s.Packages {
		for _, fn := range p.IR.Funcs {
			if j.touched[declared(p, fn)] && !p.IR.InTest(fn) {
				p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) { visit(p, fn, instr, st) })
			}
		}
	}
}

// eachAnalysed visits the instructions of one side in the packages that the patch changes, and in those that import
// such a package and see other facts of it.
func (j *judge) eachAnalysed(s *side, visit func(*session.Package, *ssa.Function, ssa.Instruction, *lockset.State)) {
	for _, p := range s.Packages {
		if j.old.Package(p.Path) != j.now.Package(p.Path) {
			each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) { visit(p, fn, instr, st) })
		}
	}
}

// exits demands that each function that the patch touches returns with the
// locks that it returned with, and that no lock is held on some paths only
// where it was clear before.
func (j *judge) exits() {
	oldEnds, oldUnclear := j.exitStates(j.old)
	nowEnds, nowUnclear := j.exitStates(j.now)
	for _, k := range nowEnds.more(oldEnds) {
		j.add("exits", "%s returns with %s", short(k.function), k.what)
	}
	for _, k := range oldEnds.more(nowEnds) {
		j.add("exits", "%s no longer returns with %s", short(k.function), k.what)
	}
	for _, k := range nowUnclear.more(oldUnclear) {
		if oldUnclear[k] == 0 {
			j.doubt(place{}, finding.Heavy, "exits", "if the lock stays held, this deadlocks", "in %s, %s", short(k.function),
				k.what)
		}
	}
}

func (j *judge) exitStates(s *side) (ends, unclear tally) {
	ends, unclear = tally{}, tally{}
	for _, p := range s.Packages {
		for _, fn := range p.IR.Funcs {
			name := declared(p, fn)
			if !j.touched[name] {
				continue
			}
			p.Locks.WalkOwn(fn, func(instr ssa.Instruction, st *lockset.State) {
				_, returns := instr.(*ssa.Return)
				for _, k := range st.Known() {
					what := fmt.Sprintf("%s %s", lockName(k.Path, k.Class), k.Status)
					if returns {
						ends[tallyKey{name, what}]++
					}
					if _, isCall := instr.(ssa.CallInstruction); isCall && k.Unclear() {
						unclear[tallyKey{name, what}]++
					}
				}
			})
		}
	}
	return ends, unclear
}

// lockName names a lock the same on both sides.
func lockName(p accesspath.Path, class string) string {
	if p.Root == nil || !p.Named() && class != "" {
		return short(class)
	}
	return p.String()
}

// paired demands of each function that the patch touches that every Lock meets
// its Unlock on all paths, by the syntax alone (see package pairing).
func (j *judge) paired() {
	old := j.pairProblems(j.old)
	for _, k := range j.pairProblems(j.now).more(old) {
		j.add("pairs", "%s: %s", short(k.function), k.what)
	}
	j.recovered()
}

// recovered demands that a function which recovers from panics does nothing more under a lock that may panic, unless it
// releases the lock in a defer: who comes next would wait for ever.
func (j *judge) recovered() {
	for _, k := range j.panicsHeld(j.now).more(j.panicsHeld(j.old)) {
		j.doubt(place{}, finding.Light, "pairs", "after a panic the next goroutine that needs it waits for ever",
			"%s may panic and leave %s held, and the module recovers from panics", short(k.function), k.what)
	}
}

// panicsHeld counts the instructions of touched functions which may panic under a lock without a defer: calls in those
// that recover themselves, and others where any function of the module recovers.
func (j *judge) panicsHeld(s *side) tally {
	found, anyRecovers := tally{}, s.anyRecovers()
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		_, isCall := instr.(*ssa.Call)
		isCaught := recovers(fn) || anyRecovers && !isCall
		if len(st.Held()) == 0 || !isCaught || !mayPanic(p, instr) {
			return
		}
		for _, h := range st.Held() {
			if h.Since != nil && !unlocksAtEnd(p, fn, h.Class) {
				found[tallyKey{declared(p, fn), lockName(h.Path, h.Class)}]++
			}
		}
	})
	return found
}

// mayPanic reports whether an instruction may panic by more than a nil pointer to the object whose lock is held.
func mayPanic(p *session.Package, instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Call:
		_, isBuiltin := instr.Call.Value.(*ssa.Builtin)
		return !isBuiltin && p.Locks.Receiver(instr) == nil
	case *ssa.MapUpdate, *ssa.IndexAddr, *ssa.Index, *ssa.Slice, *ssa.Panic, *ssa.Send:
		return true
	case *ssa.TypeAssert:
		return !instr.CommaOk
	case *ssa.BinOp:
		return instr.Op == token.QUO || instr.Op == token.REM
	}
	return false
}

// anyRecovers reports whether a function of the module, tests apart, recovers from panics.
func (s *state) anyRecovers() bool {
	for _, p := range s.Packages {
		if slices.ContainsFunc(p.IR.Funcs, func(fn *ssa.Function) bool { return !p.IR.InTest(fn) && recovers(fn) }) {
			return true
		}
	}
	return false
}

// recovers reports whether a function defers a call that recovers.
func recovers(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		d, ok := instr.(*ssa.Defer)
		if !ok {
			continue
		}
		callee, _ := callgraph.Target(&d.Call)
		if callee != nil && callsRecover(callee) {
			return true
		}
	}
	return false
}

func callsRecover(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		if call, ok := instr.(*ssa.Call); ok {
			if builtin, ok := call.Call.Value.(*ssa.Builtin); ok && builtin.Name() == "recover" {
				return true
			}
		}
	}
	return false
}

// unlocksAtEnd reports whether a function defers the release of a lock of the class, by itself or in a literal.
func unlocksAtEnd(p *session.Package, fn *ssa.Function, class string) bool {
	for instr := range ir.Instructions(fn) {
		d, ok := instr.(*ssa.Defer)
		if !ok {
			continue
		}
		callee, _ := callgraph.Target(&d.Call)
		isLiteral := callee != nil && callee.Parent() != nil
		if facts.Releases(p, d, class) || isLiteral && releasesIn(p, callee, class) {
			return true
		}
	}
	return false
}

func releasesIn(p *session.Package, fn *ssa.Function, class string) bool {
	for instr := range ir.Instructions(fn) {
		if call, ok := instr.(*ssa.Call); ok && facts.Releases(p, call, class) {
			return true
		}
	}
	return false
}

func (j *judge) pairProblems(s *side) tally {
	problems := tally{}
	for _, p := range s.Packages {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if !ok || decl.Body == nil {
					continue
				}
				obj, _ := p.Info.Defs[decl.Name].(*types.Func)
				if obj == nil || !j.touched[obj.FullName()] {
					continue
				}
				for _, what := range pairing.Problems(p.Info, decl.Body) {
					problems[tallyKey{obj.FullName(), what}]++
				}
			}
		}
	}
	return problems
}

// narrowed demands that what was under a lock stays under it: of each variable that was accessed under one, no more
// accesses are outside of it than before. Package variables that nobody sets after their initialisation need no lock,
// nor do fields that are set before their object is shared, nor reads under a lock that nobody holds to write.
func (j *judge) narrowed() {
	old, now := j.placesOf(j.old), j.placesOf(j.now)
	before, after := old.out.byWhat(), now.out.byWhat()
	for _, k := range now.out.more(old.out) {
		if now.in[k] < old.in[k] {
			if old.excludes(k) {
				j.add("narrowed", "%s was accessed under a lock in %s, and is not now", k.what, short(k.function))
			}
			continue
		}
		// It may have moved here from another function, or be new. A new one is made as those without a lock before.
		if now.in.byWhat()[k.what] >= old.in.byWhat()[k.what] && before[k.what] > 0 {
			continue
		}
		i := slices.IndexFunc(sortedKeys(old.in), func(in tallyKey) bool { return in.what == k.what })
		if i >= 0 && after[k.what] > before[k.what] {
			j.add("narrowed", "%s was accessed under a lock in %s, and is not now in %s", k.what,
				short(sortedKeys(old.in)[i].function), short(k.function))
		}
	}
}

// places are the accesses to fields and package variables, and to the maps in them, of one side.
type places struct {
	in, out tally // with a lock, and without
	// The classes of the locks that are held where a function accesses a variable, and where any function writes one.
	locks, writers map[tallyKey]map[string]bool
	writes         map[tallyKey]bool
}

// excludes reports whether a lock that is held at an access in a function keeps a write out, that of another goroutine
// in the same function too. Packages that are not analysed anew may write what is exported.
func (p *places) excludes(k tallyKey) bool {
	if p.writes[k] || p.locks[k][""] || token.IsExported(k.what[strings.LastIndexByte(k.what, '.')+1:]) {
		return true
	}
	for class := range p.locks[k] {
		if writers := p.writers[tallyKey{what: k.what}]; writers[class] || writers[""] {
			return true
		}
	}
	return false
}

// placesOf counts the accesses of a side.
func (j *judge) placesOf(s *side) *places {
	all := &places{tally{}, tally{}, map[tallyKey]map[string]bool{}, map[tallyKey]map[string]bool{}, map[tallyKey]bool{}}
	own := s.isVariableOf()
	j.eachAnalysed(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		addr := accessed(instr)
		name, ok := accesspath.NameOf(addr)
		if !ok || own(p, addr) || s.isSetOnce(addr) { // the variable itself is what covered judges
			return
		}
		k := tallyKey{declared(p, fn), name.Short()}
		if !isUnderLock(addr, st.Held()) {
			all.out[k]++
			return
		}
		all.in[k]++
		addClasses(all.locks, k, st.Held())
		if isWriting(instr) {
			all.writes[k] = true
			addClasses(all.writers, tallyKey{what: k.what}, st.Held())
		}
	})
	return all
}

// addClasses notes the classes of locks; "" is one that has no such name.
func addClasses(of map[tallyKey]map[string]bool, k tallyKey, held []lockset.Held) {
	if of[k] == nil {
		of[k] = map[string]bool{}
	}
	for _, h := range held {
		of[k][h.Class] = true
	}
}

// isWriting reports whether an access is more than a load: a store, or the load of what may be written through it, as
// that of a map, a slice or a pointer.
func isWriting(instr ssa.Instruction) bool {
	load, ok := instr.(*ssa.UnOp)
	if !ok {
		_, isLookup := instr.(*ssa.Lookup)
		return !isLookup
	}
	_, isBasic := load.Type().Underlying().(*types.Basic)
	return !isBasic
}

// isUnderLock reports whether a lock is held that an access may belong to: any but that of another object of its type.
func isUnderLock(addr ssa.Value, held []lockset.Held) bool {
	if load, ok := addr.(*ssa.UnOp); ok { // the map in a field
		addr = load.X
	}
	name, _ := accesspath.NameOf(addr)
	return slices.ContainsFunc(held, func(h lockset.Held) bool {
		field, ok := addr.(*ssa.FieldAddr)
		isOfType := ok && strings.HasPrefix(h.Class, name.Package+"."+name.Type+".")
		return !isOfType || h.Path.Root == nil || h.Path.Owner() == accesspath.Of(field.X)
	})
}

// isSetOnce reports whether addr is a package variable that no function but init stores to, or an unexported field that
// is stored to only while nobody else can reach its object; and nothing takes the address of either.
func (s *state) isSetOnce(addr ssa.Value) bool {
	key := settingKey(addr)
	object := ""
	if field, ok := addr.(*ssa.FieldAddr); ok {
		object = field.X.Type().String()
	}
	return key != "" && s.isKeySetOnce(key, object)
}

// isKeySetOnce is isSetOnce for a key of settingKey, and the type of the pointers to the field's struct.
func (s *state) isKeySetOnce(key, object string) bool {
	if s.unset == nil {
		s.unset = map[string]bool{}
		for _, p := range s.Packages {
			for _, fn := range p.IR.Funcs {
				s.noteSet(p, fn)
			}
		}
	}
	return !s.unset[key] && (object == "" || !s.unset[object]) // the struct may be assigned as a whole
}

// settingKey names a package variable or an unexported field; "" for other addresses.
func settingKey(addr ssa.Value) string {
	switch addr := addr.(type) {
	case *ssa.Global:
		return addr.String()
	case *ssa.FieldAddr:
		name, ok := accesspath.NameOf(addr)
		if field := accesspath.FieldOf(addr); ok && !field.Exported() {
			return name.String()
		}
	}
	return ""
}

// noteSet notes the package variables that fn uses in any other way than to read them, unless it is init, and so the
// fields of objects that others can reach.
func (s *state) noteSet(p *session.Package, fn *ssa.Function) {
	isShared := func(object ssa.Value, instr ssa.Instruction) bool {
		return p.Owners.Proven().Of(object, instr) != ownership.Fresh
	}
	for instr := range ir.Instructions(fn) {
		if load, ok := instr.(*ssa.UnOp); ok && load.Op == token.MUL {
			continue
		}
		// *x = T{…}
		if st, ok := instr.(*ssa.Store); ok {
			if _, isStruct := st.Val.Type().Underlying().(*types.Struct); isStruct && isShared(st.Addr, instr) {
				s.unset[st.Addr.Type().String()] = true
			}
		}
		for _, op := range instr.Operands(nil) {
			switch v := (*op).(type) {
			case *ssa.Global:
				if fn.Name() != "init" {
					s.unset[v.String()] = true
				}
			case *ssa.FieldAddr:
				if isShared(v.X, instr) {
					s.unset[settingKey(v)] = true
				}
			}
		}
	}
}

// isVariableOf is isVariable for addresses and what is loaded from them.
func (s *side) isVariableOf() func(*session.Package, ssa.Value) bool {
	return func(p *session.Package, v ssa.Value) bool { return len(tracer{s.isVariable(p)}.origins(v)) > 0 }
}

// accessed returns the address, or the map, that instr reads or writes; nil if
// it does neither.
func accessed(instr ssa.Instruction) ssa.Value {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op.String() == "*" {
			return instr.X
		}
	case *ssa.Store:
		return instr.Addr
	case *ssa.MapUpdate:
		return instr.Map
	case *ssa.Lookup:
		return instr.X
	}
	return nil
}

// readSide demands that nothing is written under a read lock that was not
// before: other readers may be there.
func (j *judge) readSide() {
	for _, k := range j.writesUnderRead(j.now).more(j.writesUnderRead(j.old)) {
		j.add("read side", "%s writes %s under a read lock", short(k.function), k.what)
	}
}

func (j *judge) writesUnderRead(s *side) tally {
	writes := tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		if !onlyRead(st.Held()) {
			return
		}
		for _, v := range s.written(instr) {
			root := accesspath.Of(v)
			if isLocalMemory(root.Root) || p.Owners.Of(v, instr) == ownership.Fresh {
				continue
			}
			what := root.String()
			if name, ok := accesspath.NameOf(v); ok {
				what = name.Short()
			}
			writes[tallyKey{declared(p, fn), what}]++
		}
	})
	return writes
}

// onlyRead reports whether locks are held, and all of them for reading.
func onlyRead(held []lockset.Held) bool {
	return len(held) > 0 && !slices.ContainsFunc(held, func(h lockset.Held) bool { return !h.Read })
}

// isLocalMemory reports whether a path starts at a variable of the function.
func isLocalMemory(root ssa.Value) bool {
	switch root.(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
		return true
	}
	return false
}

// written lists the values that refer to memory which instr writes, by itself
// or by a call.
func (s *state) written(instr ssa.Instruction) []ssa.Value {
	switch instr := instr.(type) {
	case *ssa.Store:
		return []ssa.Value{instr.Addr}
	case *ssa.MapUpdate:
		return []ssa.Value{instr.Map}
	case *ssa.Call:
		var list []ssa.Value
		effects, args := s.effectsOfCall(instr)
		for _, e := range effects {
			if e.write && e.param < len(args) && refers(args[e.param].Type()) && !slices.Contains(list, args[e.param]) {
				list = append(list, args[e.param])
			}
		}
		return list
	}
	return nil
}

// extended demands that the claim's lock is held for more of what the touched functions do: more accesses
// and calls lie under it, each that did still does, and there are as many of each as before.
func (j *judge) extended() {
	oldIn, oldAll := j.done(j.old)
	nowIn, nowAll := j.done(j.now)
	for _, k := range append(oldAll.more(nowAll), nowAll.more(oldAll)...) {
		j.add("extended", "%s does %s %d times, and did it %d times", short(k.function), k.what, nowAll[k], oldAll[k])
	}
	for _, k := range oldIn.more(nowIn) {
		j.add("extended", "%s does less under %s: %s", short(k.function), short(j.now.claim.Lock), k.what)
	}
	if total(nowIn) <= total(oldIn) {
		j.add("extended", "%s covers no more than before", short(j.now.claim.Lock))
	}
}

// done counts the accesses and calls of touched functions, those of locks apart: all, and those under the claim's lock.
func (j *judge) done(s *side) (in, all tally) {
	in, all = tally{}, tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		// A call by what it calls, an access by its variable.
		what := ""
		switch instr := instr.(type) {
		case *ssa.Call:
			if p.Locks.Receiver(instr) != nil {
				return
			}
			what = callee(instr)
		default:
			addr := accessed(instr)
			if addr == nil {
				return
			}
			if alloc, isLocal := addr.(*ssa.Alloc); isLocal && !alloc.Heap {
				return
			}
			what = "an access of memory"
			if name, ok := accesspath.NameOf(addr); ok {
				what = "an access of " + name.Short()
			}
		}
		k := tallyKey{declared(p, fn), what}
		all[k]++
		if s.mayHold(st) {
			in[k]++
		}
	})
	return in, all
}
