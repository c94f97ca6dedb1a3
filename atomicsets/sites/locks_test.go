package sites

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

const lockUses = `package p

import "sync"

type inner struct{ sync.Mutex }

type outer struct {
	*inner
	mu  sync.RWMutex
	ptr *sync.Mutex
	l   sync.Locker
}

type other struct{}

func (other) Lock() {}

func f(o *outer, x other) {
	o.mu.RLock() // RWMutex, f
	o.ptr.Lock() // Mutex by pointer, f handed over
	o.Lock() // Mutex through inner.Mutex, f handed over
	o.l.Lock() // Locker, f
	defer o.mu.RUnlock() // RWMutex, f
	go func() { o.inner.Unlock() }() // Mutex through Mutex, f.func1 handed over
	unlock := o.ptr.TryLock // Mutex by pointer, f handed over
	unlock()
	x.Lock()
	o.mu.RLocker().Lock() // Locker, f handed over
	(*sync.Mutex).Lock(o.ptr)
	sync.NewCond(o.l).Wait()
	defer func() { o.l.Unlock() }() // Locker, f.func2
}

//go:nosplit
func g(o *outer) { o.mu.Lock() }
`

func TestLockUses(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "/m/a.go", lockUses, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	p := &Package{Path: "m", Root: "/m", Fset: fset, Files: []*ast.File{file}, Info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if p.Types, err = conf.Check("m", fset, p.Files, p.Info); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	lines := strings.Split(lockUses, "\n")
	ids := map[uint64]bool{}
	for _, u := range LockUses(p) {
		text := string(u.Kind)
		if u.Through != "" {
			text += " through " + u.Through
		}
		if u.Pointer {
			text += " by pointer"
		}
		got = append(got, fmt.Sprintf("%d: %s, %s", u.Place.Line, text, u.Function))
		if ids[u.ID] || u.Place.Filename != "a.go" {
			t.Errorf("id %d again, or the file is %s", u.ID, u.Place.Filename)
		}
		ids[u.ID] = true
		if handed := strings.Contains(lines[u.Place.Line-1], "handed"); handed != (u.ID&1 != 0) {
			t.Errorf("%d: handed over: %t, want %t", u.Place.Line, !handed, handed)
		}
	}
	for i, line := range lines {
		if _, comment, ok := strings.Cut(strings.TrimSuffix(line, " handed over"), " // "); ok {
			want = append(want, fmt.Sprintf("%d: %s", i+1, comment))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
