package strategy

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// guardBy lists a strategy for each lock that may guard the variable: one that is
// held at most of its accesses and at a write, or one that a side of a finding
// holds, or else the only lock beside it. If what is built with the first one is refused, the next one is tried.
func guardBy(p *Problem) []Strategy {
	for _, a := range p.Accesses {
		if a.Mode == source.Atomic {
			return []Strategy{{Name: "guard", build: func(*Problem) (*Patch, error) {
				return nil, fmt.Errorf("%s is accessed atomically at %s: a lock would not exclude that", p.Variable,
					a.File.At(a.Expr))
			}}}
		}
	}
	// The locks that may guard it, and for each what may be held under it.
	need := p.protectable()
	classes, related := p.guardingLocks(need)
	if classes = append(classes, related...); len(classes) == 0 {
		classes = p.siblingLock()
	}
	weak := p.weakLocks(need, classes)
	classes, list := p.ofOneObject(classes, need)
	if len(classes)+len(weak)+len(list) == 0 {
		return []Strategy{{Name: "guard", build: func(*Problem) (*Patch, error) {
			return nil, p.noLock(need)
		}}}
	}
	for _, class := range weak {
		list = append(list, Strategy{Name: "guard", build: func(p *Problem) (*Patch, error) {
			held := 0
			for _, a := range need {
				if slices.Contains(p.Facts.Classes(a), class) {
					held++
				}
			}
			err := fmt.Errorf("%s is held at %d of %d accesses of %s", source.Short(class), held, len(need), p.Variable)
			if err := p.open(finding.Light, "it may not be meant to guard it", err); err != nil {
				return nil, err
			}
			return named(class)(p.guardWith(class, need))
		}})
	}
	for _, class := range classes {
		list = append(list, Strategy{Name: "guard", build: func(p *Problem) (*Patch, error) {
			return named(class)(p.guardWith(class, need))
		}}, Strategy{Name: "guard", build: func(p *Problem) (*Patch, error) {
			return named(class + " around calls")(p.guardCalls(class, need))
		}}, Strategy{Name: "guard", build: func(p *Problem) (*Patch, error) {
			return named(class + " throughout")(p.guardWhole(class, need))
		}}, Strategy{Name: "guard", build: func(p *Problem) (*Patch, error) {
			return named(class + " in the callers that do not hold it")(p.guardEntries(class, need))
		}})
	}
	return list
}

// ofOneObject returns the locks that may be those of one object, and for each other one a strategy that says why not.
func (p *Problem) ofOneObject(classes []string, need []*source.Access) (rest []string, refused []Strategy) {
	for _, class := range classes {
		if err := p.apart(class, need); err != nil {
			refused = append(refused, Strategy{Name: "guard", build: func(*Problem) (*Patch, error) {
				return named(class)(nil, err)
			}})
		} else {
			rest = append(rest, class)
		}
	}
	return rest, refused
}

// apart returns why a lock cannot guard the variable, if a run has shown both sides of the race under it: one object
// has one lock, so these are of two.
func (p *Problem) apart(class string, need []*source.Access) error {
	lock, err := p.findLock(class)
	if err != nil || p.Patched { // the strategies find the first as well; with the second, lines have moved
		return nil
	}
	for _, f := range p.Findings {
		if f.Status != finding.Confirmed || !f.Code.IsDataRace() || len(f.Accesses) != 2 {
			continue
		}
		first, second := p.heldAt(f.Accesses[0], lock, need), p.heldAt(f.Accesses[1], lock, need)
		if first.Surely && second.Surely && !(first.ReadOnly && second.ReadOnly) {
			return fmt.Errorf("a run has shown the race where both sides hold it, of two objects that share %s", p.Variable)
		}
	}
	return nil
}

// heldAt returns the knowledge of a lock at the access in the line of one of a finding; none if there are several.
func (p *Problem) heldAt(at finding.Access, lock *knownLock, need []*source.Access) (held facts.Held) {
	found := 0
	for _, a := range need {
		if a.File.Path == at.File && a.File.Line(a.Expr.Pos()) == at.Line {
			held, _ = lock.held(a)
			found++
		}
	}
	if found != 1 {
		return facts.Held{}
	}
	return held
}

// weakLocks lists, where the strategies are bold, the other locks that are held at some access: too few hold them, or
// none that is known to write, to tell whether they are meant to guard the variable.
func (p *Problem) weakLocks(need []*source.Access, others []string) (classes []string) {
	for _, a := range need {
		for _, class := range p.Facts.Classes(a) {
			if p.Bold && !slices.Contains(others, class) && !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
	}
	return classes
}

// named puts the lock that was tried before a reason.
func named(class string) func(*Patch, error) (*Patch, error) {
	return func(out *Patch, err error) (*Patch, error) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source.Short(class), err)
		}
		return out, nil
	}
}

// guardingLocks lists lock classes, best first: those held at a write, and at enough of the
// accesses or at one that a finding names. Related are those that a side of a finding
// holds which reads, where the lock belongs to the variable's object or to one that it refers to:
//
//	t.mock.mu.Lock()
//	if t.fn != nil {	// and elsewhere t.fn = f without a lock
func (p *Problem) guardingLocks(need []*source.Access) (classes, related []string) {
	count, writes, namedAt := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, a := range need {
		for _, class := range p.Facts.Classes(a) {
			count[class]++
			writes[class] = writes[class] || a.Mode.Writes()
			namedAt[class] = namedAt[class] || p.named(a)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(count)) {
		switch {
		case writes[class] && (guards.WorthTrying(count[class], len(need)) || namedAt[class]):
			classes = append(classes, class)
		case namedAt[class] && p.leadsTo(class):
			related = append(related, class)
		}
	}
	byCount := func(a, b string) int { return count[b] - count[a] }
	slices.SortStableFunc(classes, byCount)
	slices.SortStableFunc(related, byCount)
	return classes, related
}

// noLock is the reason where no lock is one to try: the one that most accesses hold may not hold at those that a
// finding names, or be held at reads alone.
func (p *Problem) noLock(need []*source.Access) error {
	count, writes := map[string]int{}, map[string]bool{}
	for _, a := range need {
		for _, class := range p.Facts.Classes(a) {
			count[class]++
			writes[class] = writes[class] || a.Mode.Writes()
		}
	}
	best := ""
	for _, class := range slices.Sorted(maps.Keys(count)) {
		if best == "" || count[class] > count[best] {
			best = class
		}
	}
	unknown := slices.IndexFunc(need, func(a *source.Access) bool { return !p.Facts.Knows(a) })
	switch {
	case unknown >= 0:
		a := need[unknown]
		return fmt.Errorf("%s: which locks are held there is not known%s", a.File.At(a.Expr), whyUnknown(a))
	case best == "":
		// A lock that is held on some ways only is named: it is not missing.
		for _, a := range need {
			if some := p.Facts.Perhaps(a); len(some) > 0 {
				return fmt.Errorf("%s: %s is held on some ways to the access only", a.File.At(a.Expr), source.Short(some[0]))
			}
		}
		return fmt.Errorf("no lock is held at any access of %s", p.Variable)
	}
	why := "too few to try it"
	if !writes[best] {
		why = "none of which is known to write"
	}
	return fmt.Errorf("%s is held at %d of %d accesses of %s, %s", source.Short(best), count[best], len(need), p.Variable,
		why)
}

// siblingLock returns the class of the one lock in the struct of the variable, if there is one: better than a second
// lock beside it.
func (p *Problem) siblingLock() []string {
	if p.Variable.Owner == nil {
		return nil
	}
	st, ok := source.StructOf(p.Variable.Owner)
	if !ok {
		return nil
	}
	var classes []string
	for f := range st.Fields() {
		if source.IsMutex(f.Type()) {
			classes = append(classes, source.OwnerName(p.Variable.Owner)+"."+f.Name())
		}
	}
	if len(classes) > 1 {
		return nil
	}
	return classes
}

// leadsTo reports whether a lock belongs to the struct of the variable, or to one that a field of it refers to.
func (p *Problem) leadsTo(class string) bool {
	lock, err := p.findLock(class)
	if err != nil || lock.owner == nil || p.Variable.Owner == nil {
		return false
	}
	return lock.isBeside(p.Variable) || lock.backPointer(p.Variable.Owner) != ""
}

func (p *Problem) guardWith(class string, need []*source.Access) (*Patch, error) {
	lock, err := p.findLock(class)
	if err != nil {
		return nil, err
	}
	// Which accesses need the lock, and which its write side.
	open, upgrade, err := p.unguarded(lock, need)
	if err != nil {
		return nil, err
	}
	out := &Patch{}
	all := len(open)
	open, left, notes := p.reachable(open, lock)
	out.Notes = notes
	out.Claim = p.claimAll(class, left)
	if len(open)+len(upgrade) == 0 {
		if all == 0 && p.Patched {
			return out, nil
		}
		if all > 0 {
			return nil, fmt.Errorf("%s", strings.Join(notes, "; "))
		}
		return nil, fmt.Errorf("it is held at every access that is known to need it")
	}
	// Read locks around writes become write locks; then the rest gets regions.
	edits := edit.New()
	open = p.useCopies(edits, open, lock)
	for _, q := range p.beside() {
		beside := *lock
		beside.problem = q
		more, writes, err := q.unguarded(&beside, q.protectable())
		if err != nil {
			return nil, err
		}
		open, upgrade = append(open, more...), append(upgrade, writes...)
	}
	if err := p.upgrade(edits, class, upgrade); err != nil {
		return nil, err
	}
	notes, err = p.protectAll(edits, open, lock.expr, lock.hasRLock, &relatedVariables{problem: p, lock: lock,
		byKey: map[string]*guardedVariable{}})
	if err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, notes...)
	for _, q := range p.all() {
		q.nameGuarded(edits, lock)
	}
	if p.Variable.Owner != nil && p.Variable.Object.Exported() && p.Variable.Owner.Obj().Exported() {
		out.Notes = append(out.Notes,
			fmt.Sprintf("%s is exported: code outside the module may still access it without the lock", p.Variable))
	}
	out.Files, err = edits.Files()
	return out, err
}

// unguarded sorts out the accesses at which the lock is not held, and the
// writes at which only its read side is.
func (p *Problem) unguarded(lock *knownLock, need []*source.Access) (open, upgrade []*source.Access, err error) {
	for _, a := range need {
		held, known := lock.held(a)
		switch {
		case !known:
			return nil, nil, fmt.Errorf("%s: which locks are held there is not known%s", a.File.At(a.Expr), whyUnknown(a))
		case held.Surely && held.ReadOnly && a.Mode.Writes() && !p.mayOnlyRead(a):
			upgrade = append(upgrade, a)
		case held.Surely:
		case held.Perhaps:
			return nil, nil, fmt.Errorf("%s: it is held on some ways to the access only", a.File.At(a.Expr))
		default:
			open = append(open, a)
		}
	}
	return open, upgrade, nil
}

// whyUnknown returns why the passes have no state of the locks at an access.
func whyUnknown(a *source.Access) string {
	if strings.HasSuffix(a.File.Path, "_test.go") {
		return ", as locks are not followed in tests"
	}
	return ", as no way through the program reaches it"
}

// reachable sorts out what the patch leaves alone: accesses in packages that
// cannot name the lock; and where the lock lies in another object, reads that
// no finding names, since the object's owner may need no lock for them. Left is how many those are.
func (p *Problem) reachable(open []*source.Access, lock *knownLock) (keep []*source.Access, left int, notes []string) {
	var foreign, owned []*source.Access
	for _, a := range open {
		switch {
		case p.named(a):
			keep = append(keep, a)
		case lock.local != nil:
			keep = append(keep, a)
		case a.File.Package.Path != lock.pkg.Path() && !token.IsExported(lock.field):
			foreign = append(foreign, a)
		case !lock.isBeside(p.Variable) && !a.Mode.Writes():
			owned = append(owned, a)
		default:
			keep = append(keep, a)
		}
	}
	if len(foreign) > 0 {
		notes = append(notes, fmt.Sprintf("other packages access %s without the lock, which they cannot name: %s",
			p.Variable, source.Places(foreign)))
	}
	if len(owned) > 0 {
		notes = append(notes, fmt.Sprintf("reads of %s without the lock that no finding names are left: %s", p.Variable,
			source.Places(owned)))
	}
	return keep, len(owned), notes
}

// upgrade turns read locks around writes into write locks, in the functions that
// take them: the one that writes, or all that call it.
//
//	c.mu.RLock()	->	c.mu.Lock()
//	c.hit()			// writes c.hits
//	c.mu.RUnlock()	->	c.mu.Unlock()
//
// It refuses where such a function does anything that may block.
func (p *Problem) upgrade(edits *edit.Edits, class string, accs []*source.Access) error {
	done := map[*source.Function]bool{}
	for _, a := range accs {
		holders, err := p.readHolders(a.Function, class, map[*source.Function]bool{})
		if err != nil {
			return fmt.Errorf("%s is written at %s under a read lock: %w", p.Variable, a.File.At(a.Expr), err)
		}
		for _, f := range holders {
			if done[f] {
				continue
			}
			done[f] = true
			ops, why := p.lockOps(f, class)
			if why != "" {
				return fmt.Errorf("%s is written at %s under a read lock, and %s %s", p.Variable, a.File.At(a.Expr), f.Name(), why)
			}
			for _, op := range ops {
				if op.Try || !op.Read {
					return fmt.Errorf("%s uses both sides of the lock", f.Name())
				}
				name := op.Call.Fun.(*ast.SelectorExpr).Sel
				edits.Replace(f.File, name, strings.TrimPrefix(name.Name, "R"))
			}
		}
	}
	return nil
}

// readHolders lists the functions that take the read side of a lock of the class for f: f
// itself, or those that call it.
func (p *Problem) readHolders(f *source.Function, class string, seen map[*source.Function]bool) ([]*source.Function,
	error) {
	if ops, _ := p.lockOps(f, class); len(ops) > 0 {
		if !slices.ContainsFunc(ops, func(op source.LockOp) bool { return op.Read }) {
			return nil, nil // it takes the write side
		}
		return []*source.Function{f}, nil
	}
	f = f.Declaration()
	if seen[f] {
		return nil, nil
	}
	seen[f] = true
	calls, asValue := p.Module.References(f)
	if asValue || len(calls) == 0 {
		return nil, fmt.Errorf("who calls %s with it is not known", f.Name())
	}
	var holders []*source.Function
	for _, call := range calls {
		if call.In == nil || call.In.File.Test || call.IsGo() {
			continue // no lock is held there, or nobody else is about
		}
		more, err := p.readHolders(call.In, class, seen)
		if err != nil {
			return nil, err
		}
		holders = append(holders, more...)
	}
	return holders, nil
}

// lockOps lists the function's operations on a lock class; why says what else
// in it may block while the lock is held.
func (p *Problem) lockOps(f *source.Function, class string) (ops []source.LockOp, why string) {
	own := map[*ast.CallExpr]bool{}
	f.EachCall(func(call *ast.CallExpr) {
		if op, ok := f.File.LockOp(call); ok && op.Path.Class == class {
			ops, own[call] = append(ops, op), true
		}
	})
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		switch {
		case isCall && own[call]:
			return false
		case isCall && why == "" && p.Facts.MayHold(f.File, call, class):
			why = p.Facts.CallReason(f.File, call, nil)
		case why == "" && source.IsWait(n):
			why = p.Facts.Blocks(f.File, n)
		}
		return true
	})
	return ops, why
}
