package callee

import "sync/atomic"

// flag wraps a flag; its value is passed.
type flag struct{ v atomic.Bool }

func (f *flag) Get() bool  { return f.v.Load() }
func (f *flag) Set(b bool) { f.v.Store(b) }

type Bell interface{ Ring() }

type Door struct {
	open  flag
	noted flag
	first atomic.Bool
	bell  Bell
}

// Open may ring twice: two callers may both see the door closed.
func (d *Door) Open() {
	if d.open.Get() {
		return
	}
	d.bell.Ring()
	d.open.Set(true) // want `\(\*Door\).Open tests flag.v at line \d+ .*and depending on the result it is set`
}

// Note sets it again, and does nothing else.
func (d *Door) Note() {
	if !d.noted.Get() {
		d.noted.Set(true) // ok: it is the same twice
	}
}

// Shut takes nothing away from others that was not there.
func (d *Door) Shut() {
	if d.open.Get() {
		d.bell.Ring()
		d.open.Set(false) // ok: as with a flag of its own
	}
}

// First tests and sets in one.
func (d *Door) First() {
	if d.first.CompareAndSwap(false, true) {
		d.bell.Ring()
		d.open.Set(true) // ok: one caller comes here
	}
}
