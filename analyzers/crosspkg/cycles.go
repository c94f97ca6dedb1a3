package crosspkg

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dominikbraun/graph"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Cycles returns a finding for each cycle in the lock order of the packages
// together, the shortest way round for each edge, sorted and sealed.
func Cycles(packages ...Locks) []*finding.Finding {
	// Gather the edges. One that waits for a call through an interface stands for
	// several: the locks that some implementation takes.
	j := &joiner{written: map[string]bool{}, edges: map[[2]string][]*Order{}}
	calls := newDispatches(packages)
	for _, p := range packages {
		for _, class := range p.Written {
			j.written[class] = true
		}
		for i := range p.Orders {
			if o := &p.Orders[i]; !isDispatch(o.To) {
				j.addOrder(o)
			} else {
				for _, one := range calls.resolve(o, 0) {
					j.addOrder(one)
				}
			}
		}
	}
	j.sortOrders()

	// Cycles of one edge: two locks of the same class.
	var found []*finding.Finding
	for _, class := range slices.Sorted(maps.Keys(j.peerClasses())) {
		if f := j.peerCycle(class); f != nil {
			found = append(found, f)
		}
	}
	// Cycles of several classes.
	for _, classes := range j.findRings() {
		if orders := j.choose(classes); orders != nil {
			found = append(found, j.makeCycle(orders))
		}
	}
	for _, f := range found {
		f.Code, f.Status = finding.LockCycle, finding.Suspected
	}
	finding.Sort(found)
	finding.Seal(found)
	return found
}

type joiner struct {
	written map[string]bool
	edges   map[[2]string][]*Order // by from and to
}

func (j *joiner) addOrder(o *Order) {
	key := [2]string{o.From, o.To}
	j.edges[key] = append(j.edges[key], o)
}

// sortOrders puts the orders of each edge so that those that read best come first:
// where the function itself locks, then by position.
func (j *joiner) sortOrders() {
	for _, orders := range j.edges {
		slices.SortFunc(orders, func(a, b *Order) int {
			return cmp.Or(cmp.Compare(len(a.Via), len(b.Via)), cmp.Compare(a.Position.File, b.Position.File),
				cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column))
		})
	}
}

// peerClasses lists the classes with orders among themselves.
func (j *joiner) peerClasses() map[string]bool {
	classes := map[string]bool{}
	for key := range j.edges {
		if key[0] == key[1] {
			classes[key[0]] = true
		}
	}
	return classes
}

// peerCycle makes one finding of all functions that lock two peers of the class.
func (j *joiner) peerCycle(class string) *finding.Finding {
	f := &finding.Finding{Title: fmt.Sprintf("two %s are locked in the order in which they are passed",
		finding.ShortLock(class))}
	seen := map[string]bool{}
	reads := true
	for _, o := range j.edges[[2]string{class, class}] {
		if seen[o.Function] || haveGate(o, o) || o.Goroutine != "" || !blocks(o, o, j.written) {
			continue
		}
		seen[o.Function] = true
		reads = reads && o.FromRead && o.ToRead
		f.Cycle = append(f.Cycle, o.Edge)
	}
	if len(f.Cycle) == 0 {
		return nil
	}
	slices.SortFunc(f.Cycle, func(a, b finding.Edge) int {
		return cmp.Or(cmp.Compare(a.Position.File, b.Position.File), cmp.Compare(a.Position.Line, b.Position.Line))
	})
	name := f.Cycle[0].Function
	other := f.Cycle[len(f.Cycle)-1].Function
	f.Message = fmt.Sprintf("One goroutine in %s holds the first and waits for the second, while another in %s, called "+
		"with the two swapped, holds the second and waits for the first: both wait forever.", name, other)
	if reads {
		f.Message += " The locks are read locks here; it takes a writer that waits on each in between, as new readers " +
			"queue behind it."
	}
	return f
}

// findRings lists the cycles of two and three classes, each once, by name.
func (j *joiner) findRings() [][]string {
	g := graph.New(graph.StringHash, graph.Directed())
	for _, key := range slices.SortedFunc(maps.Keys(j.edges), compareKeys) {
		_ = g.AddVertex(key[0]) // an error says that it is there
		_ = g.AddVertex(key[1])
		if key[0] != key[1] {
			_ = g.AddEdge(key[0], key[1])
		}
	}
	components, err := graph.StronglyConnectedComponents(g)
	if err != nil {
		panic(err) // of undirected graphs only
	}
	var rings [][]string
	for _, c := range components {
		if len(c) > 1 {
			slices.Sort(c)
			rings = append(rings, j.ringsIn(c)...)
		}
	}
	slices.SortFunc(rings, slices.Compare)
	return rings
}

func compareKeys(a, b [2]string) int { return slices.Compare(a[:], b[:]) }

// ringsIn lists the cycles within a strongly connected component. One of
// three is left out where two of its locks form a cycle by themselves.
func (j *joiner) ringsIn(classes []string) [][]string {
	var rings [][]string
	edge := func(a, b string) bool { return len(j.edges[[2]string{a, b}]) > 0 }
	for i, a := range classes {
		for k, b := range classes[i+1:] {
			if edge(a, b) && edge(b, a) {
				rings = append(rings, []string{a, b})
			}
			for _, c := range classes[i+1+k+1:] {
				if edge(b, a) && edge(a, b) || edge(a, c) && edge(c, a) || edge(b, c) && edge(c, b) {
					continue
				}
				if edge(a, b) && edge(b, c) && edge(c, a) {
					rings = append(rings, []string{a, b, c})
				}
				if edge(a, c) && edge(c, b) && edge(b, a) {
					rings = append(rings, []string{a, c, b})
				}
			}
		}
	}
	return rings
}

// choose picks one order for each edge of the ring such that all can happen
// at the same moment; nil if there are none.
func (j *joiner) choose(ring []string) []*Order {
	var pick func(chosen []*Order) []*Order
	pick = func(chosen []*Order) []*Order {
		n := len(chosen)
		if n == len(ring) {
			if j.together(chosen) {
				return chosen
			}
			return nil
		}
		for _, o := range j.edges[[2]string{ring[n], ring[(n+1)%len(ring)]}] {
			if slices.ContainsFunc(chosen, func(c *Order) bool { return haveGate(c, o) }) {
				continue
			}
			if all := pick(append(slices.Clip(chosen), o)); all != nil {
				return all
			}
		}
		return nil
	}
	return pick(nil)
}

// together reports whether the orders of a ring, no two of which are gated,
// can block each other.
func (j *joiner) together(orders []*Order) bool {
	alone := orders[0].Goroutine != ""
	for i, o := range orders {
		next := orders[(i+1)%len(orders)]
		if !blocks(next, o, j.written) {
			return false
		}
		alone = alone && o.Goroutine == next.Goroutine
	}
	return !alone
}

func (j *joiner) makeCycle(orders []*Order) *finding.Finding {
	f := &finding.Finding{}
	var names, says []string
	var pending []string
	for i, o := range orders {
		f.Cycle = append(f.Cycle, o.Edge)
		names = append(names, finding.ShortLock(o.From))
		says = append(says, fmt.Sprintf("%s holds %s and waits for %s", o.Function, finding.ShortLock(o.From),
			finding.ShortLock(o.To)))
		if o.ToRead && orders[(i+1)%len(orders)].FromRead {
			pending = append(pending, finding.ShortLock(o.To))
		}
	}
	f.Title = "locks are taken in a circle: " + strings.Join(append(names, names[0]), " -> ")
	if len(orders) == 2 {
		f.Title = fmt.Sprintf("%s and %s are locked in both orders", names[0], names[1])
	}
	f.Message = "At the same moment, " + strings.Join(says, ", while ") + ": all of them wait forever."
	if len(pending) > 0 {
		f.Message += fmt.Sprintf(" Of %s only the read side is held and waited for; it takes a writer that waits in "+
			"between, as new readers queue behind it.", strings.Join(pending, " and "))
	}
	return f
}
