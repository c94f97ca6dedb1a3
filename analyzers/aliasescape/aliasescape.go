package aliasescape

import (
	_ "embed"
	"fmt"
	"go/ast"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

//go:embed doc.go
var doc string

// Analyzer reports aliases of guarded data that are used after unlock.
var Analyzer = check.WithFacts(check.New("aliasescape", finding.UsedAfterLock, doc, run, accesses.Analyzer,
	ownership.Analyzer), new(Behaviour))

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	list.Prog.Analyse(pass, func() {
		c := &checker{list: list, does: newBehaviours(pass, list.Prog, list.Graph), reporter: r}
		c.owner = pass.ResultOf[ownership.Analyzer].(*ownership.Result)
		c.does.export()
		c.findChanges()
		list.Prog.Each(pass, func(fn *ssa.Function, work *ir.Work) {
			if !list.Prog.InTest(fn) && len(c.changes) > 0 {
				c.work = work
				c.function(fn)
			}
		})
	})
}

type checker struct {
	list     *accesses.List
	does     *behaviours
	owner    *ownership.Result
	reporter *check.Reporter
	work     *ir.Work // steps left for the function at hand
	// changes holds the changes in place for each guarded field and lock class.
	changes map[guarded][]*accesses.Access
}

type guarded struct {
	field accesspath.Name
	lock  string
}

// findChanges notes which elements are changed in place under which lock.
func (c *checker) findChanges() {
	c.changes = map[guarded][]*accesses.Access{}
	for _, fn := range c.list.Prog.Funcs {
		if c.list.Prog.InTest(fn) {
			continue
		}
		assigned := assigns(fn)
		c.list.Locks.Walk(fn, func(instr ssa.Instruction, s *lockset.State) {
			if len(s.Held()) == 0 {
				return
			}
			for _, o := range c.does.changedBy(instr) {
				if c.renewed(instr, assigned[o.Field]) || c.setsUp(o, instr) {
					continue
				}
				for _, h := range s.Held() {
					key := guarded{o.Field, h.Class}
					if h.Class == "" || h.Read || !guards(h, o) {
						continue
					}
					if change := c.access(fn, instr, s, o, finding.Write); change != nil {
						c.changes[key] = append(c.changes[key], change)
					}
				}
			}
		})
	}
}

// setsUp reports whether instr changes an object that its function made, or
// all callers of its function.
func (c *checker) setsUp(o origin, instr ssa.Instruction) bool {
	return c.owner.Made(o.Base, instr) || c.owner.MadeByCallers(o.Base, instr) ||
		c.owner.Of(o.Base, instr) != ownership.Shared
}

// renewed reports whether the field was given other contents before instr
// changes them, by one of the stores: then nobody has an alias of these yet.
func (c *checker) renewed(instr ssa.Instruction, stores []*ssa.Store) bool {
	flow := c.list.Prog.Flow(instr.Parent())
	return slices.ContainsFunc(stores, func(st *ssa.Store) bool {
		return makesSlice(st.Val) && flow.Precedes(st, instr)
	})
}

// assigns lists the stores of fn to fields, by field.
func assigns(fn *ssa.Function) map[accesspath.Name][]*ssa.Store {
	stores := map[accesspath.Name][]*ssa.Store{}
	for instr := range ir.Instructions(fn) {
		st, ok := instr.(*ssa.Store)
		if !ok {
			continue
		}
		if _, isField := st.Addr.(*ssa.FieldAddr); !isField {
			continue
		}
		if name, ok := accesspath.NameOf(st.Addr); ok {
			stores[name] = append(stores[name], st)
		}
	}
	return stores
}

func makesSlice(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeMap, *ssa.MakeSlice:
		return true
	case *ssa.Slice: // of a new array
		_, ok := v.X.(*ssa.Alloc)
		return ok
	}
	return false
}

// guards reports whether the field lies in the object that lock h lies in.
func guards(h lockset.Held, o origin) bool {
	a := accesses.Access{Path: o.Path.Plus("." + o.Field.Field)}
	return a.Near(h)
}

// access makes an access of instr for a finding; nil if the source has no
// expression there.
func (c *checker) access(fn *ssa.Function, instr ssa.Instruction, s *lockset.State, o origin,
	mode finding.Mode) *accesses.Access {
	e := c.exprOf(instr)
	if e == nil && o.Birth != nil {
		e = c.exprOf(o.Birth)
	}
	if e == nil {
		return nil
	}
	return &accesses.Access{Name: o.Field, Mode: mode, Fn: fn, Instr: instr, Locks: s, Expr: e, Path: o.Path}
}

func (c *checker) exprOf(instr ssa.Instruction) ast.Expr {
	switch node := c.list.Prog.Node(instr.Pos()).(type) {
	case ast.Expr:
		return node
	case *ast.RangeStmt:
		return node.X
	}
	return nil
}

// function reports the aliases that fn takes under a lock and uses after it,
// one a field; not of a field that it assigns: it may have taken the old
// contents for itself.
func (c *checker) function(fn *ssa.Function) {
	states := map[ssa.Instruction]*lockset.State{}
	var births []ssa.Value
	c.list.Locks.Walk(fn, func(instr ssa.Instruction, s *lockset.State) {
		states[instr] = s
		if v, ok := instr.(ssa.Value); ok && len(s.Held()) > 0 {
			births = append(births, v)
		}
	})
	reported, assigned := map[accesspath.Name]bool{}, assigns(fn)
	for _, v := range births {
		o, ok := c.does.originOf(v)
		if !ok || o.Birth != v.(ssa.Instruction) && !isExtract(v) || reported[o.Field] || len(assigned[o.Field]) > 0 ||
			c.owner.Of(o.Base, o.Birth) != ownership.Shared {
			continue
		}
		// A lock under which others change the memory that is used without it.
		for _, h := range states[o.Birth].Held() {
			changes := c.changes[guarded{o.Field, h.Class}]
			if len(changes) == 0 || !guards(h, o) {
				continue
			}
			use := c.useAfter(v, h, states)
			if use == nil {
				continue
			}
			if change := unorderedWith(states[use], changes); change != nil {
				reported[o.Field] = true
				c.report(fn, use, states[use], states[o.Birth], o, h, change)
				break
			}
		}
	}
}

func isExtract(v ssa.Value) bool { _, ok := v.(*ssa.Extract); return ok }

// unorderedWith returns the first change that has no lock in common with a use in state s; nil if there is none.
func unorderedWith(s *lockset.State, changes []*accesses.Access) *accesses.Access {
	for _, change := range changes {
		if !accesses.CommonLock(&accesses.Access{Locks: s}, change) {
			return change
		}
	}
	return nil
}

// useAfter returns a use of the elements of v where lock h is surely not held.
func (c *checker) useAfter(v ssa.Value, h lockset.Held, states map[ssa.Instruction]*lockset.State) ssa.Instruction {
	seen := map[ssa.Value]bool{}
	var follow func(v ssa.Value) ssa.Instruction
	follow = func(v ssa.Value) ssa.Instruction {
		if seen[v] || v.Referrers() == nil {
			return nil
		}
		seen[v] = true
		c.work.Spend(len(*v.Referrers()))
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.Store:
				if use := throughCell(ref, v, follow); use != nil {
					return use
				}
			case *ssa.Slice, *ssa.Phi, *ssa.ChangeType:
				if use := follow(ref.(ssa.Value)); use != nil {
					return use
				}
			default:
				if s := states[ref]; s != nil && usesElements(ref, v) && !s.Unknown && !s.MayHoldClass(h.Class) {
					return ref
				}
			}
		}
		return nil
	}
	return follow(v)
}

// throughCell follows v into a variable in memory that it is stored in.
func throughCell(st *ssa.Store, v ssa.Value, follow func(ssa.Value) ssa.Instruction) ssa.Instruction {
	cell, ok := st.Addr.(*ssa.Alloc)
	if !ok || st.Val != v {
		return nil
	}
	for _, ref := range *cell.Referrers() {
		if load, ok := ref.(*ssa.UnOp); ok {
			if use := follow(load); use != nil {
				return use
			}
		}
	}
	return nil
}

// usesElements reports whether instr reads or writes elements of v, or hands v to a function that may.
func usesElements(instr ssa.Instruction, v ssa.Value) bool {
	switch instr := instr.(type) {
	case *ssa.IndexAddr:
		return instr.X == v
	case *ssa.Lookup, *ssa.Range, *ssa.MapUpdate, *ssa.Convert, *ssa.Return:
		return true
	case *ssa.Call:
		if b, ok := instr.Call.Value.(*ssa.Builtin); ok {
			return b.Name() == "copy" || b.Name() == "delete" || b.Name() == "append" && instr.Call.Args[0] != v
		}
		return true
	}
	return false
}

// report reports a use, in state s, of an alias that was made in state birth.
func (c *checker) report(fn *ssa.Function, use ssa.Instruction, s, birth *lockset.State, o origin, h lockset.Held,
	change *accesses.Access) {
	what, reads := "used after", "they are read here"
	if _, ok := use.(*ssa.Return); ok {
		// return c.m under a deferred Unlock: the field is read under the lock, and
		// the caller reads its elements without.
		what, reads, s = "returned from under", "the caller reads them", birth
	}
	a := c.access(fn, use, s, o, finding.Read)
	if a == nil {
		return
	}
	f := &finding.Finding{
		Title: fmt.Sprintf("alias of %s is %s %s", o.Field.Short(), what, h.Path),
		Message: fmt.Sprintf("its elements were reached under the lock; %s (%s) changes them in place under it, perhaps "+
			"while %s. Copy what is needed before the unlock.",
			c.list.Prog.FuncName(change.Fn), c.list.Where(change), reads),
		Variable: a.Variable(),
		Accesses: []finding.Access{c.list.Side(a), c.list.Side(change)},
	}
	c.reporter.Report(f, a.Expr, change.Expr, "changed in place here", check.Spots(a))
}
