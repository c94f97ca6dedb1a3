package features

import (
	"slices"
	"sync"
)

// Accesses that the source does not spell out are listed where some access to
// the variable has a lock.
type Guarded struct {
	mu   sync.Mutex
	part pair
	list []int
	kept *cache
}

type pair struct{ a, b int }

type cache struct{ n int }

func (c *cache) grow() { c.n++ }

func (g *Guarded) Locked() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.part.a = 1
	g.part.b = 2
	g.list[0] = 3 // = read Guarded.list, [write Guarded.list elements]
	g.kept.grow() // = read Guarded.kept, [write Guarded.kept by a method]
}

func (g *Guarded) Copies() pair {
	return g.part // = read Guarded.part, [read pair.a], [read pair.b]
}

func (g *Guarded) Assigns(p pair) {
	g.part = p // = write Guarded.part, [write pair.a], [write pair.b]
}

func (g *Guarded) Elements() int {
	g.list[1]++                            // = read Guarded.list, [write Guarded.list elements (update)]
	slices.Sort(g.list)                    // = read Guarded.list, [write Guarded.list elements]
	for _, v := range slices.All(g.list) { // = read Guarded.list, [read Guarded.list elements]
		use(v)
	}
	return len(g.list) // = read Guarded.list
}

func (g *Guarded) Inner() {
	g.kept.grow() // = read Guarded.kept, [write Guarded.kept by a method]
}
