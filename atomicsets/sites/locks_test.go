package sites

import (
	"fmt"
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
	o.l.Lock() // Locker, f handed over
	defer o.mu.RUnlock() // RWMutex, f
	go func() { o.inner.Unlock() }() // Mutex through Mutex, f.func1 handed over
	unlock := o.ptr.TryLock // Mutex by pointer, f handed over
	unlock()
	x.Lock()
	o.mu.RLocker().Lock() // Locker, f handed over
	(*sync.Mutex).Lock(o.ptr)
	sync.NewCond(o.l).Wait()
	defer func() { o.l.Unlock() }() // Locker, f.func2 handed over
}

//go:nosplit
func g(o *outer) { o.mu.Lock() }
`

func TestLockUses(t *testing.T) {
	p := typed(t, lockUses)
	var got, want []string
	lines := strings.Split(lockUses, "\n")
	ids := map[uint64]bool{}
	for _, u := range LockUses([]*Package{p})[p] {
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
