package sites

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// A lock can be handed over: one goroutine acquires it, and another one releases it. The holder of such a lock
// proves nothing. A lock is none of them where each release in the source comes behind an acquisition by the
// same activation of a function, on all ways to it:
//
//	mu.Lock()
//	if done {
//		mu.Unlock()
//		return
//	}
//	defer mu.Unlock()
//
// A lock is a variable or field, the same in all instances. Pointers and interfaces may lead to any lock with
// its address taken, as a Cond does to its own. An operand that may be another lock at the release, such as
// s.current.mu where s.current is assigned somewhere, does not count as acquired: see steady.go.
//
// Cost: linear in the syntax, but the statements of a function times the locks that it releases. All locks that a
// function releases which takes more than workLimit steps count as handed over; see [Unfinished].

// workLimit is how many steps may be made for one function, which take about half a second. A step is one
// statement for one lock. It is a variable for tests.
var workLimit = 10_000_000

// Unfinished lists, sorted, the functions of pkgs that were not searched to their end for releases of locks,
// each in a sentence with its package.
func Unfinished(pkgs []*Package) []string {
	list := findHandovers(pkgs).unfinished
	slices.Sort(list)
	return slices.Compact(list)
}

// handovers sums up the uses of locks in the functions of some packages.
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
	// interfaces: locks are used through interfaces. looseAlias: a lock of an unknown variable is released
	// where it is not certain that it was acquired. looseCond: that may be the lock of a Cond. reflects:
	// methods are called by package reflect.
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
			s.scanFile(f)
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

// Steps of a function with one lock.
const (
	acquire = iota
	tryAcquire
	releaseNow
	releaseLater // by a defer statement
	forget       // the operand is another lock from here on
)

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
	s.markLoose(b.values)
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

const (
	notHeld   states = 1<<0 | 1<<2
	held      states = 1<<1 | 1<<3
	whenHeld  states = 1 << 3
	whenEnds  states = 1 << 2
	beginning states = 1 << 0
)
