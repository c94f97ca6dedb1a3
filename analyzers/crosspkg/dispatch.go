package crosspkg

import (
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// This file resolves calls through interfaces: which methods may run, by the
// types that reach the interface in any package, and which locks they take.
// A function that a field holds is a type of its own with one method, "()".

// Flow means that values of a type, or those of another node, flow to a node: a
// field, package variable or parameter of interface or function type.
type Flow struct {
	To   string `json:"to"`
	Type string `json:"type,omitempty"`
	From string `json:"from,omitempty"`
}

// Method lists the locks that a method of a type may block on.
type Method struct {
	Type  string  `json:"type"`
	Name  string  `json:"name"`
	Takes []Taken `json:"takes"`
}

// Taken is one of them, or a call through an interface that the method makes.
type Taken struct {
	Class string   `json:"class"`
	Read  bool     `json:"read,omitempty"`
	Where string   `json:"where,omitempty"`
	Freed []string `json:"freed,omitempty"` // classes released on the way there
}

// dispatches resolves the orders that wait for a call through an interface.
type dispatches struct {
	types   map[string][]string    // that reach a node
	methods map[[2]string][]*Taken // by type and name
}

func newDispatches(packages []Locks) *dispatches {
	d := &dispatches{types: map[string][]string{}, methods: map[[2]string][]*Taken{}}
	next := map[string][]string{} // nodes that a node flows to
	type arrival struct{ node, typ string }
	var work []arrival
	for _, p := range packages {
		for _, f := range p.Flows {
			if f.From != "" {
				next[f.From] = append(next[f.From], f.To)
			} else {
				work = append(work, arrival{f.To, f.Type})
			}
		}
		for _, m := range p.Methods {
			key := [2]string{m.Type, m.Name}
			if d.methods[key] == nil {
				for i := range m.Takes {
					d.methods[key] = append(d.methods[key], &m.Takes[i])
				}
			}
		}
	}
	for ; len(work) > 0; work = work[1:] {
		at := work[0]
		if slices.Contains(d.types[at.node], at.typ) {
			continue
		}
		d.types[at.node] = append(d.types[at.node], at.typ)
		for _, node := range next[at.node] {
			work = append(work, arrival{node, at.typ})
		}
	}
	return d
}

// dispatchPrefix begins the classes that stand for calls, as package lockset
// makes them: "call node.method".
const dispatchPrefix = "call "

// isDispatch reports whether the class stands for a call through an interface.
func isDispatch(class string) bool { return strings.HasPrefix(class, dispatchPrefix) }

// resolve lists the orders that o stands for, which waits for a call: one for
// each lock that some implementation takes.
func (d *dispatches) resolve(o *Order, depth int) []*Order {
	if depth > knowledge.DispatchesToLock {
		return nil
	}
	call := strings.TrimPrefix(o.To, dispatchPrefix)
	dot := strings.LastIndexByte(call, '.')
	node, method := call[:dot], call[dot+1:]
	var list []*Order
	for _, typ := range d.types[node] {
		for _, t := range d.methods[[2]string{typ, method}] {
			if t.Class == o.From || slices.Contains(t.Freed, o.From) {
				continue
			}
			one := *o
			one.To, one.ToRead, one.Via = t.Class, t.Read, t.Where
			one.Gates = slices.DeleteFunc(slices.Clone(o.Gates), func(g Gate) bool {
				return g.Class == t.Class || slices.Contains(t.Freed, g.Class)
			})
			if isDispatch(t.Class) {
				list = append(list, d.resolve(&one, depth+1)...)
			} else {
				list = append(list, &one)
			}
		}
	}
	return list
}
