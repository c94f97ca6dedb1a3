package main

import (
	"iter"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"interlock.invalid/rt"
)

// Programs in which others come into section 1, or seem to, and leave it one step:
// they change nothing, or they work for the section itself.

// beside runs f until the owner has run its section 40 times.
func beside(owner, f func()) {
	var done atomic.Bool
	both(
		func() {
			for range 40 {
				owner()
			}
			done.Store(true)
		},
		func() {
			for !done.Load() {
				f()
			}
		})
}

// look is a section that reads the number twice.
func (a *account) look() {
	a.mu.Lock()
	_ = *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	a.mu.Lock()
	_ = *rt.End(rt.R(&a.n, 2), 2, 1, rt.AllowReads)
	rt.Ended(1)
	a.mu.Unlock()
}

// put stores in one critical section what f makes of the number, in two steps.
func (a *account) put(f, g func(n int) int) {
	a.mu.Lock()
	*rt.W(&a.n, 3) = f(a.n)
	*rt.W(&a.n, 4) = g(a.n)
	a.mu.Unlock()
}

// label has a text.
type label struct {
	mu   sync.Mutex
	text string
}

// look is a section that reads the text twice.
func (l *label) look() {
	l.mu.Lock()
	_ = *rt.Enter(rt.R(&l.text, 1), 1, 1, rt.Loose0)
	rt.Entered(1)
	l.mu.Unlock()
	rt.Gap(1)
	l.mu.Lock()
	_ = *rt.End(rt.R(&l.text, 2), 2, 1, rt.AllowReads)
	rt.Ended(1)
	l.mu.Unlock()
}

// turns is a lock that goroutines take in turn: section 1 reads serving until it
// is the owner's turn, and ends where the owner raises it.
type turns struct {
	next, serving atomic.Int64
}

// work takes the lock; the test is asked again and again before it holds.
func (l *turns) work() {
	turn := l.next.Add(1) - 1
	for rt.Tested(rt.Enter(rt.AR(&l.serving, 1), 1, 1, 0), 1, rt.TestEqual, turn).Load() != turn {
		rt.Entered(1)
		runtime.Gosched()
	}
	rt.Entered(1)
	rt.Gap(1)
	rt.End(rt.AW(&l.serving, 2), 2, 1, rt.AllowReads|rt.Writes|rt.Updates).Add(1)
	rt.Ended(1)
}

// flag is a lock of one word.
type flag struct {
	state atomic.Int32
	mu    sync.Mutex
}

// look is a section that loads the word twice.
func (f *flag) look() {
	_ = rt.Enter(rt.AR(&f.state, 1), 1, 1, 0).Load()
	rt.Entered(1)
	rt.Gap(1)
	_ = rt.End(rt.AR(&f.state, 2), 2, 1, rt.AllowReads).Load()
	rt.Ended(1)
}

// look is a section that asks for the key twice.
func (t *table) look(k string) {
	t.mu.Lock()
	_, _ = rt.EnterKey(rt.MRK(t.m, k, 1), &t.m, k, 1, 1, 0)[k]
	rt.Entered(1)
	t.mu.Unlock()
	rt.Gap(1)
	t.mu.Lock()
	_, _ = rt.EndKey(rt.MRK(t.m, k, 2), k, 2, 1, rt.AllowReads)[k]
	rt.Ended(1)
	t.mu.Unlock()
}

// write is a section that writes the key twice, and no other value than there is.
func (t *table) write(k string) {
	t.mu.Lock()
	rt.EnterKey(rt.MWK(t.m, k, 1), &t.m, k, 1, 1, rt.Writes)[k] = 7
	rt.Entered(1)
	t.mu.Unlock()
	rt.Gap(1)
	t.mu.Lock()
	rt.EndKey(rt.MWK(t.m, k, 2), k, 2, 1, rt.AllowReads|rt.Writes)[k] = 7
	rt.Stored(t.m, k, 2)
	rt.Ended(1)
	t.mu.Unlock()
}

// sum has helpers do the work in the section, in the way of each that hands over.
func (a *account) sum(work func(add func())) {
	a.s.Lock()
	defer a.s.Unlock()
	_ = *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
	rt.Entered(1)
	rt.Gap(1)
	rt.HandOver(1)
	work(func() { *rt.W(&a.n, 3)++ })
	_ = *rt.End(rt.R(&a.n, 2), 2, 1, rt.AllowReads)
	rt.Ended(1)
}

// inOrder is a section that stores a and then b, between which others read.
func (a *account) inOrder(first, second int) {
	a.mu.Lock()
	*rt.Enter(rt.W(&a.n, 1), 1, 1, rt.Writes) = first
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	a.mu.Lock()
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.Writes) = second
	rt.Ended(1)
	a.mu.Unlock()
}

func (a *account) get() {
	a.mu.Lock()
	_ = *rt.R(&a.n, 3)
	a.mu.Unlock()
}

func init() {
	programs["wholeTurns"] = func() {
		l := new(turns)
		keep = l
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 30 {
					l.work()
				}
			})
		}
		wg.Wait()
	}
	same := func(n int) int { return n }
	whole := func(name string, f func(a *account) (owner, other func())) {
		programs[name] = func() {
			a := new(account)
			keep = a
			beside(f(a))
		}
	}
	whole("wholeSameValue", func(a *account) (owner, other func()) {
		return a.look, func() { a.put(same, same) }
	})
	whole("wholeChangedBack", func(a *account) (owner, other func()) {
		return a.look, func() { a.put(func(n int) int { return n + 5 }, func(n int) int { return n - 5 }) }
	})
	whole("splitAndChangedBack", func(a *account) (owner, other func()) { // not always before the end
		add := func(d int) { a.put(same, func(n int) int { return n + d }) }
		return a.look, func() { add(5); add(-5) }
	})
	whole("wholeReads", func(a *account) (owner, other func()) {
		return func() { a.inOrder(0, 0) }, a.get
	})
	whole("splitReads", func(a *account) (owner, other func()) {
		return func() { a.inOrder(1, 0) }, a.get
	})

	// Another text of the same letters is the same value.
	programs["splitText"] = func() {
		l := &label{text: strings.Repeat("a", 3)}
		keep = l
		beside(l.look, func() {
			l.mu.Lock()
			*rt.W(&l.text, 3) = strings.Repeat("a", 3)
			l.mu.Unlock()
		})
	}

	// The variable of the entry is reachable from the section alone, while the collector
	// runs and others make objects of its size.
	programs["wholeDropped"] = func() {
		debug.SetGCPercent(1)
		q := new(account)
		keep = q
		beside(
			func() {
				p := new([4]int)
				dropped = p
				dropped = nil
				_ = *rt.Enter(rt.R(&p[0], 1), 1, 1, 0)
				rt.Entered(1)
				rt.Gap(1)
				_ = *rt.End(rt.R(&q.n, 2), 2, 1, rt.AllowReads|rt.OtherVariable)
				rt.Ended(1)
			},
			func() {
				for i := range 1000 {
					p := new([4]int)
					dropped = p
					*rt.W(&p[0], 3) = i + 1
				}
				runtime.GC()
			})
	}

	// The word is taken all along, by this program's start.
	words := func(name string, other func(*atomic.Int32)) {
		programs[name] = func() {
			f := new(flag)
			f.state.Store(1)
			keep = f
			beside(f.look, func() { other(rt.AW(&f.state, 3)) })
		}
	}
	words("wholeFailedCompareAndSwap", func(n *atomic.Int32) { n.CompareAndSwap(0, 1) })
	words("wholeSwapSame", func(n *atomic.Int32) { n.Swap(1) })
	words("wholeAddNothing", func(n *atomic.Int32) { n.Add(0) })
	words("wholeOrAnd", func(n *atomic.Int32) { n.Or(1); rt.AW(n, 4).And(1) })
	words("wholeStoreSame", func(n *atomic.Int32) { n.Store(1) })

	maps := func(name string, owner func(*table), other func(m map[string]int)) {
		programs[name] = func() {
			t := &table{m: map[string]int{"b": 7}}
			keep = t
			beside(func() { owner(t) }, func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				other(t.m)
			})
		}
	}
	maps("splitWriteKey", func(t *table) { t.write("b") }, func(m map[string]int) { rt.MWK(m, "b", 3)["b"] = 7 })
	maps("wholeDeleteAbsent", func(t *table) { t.look("a") }, func(m map[string]int) { delete(rt.MWK(m, "a", 3), "a") })
	maps("wholeStoreThere", func(t *table) { t.look("b") }, func(m map[string]int) { rt.MWK(m, "b", 3)["b"] = 7 })
	maps("wholeClearEmpty", func(t *table) { t.look("a") }, func(m map[string]int) {
		delete(m, "b")
		clear(rt.MW(m, 3))
	})

	helped := func(name string, work func(add func())) {
		programs[name] = func() { twice(func(a *account, _ int) { a.sum(work) }) }
	}
	helped("wholeForkJoin", func(add func()) {
		var wg sync.WaitGroup
		wg.Go(add)
		wg.Wait()
	})
	helped("wholeForksNested", func(add func()) {
		var wg sync.WaitGroup
		wg.Go(func() {
			var inner sync.WaitGroup
			inner.Go(add)
			inner.Wait()
		})
		wg.Wait()
	})
	helped("wholePull", func(add func()) {
		next, stop := iter.Pull(func(yield func(int) bool) {
			add()
			_ = yield(1) && yield(2)
		})
		defer stop()
		next()
		next()
	})
	jobs := make(chan func())
	helped("wholeWorker", func(add func()) {
		done := make(chan bool)
		job := func() { add(); close(done) }
		select {
		case jobs <- job:
		default:
			go func() {
				for job := range jobs {
					job()
				}
			}()
			jobs <- job
		}
		<-done
	})
}
