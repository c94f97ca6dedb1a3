package unsafepub

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// lookup is a function and a variable that it reads or writes.
type lookup struct {
	fn   *ssa.Function
	name accesspath.Name
}

// shelves are the variables in which functions put objects under a lock, for others to find.
type shelves struct {
	puts  map[ssa.Value][]*accesses.Access // by the object
	looks map[lookup][]*accesses.Access    // under a lock
}

func findShelves(list *accesses.List) shelves {
	s := shelves{map[ssa.Value][]*accesses.Access{}, map[lookup][]*accesses.Access{}}
	for _, a := range slices.Concat(list.All, list.Implied) {
		if len(a.Locks.Held()) == 0 || a.Owner != ownership.Shared {
			continue
		}
		at := lookup{a.Fn, a.Name}
		s.looks[at] = append(s.looks[at], a)
		if a.Mode == finding.Write && a.Value != nil {
			for _, object := range objectsIn(a.Value) {
				s.puts[object] = append(s.puts[object], a)
			}
		}
	}
	return s
}

// objectsIn returns the objects that v points to: itself, or as the elements that append adds.
func objectsIn(v ssa.Value) (list []ssa.Value) {
	values := []ssa.Value{v}
	if call, ok := v.(*ssa.Call); ok {
		if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			values = callgraph.Spread(call.Call.Args)[1:]
		}
	}
	for _, x := range values {
		if p := accesspath.Of(x); p.Fields == "" {
			list = append(list, p.Root)
		}
	}
	return list
}

// listed finds the write to an object that its maker has put into a list, map or field under a lock, and released the
// lock since: others find the object there under the lock, and look at a field that is not written yet.
//
//	s.mu.Lock(); s.timers = append(s.timers, t); s.mu.Unlock(); t.fn = f
func (c *checker) listed(v *accesses.Variable) *race {
	for _, a := range v.Excused {
		if !a.MadeHere() || a.Owner == ownership.Fresh || a.Mode != finding.Write || a.Map || !c.list.Counts(a) {
			continue
		}
		for _, put := range c.shelves.puts[a.Path.Root] {
			if put.Fn != a.Fn || !c.list.Leads(put.Instr, a.Instr) {
				continue
			}
			if b, lock := c.finder(v, a, put); b != nil {
				return &race{a, b, "written after its object was put where others find it",
					fmt.Sprintf("%s puts the object in %s under %s (%s), where %s finds it under that lock (%s). Nothing orders "+
						"the two. Write it before the unlock.", c.list.Prog.FuncName(a.Fn), put.Name.Short(), lock, c.list.Where(put),
						c.list.Prog.FuncName(b.Fn), c.list.Where(b))}
			}
		}
	}
	return nil
}

// finder returns an access that conflicts with a, of a function that finds the object where put has put it, and the
// lock that both hold then.
func (c *checker) finder(v *accesses.Variable, a, put *accesses.Access) (*accesses.Access, string) {
	for _, b := range v.Accesses {
		if !finding.Conflicts(a.Mode, b.Mode) || !accesses.MaySame(a, b) || !c.list.Parallel(a, b) {
			continue
		}
		if accesses.MayCommonLock(b, a) || !accesses.CommonLock(b, put) || !c.looksIn(b, put) {
			continue
		}
		for _, h := range put.Locks.Held() {
			if b.Locks.MayHoldClass(h.Class) {
				return b, h.String()
			}
		}
	}
	return nil, ""
}

// looksIn reports whether the function of b, or one that calls it, looks under the lock at the variable in which put
// has put the object.
func (c *checker) looksIn(b, put *accesses.Access) bool {
	looks := func(fn *ssa.Function) bool {
		return slices.ContainsFunc(c.shelves.looks[lookup{fn, put.Name}], func(l *accesses.Access) bool {
			return accesses.CommonLock(l, put)
		})
	}
	return looks(b.Fn) || slices.ContainsFunc(c.list.Graph.Sites(b.Fn), func(s callgraph.Site) bool {
		return looks(s.Caller)
	})
}
