package inner

import "sync"

type hooks map[int][]func()

func (h hooks) add(level int, f func()) { h[level] = append(h[level], f) }

func (h hooks) fire(level int) {
	for _, f := range h[level] {
		f()
	}
}

type logger struct {
	mu    sync.Mutex
	hooks hooks
	names map[string]bool
}

func (l *logger) Add(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hooks.add(1, f)
	note(l.names, "add")
}

func (l *logger) Replace(h hooks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hooks = h
	note(l.names, "replace")
}

func (l *logger) Fire() {
	l.hooks.fire(1) // want `logger.hooks is read without l.mu`
}

func (l *logger) Note() {
	note(l.names, "note") // want `logger.names is written without l.mu`
}

func (l *logger) Locked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hooks.fire(1) // ok
}

// note hands the map on.
func note(names map[string]bool, name string) { set(names, name) }

func set(names map[string]bool, name string) { names[name] = true }

// size is called under the lock and without: it has none of its own.
type table struct{ n int }

func (t *table) grow(n int) { t.n = n }
func (t *table) size() int  { return t.n }
func (t *table) drop()      { t.n = 0 }

type owner struct {
	mu    sync.Mutex
	table *table
}

func newOwner() *owner { return &owner{table: &table{}} }

func (o *owner) Grow(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.table.grow(n)
}

func (o *owner) Drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.table.drop()
}

func (o *owner) Size() int {
	return o.table.size() // want `owner.table is read without o.mu`
}
