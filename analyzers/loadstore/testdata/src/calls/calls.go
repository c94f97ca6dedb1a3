// Package calls has loads and stores in functions that are called.
package calls

import (
	"sync"
	"sync/atomic"
)

type Level struct {
	mu     sync.Mutex
	n      int
	byName map[string]int
}

func (l *Level) get() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *Level) set(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n = n
}

func (l *Level) add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n += n
}

func (l *Level) of(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byName[name]
}

func (l *Level) put(name string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byName[name] = n
}

func (l *Level) Raise(n int) {
	l.set(l.get() + n) // want `update of Level.n is not one step: \(\*Level\).Raise loads it at line \d+ and stores at line \d+ \(by \(\*Level\).set, calls.go:\d+\) what it has computed from that`
}

func (l *Level) RaiseRight(n int) { l.add(n) }

func (l *Level) RaiseNamed(name string) {
	n := l.of(name)
	l.put(name, n+1) // want `update of Level.byName is not one step`
}

func (l *Level) Copy(from, to string) {
	l.put(to, l.of(from)+1) // ok: another key
}

func (l *Level) Half() {
	n := l.get()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n = n / 2 // want `update of Level.n is not one step`
}

func (l *Level) Keep() {
	l.set(l.get()) // ok: nothing is computed
}

func (l *Level) Checked() {
	n := l.get()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n == n {
		l.n = n / 2 // ok: looked at again
	}
}

func (l *Level) From(other *Level) {
	l.set(other.get() + 1) // ok: of another object
}

type Dial struct{ n atomic.Int64 }

func (d *Dial) get() int64  { return d.n.Load() }
func (d *Dial) set(n int64) { d.n.Store(n) }

func (d *Dial) Turn() {
	d.set(d.get() + 1) // want `update of Dial.n is not one step: .* each is atomic, the two together are not`
}

func (d *Dial) TurnRight() { d.n.Add(1) }
