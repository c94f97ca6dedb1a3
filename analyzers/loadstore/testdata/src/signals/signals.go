// Package signals: without a sign that state is shared, nothing is reported.
package signals

import "sync"

// A Buffer leaves locking to its users.
type Buffer struct{ n int }

func (b *Buffer) Grow() { b.n++ } // ok

// Conn has a lock for one field, which says nothing of the others.
type Conn struct {
	errMu sync.Mutex
	err   error

	reads int
	pos   int
	mask  int
	buf   []byte
}

func (c *Conn) Fail(err error) {
	c.errMu.Lock()
	c.err = err
	c.errMu.Unlock()
}

func (c *Conn) Read() {
	c.reads++                   // ok: one reader by contract
	c.pos += 4                  // ok
	c.mask = c.mask ^ 1         // ok
	c.buf = append(c.buf, 0, 0) // ok
}

var calls int

// The package starts goroutines, and this counts for all of them.
func Call() { calls++ } // want `update of calls is not one step: .*it is a package variable`

var handlers []func()

// A registry is filled in before anything runs.
func Register(f func()) { handlers = append(handlers, f) } // ok

type Loop struct {
	ticks int
	own   int
	quit  chan bool
}

func (l *Loop) Start() { go l.run() }

func (l *Loop) run() {
	for {
		select {
		case <-l.quit:
			return
		default:
			l.own++ // ok: only this goroutine has it
			l.tick()
		}
	}
}

func (l *Loop) tick() { l.ticks++ } // ok here: an update is lost to another writer only

func (l *Loop) Ticks() int { return l.ticks }

type Totals struct{ n int }

func Sum(parts [][]int) int {
	t := &Totals{}
	var wg sync.WaitGroup
	for _, p := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range p {
				t.n++ // want `update of Totals.n is not one step: .*it runs in goroutines started in a loop`
			}
		}()
	}
	wg.Wait()
	return t.n
}

func Each(parts [][]int) {
	for range parts {
		t := &Totals{}
		go func() { t.n++ }() // ok: one for each goroutine
	}
}

type stats struct{ seeks int }

// Tx has no lock; its checker runs beside its user.
type Tx struct{ stats stats }

type Cursor struct{ tx *Tx }

// Check starts a goroutine that seeks, as the user of the channel may.
func (t *Tx) Check() <-chan bool {
	done := make(chan bool)
	go t.check(done)
	return done
}

func (t *Tx) check(done chan bool) {
	c := &Cursor{t}
	c.Seek()
	close(done)
}

func (c *Cursor) Seek() {
	c.tx.stats.seeks++ // want `the goroutine that \(\*Tx\).Check starts runs this, and so may any caller`
}

type Worker struct{ n int }

// Start is called once, before others know of the worker.
func (w *Worker) Start() { go w.loop() }

func (w *Worker) loop() { w.Step() }

func (w *Worker) Step() {
	w.n++ // ok: who says that somebody else calls it?
}

type registry struct {
	mu   sync.Mutex
	list []*Log
}

// Log is written under its lock by those who find it.
type Log struct {
	mu   sync.Mutex
	text []byte
}

func (l *Log) Add(b byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b)
}

// Open goes on with what it has made, although others may find it.
func (r *registry) Open() *Log {
	l := &Log{text: []byte("log")}
	r.mu.Lock()
	r.list = append(r.list, l)
	r.mu.Unlock()
	l.text = append(l.text, '\n') // ok: its maker
	return l
}
