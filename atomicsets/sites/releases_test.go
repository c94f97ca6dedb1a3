package sites

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A lock whose name begins with own is released by the goroutine alone that has acquired it; one whose name begins
// with handed may be released by another.
const ownAndHanded = `package p

import (
	"context"
	"sync"
	"time"
)

type T struct {
	ownPaired, ownDeferred, ownEarly, ownLoop, ownTwice, ownTry, ownNotTried, ownForgotten, ownLiteral, ownAgain sync.Mutex
	ownRead, ownMapped                                                                                        sync.RWMutex
	ownOf                                                                                                     []sync.Mutex
	handedEnd, handedGo, handedValue, handedTimer, handedOther, handedBefore, handedMaybe, handedTwice, handedLeft,
	handedLoop, handedClosure, handedKept sync.Mutex
	handedRead, handedMode sync.RWMutex
	handedOf               []sync.Mutex
	next                   *T
	m                      map[string]int
}

func (t *T) paired()   { t.ownPaired.Lock(); t.m["a"]++; t.ownPaired.Unlock() }
func (t *T) deferred() { t.ownDeferred.Lock(); defer t.ownDeferred.Unlock(); t.m["a"]++ }

func (t *T) early(x bool) {
	t.ownEarly.Lock()
	if x {
		t.ownEarly.Unlock()
		return
	}
	switch t.m["b"] {
	case 1:
		t.ownEarly.Unlock()
	default:
		defer t.ownEarly.Unlock()
	}
}

func (t *T) loop() {
	t.ownLoop.Lock()
	for len(t.m) > 0 {
		t.ownLoop.Unlock()
		time.Sleep(1)
		t.ownLoop.Lock()
	}
	t.ownLoop.Unlock()
	for i := range t.ownOf {
		t.ownOf[i].Lock()
		t.m["c"]++
		t.ownOf[i].Unlock()
	}
}

func (t *T) twice(x bool) {
	if x {
		t.ownTwice.Lock()
		defer t.ownTwice.Unlock()
	}
	if t.ownTry.TryLock() {
		t.ownTry.Unlock()
	}
	if !t.ownNotTried.TryLock() {
		return
	}
	defer t.ownNotTried.Unlock()
}

func (t *T) forgotten(x bool) {
	t.ownForgotten.Lock()
	if x {
		return
	}
	t.ownForgotten.Unlock()
}

func (t *T) literal() {
	t.ownLiteral.Lock()
	defer func() {
		recover()
		t.ownLiteral.Unlock()
	}()
	go func() {
		t.ownAgain.Lock()
		defer t.ownAgain.Unlock()
	}()
	t.ownRead.RLock()
	defer t.ownRead.RUnlock()
	t.ownMapped.RLock()
	_, ok := t.m["d"]
	t.ownMapped.RUnlock()
	if !ok {
		t.ownMapped.Lock()
		t.m["d"] = 1
		t.ownMapped.Unlock()
	}
	<-context.Background().Done()
}

func (t *T) begin() { t.handedEnd.Lock() }
func (t *T) end()   { t.handedEnd.Unlock() }

func (t *T) start() {
	t.handedGo.Lock()
	go t.handedGo.Unlock()
	t.handedClosure.Lock()
	go func() { t.handedClosure.Unlock() }()
	t.handedTimer.Lock()
	time.AfterFunc(1, t.handedTimer.Unlock)
	t.handedOther.Lock()
	t.next.handedOther.Unlock()
	t.handedRead.RLock()
	context.AfterFunc(context.Background(), t.handedRead.RUnlock)
	t.handedOf[0].Lock()
	t.handedOf[1].Unlock()
	t.handedMode.RLock()
	t.handedMode.Unlock()
}

func (t *T) value() func() { t.handedValue.Lock(); return t.handedValue.Unlock }

func (t *T) before() {
	t.handedBefore.Unlock()
	t.m["e"]++
	t.handedBefore.Lock()
}

func (t *T) maybe(x bool) {
	if x {
		t.handedMaybe.Lock()
	}
	t.handedMaybe.Unlock()
	t.handedTwice.Lock()
	t.handedTwice.Unlock()
	t.handedTwice.Unlock()
	t.handedLeft.Lock()
	defer t.handedLeft.Unlock()
	t.handedLeft.Unlock()
}

func (t *T) walk() {
	t.handedLoop.Lock()
	for t.next != nil {
		t = t.next
		t.handedLoop.Unlock()
	}
	t.handedKept.Lock()
	for range 2 {
		t.handedKept.Unlock()
	}
}
`

// Locks to which a pointer or an interface leads are handed over if one that is may be released so.
const aliased = `package p

import "sync"

type T struct {
	handedField sync.Mutex
	ownField    sync.Mutex
	sync.Mutex
	ownCond sync.Mutex
	cond    *sync.Cond
	n       int
}

func (t *T) lock() {
	t.handedField.Lock()
	use(&t.handedField)
	t.ownField.Lock()
	t.n++
	t.ownField.Unlock()
	handedLocal := new(sync.Mutex)
	handedLocal.Lock()
	handedLocal.Unlock()
	t.cond = sync.NewCond(&t.ownCond)
	t.ownCond.Lock()
	t.cond.Wait()
	t.ownCond.Unlock()
}

func use(handedParameter *sync.Mutex) { handedParameter.Unlock() }
`

// An operand that may be another lock at the release is not known to be what was acquired.
const unsteady = `package p

import "sync"

type S struct {
	ownMu, handedCurrent, handedNamed, handedFound, handedCaptured, handedIndex sync.Mutex
}

type R struct {
	current, fixed *S
	value          S
	all            []*S
	byName         map[string]*S
	next           int
}

func newR() *R { return &R{fixed: &S{}, all: []*S{{}, {}}} }

func (r *R) rotate() { r.current, r.byName["a"], r.next = r.find(), &S{}, r.next+1 }

func (r *R) find() *S { return r.all[0] }

func (r *R) lock(i int) {
	r.current.handedCurrent.Lock()
	r.rotate()
	r.current.handedCurrent.Unlock()
	r.byName["a"].handedNamed.Lock()
	r.rotate()
	r.byName["a"].handedNamed.Unlock()
	r.find().handedFound.Lock()
	r.find().handedFound.Unlock()
	r.all[r.next].handedIndex.Lock()
	r.all[r.next].handedIndex.Unlock()
	r.fixed.ownMu.Lock()
	r.value.ownMu.Lock()
	r.rotate()
	r.value.ownMu.Unlock()
	r.fixed.ownMu.Unlock()
	r.all[i].ownMu.Lock()
	r.all[i].ownMu.Unlock()
	for _, s := range r.all {
		s.ownMu.Lock()
		s.ownMu.Unlock()
	}
}

func captured(a, b *S) {
	s := a
	go func() {
		s.handedCaptured.Lock()
		s.handedCaptured.Unlock()
	}()
	s = b
}
`

// The lock of a Cond is released by others where a function waits, or unlocks the L, that has not acquired it.
const condReleased = `package p

import "sync"

type C struct {
	handedL, handedPointer, handedLiteral sync.Mutex
	cond, other                           *sync.Cond
}

func newC() *C {
	c := &C{}
	c.cond = sync.NewCond(&c.handedL)
	c.other = &sync.Cond{L: &c.handedLiteral}
	return c
}

func (c *C) set() {
	c.handedL.Lock()
	c.handedL.Unlock()
	c.handedLiteral.Lock()
	c.handedLiteral.Unlock()
	handedLocal := new(sync.Mutex)
	c.cond = sync.NewCond(handedLocal)
	handedLocal.Lock()
	handedLocal.Unlock()
}

func (c *C) wait() { c.cond.Wait() }
`

// Package reflect may call any method.
const reflected = `package p

import (
	"reflect"
	"sync"
)

type G struct{ sync.Mutex }

func (handedG *G) enter() {
	handedG.Lock()
	handedG.Unlock()
}

func leave(handedLocker sync.Locker) {
	handedLocker.Lock()
	reflect.ValueOf(handedLocker).MethodByName("Unlock").Call(nil)
	var handedOther G
	handedOther.Lock()
	handedOther.Unlock()
}
`

func TestHandedOver(t *testing.T) {
	change := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(aliased) }
	for _, src := range []string{
		ownAndHanded, aliased, unsteady, condReleased, strings.Replace(condReleased, "c.cond.Wait()", "c.cond.L.Unlock()", 1),
		strings.Replace(condReleased, "c.cond.Wait()", "l := c.cond.L; l.Unlock()", 1), reflected,
		change("use(handedParameter *sync.Mutex)", "use[handedL interface{ Unlock() }](handedParameter handedL)"),
		change("use(handedParameter *sync.Mutex) { handedParameter.Unlock() }",
			"use(handedParameter sync.Locker) { sync.Locker.Unlock(handedParameter) }"),
		change("{ handedParameter.Unlock", "{ ownParameter.Lock(); ownParameter.Unlock",
			"handedField", "ownOther", "handed", "own"),
	} {
		p := typed(t, src)
		seen := map[string]bool{}
		for _, u := range LockUses([]*Package{p})[p] {
			name := types.ExprString(u.Selector)
			i := max(strings.Index(name, "own"), strings.Index(name, "handed"))
			if i < 0 {
				continue
			}
			name, _, _ = strings.Cut(name[i:], ".")
			seen[name] = true
			if handed := strings.HasPrefix(name, "handed"); handed != (u.ID&1 != 0) {
				t.Errorf("%s in line %d: handed over: %t, want %t", name, u.Place.Line, !handed, handed)
			}
		}
		if len(seen) < 3 || src == ownAndHanded && len(seen) < 25 {
			t.Errorf("%d locks are seen", len(seen))
		}
	}
}

// fset and library are shared by all tests, so that each package of the standard library
// is typed once.
var (
	fset    = token.NewFileSet()
	library = importer.ForCompiler(fset, "source", nil)
)

// typed returns the package of one file.
func typed(t *testing.T, src string) *Package {
	t.Helper()
	file, err := parser.ParseFile(fset, "/m/a.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	p := &Package{Path: "m", Root: "/m", Fset: fset, Files: []*ast.File{file}, Info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	conf := types.Config{Importer: library}
	if p.Types, err = conf.Check("m", fset, p.Files, p.Info); err != nil {
		t.Fatal(err)
	}
	return p
}

// A function that takes too many steps is named, and the locks that it releases count as handed over.
func TestUnfinished(t *testing.T) {
	defer func(n int) { workLimit = n }(workLimit)
	p := typed(t, locksOfOne(1)+"\nfunc (t *T) small() { t.small0.Lock(); defer t.small0.Unlock() }\n")
	for _, c := range []struct {
		limit  int
		handed uint64
		want   []string
	}{
		{workLimit, 0, nil},
		{8, 1, []string{"m: the function at a.go:9 is not searched to its end for who releases its locks: it is too large"}},
	} {
		workLimit = c.limit
		if got := Unfinished([]*Package{p}); !slices.Equal(got, c.want) {
			t.Errorf("limit %d: unfinished: %q, want %q", c.limit, got, c.want)
		}
		for _, u := range LockUses([]*Package{p})[p] {
			want := c.handed
			if u.Function == "(*T).small" {
				want = 0
			}
			if u.ID&1 != want {
				t.Errorf("limit %d: handed over: %d, want %d in %s", c.limit, u.ID&1, want, u.Function)
			}
		}
	}
}

// Twice as many locks in one function take at most six times as long, as the cost is square, and no longer
// beyond the limit.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	cost := func(n int) time.Duration {
		p := typed(t, locksOfOne(n))
		runtime.GC()
		begin := time.Now()
		LockUses([]*Package{p})
		return time.Since(begin)
	}
	const maxSquareGrowth, tooLittle = 6, 100 * time.Millisecond
	for _, n := range []int{500 / slower, 1000 / slower, 2000 / slower} {
		var small, large time.Duration
		for range 3 { // other work on the machine adds to a figure, and takes nothing off
			small, large = cost(n), cost(2*n)
			t.Log("locks", n, small, "and twice", large)
			if large <= tooLittle || large <= maxSquareGrowth*small {
				break
			}
		}
		if large > tooLittle && large > maxSquareGrowth*small {
			t.Errorf("from %d locks to %d: %v to %v", n, 2*n, small, large)
		}
	}
}

// locksOfOne returns a package with a function that acquires and releases so many locks, on two ways each.
func locksOfOne(n int) string {
	var fields, body strings.Builder
	for i := range n {
		fmt.Fprintf(&fields, "l%d, ", i)
		fmt.Fprintf(&body, "\tt.l%d.Lock()\n\tif x {\n\t\tt.l%d.Unlock()\n\t\treturn\n\t}\n\tt.l%d.Unlock()\n", i, i, i)
	}
	return fmt.Sprintf("package p\n\nimport \"sync\"\n\ntype T struct {\n\t%ssmall0 sync.Mutex\n}\n\n"+
		"func (t *T) many(x bool) {\n%s}\n", &fields, &body)
}
