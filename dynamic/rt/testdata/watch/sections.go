package main

import (
	"os"
	"runtime"
	"sync"

	"interlock.invalid/rt"
)

// Programs for sections: section 1 reads account.n at site 1, releases the
// lock, and writes or reads it at site 2. Those named "split" are split by
// another goroutine, those named "whole" are not.

type account struct {
	mu sync.Mutex
	n  int
	s  sync.Mutex // makes two critical sections one
}

func init() {
	programs["splitLostUpdate"] = func() { twice(func(a *account, i int) { a.add(i + 1) }) }
	programs["splitIdempotent"] = func() { twice(func(a *account, _ int) { a.set(7) }) }
	programs["splitTestAndUse"] = func() {
		a, done := new(account), make(chan bool)
		keep = a
		go func() {
			for range 20 {
				a.check()
			}
			close(done)
		}()
		for {
			select {
			case <-done:
				return
			default:
				a.mu.Lock()
				*rt.W(&a.n, 3)++
				a.mu.Unlock()
			}
		}
	}
	programs["splitHarmless"] = func() { consume(0, 1) }
	programs["splitShared"] = func() { consume(1<<40, -1) }
	programs["counts"] = func() { // alone, and right
		a := new(account)
		keep = a
		for range 100 {
			a.raise()
		}
		if *rt.R(&a.n, 3) != 100 {
			os.Exit(3)
		}
	}
	programs["splitAgain"] = func() { twice(func(a *account, i int) { a.addAgain(i + 1) }) }
	programs["splitInOne"] = func() { twice(func(a *account, i int) { a.addInOne(i + 1) }) }
	programs["wholeInOne"] = func() { twice(func(a *account, i int) { a.addWhole(i + 1) }) }
	programs["splitUpdate"] = func() { twice(func(a *account, _ int) { a.raise() }) }
	programs["wholeOneRegion"] = func() {
		twice(func(a *account, i int) {
			a.s.Lock()
			defer a.s.Unlock()
			a.add(i + 1)
		})
	}
	programs["wholeLeft"] = func() { twice(func(a *account, i int) { a.give(i + 1) }) }
	programs["wholePanics"] = func() { twice(func(a *account, i int) { a.panics(i + 1) }) }
	programs["splitCircular"] = func() { polled((*account).poll) }
	programs["splitCircularCallee"] = func() { polled((*account).pollByCall) }
	programs["splitPanics"] = lines
	programs["wholeExits"] = func() { twice((*account).exits) }
	programs["wholeLeftBehind"] = func() { twice((*account).leftBehind) }
	programs["splitTwoFields"] = func() { pairs(true) }
	programs["wholeTwoFields"] = func() { pairs(false) }
	programs["wholeOtherObjects"] = func() {
		twice(func(_ *account, i int) {
			own := new(account)
			keep = own
			own.add(i + 1)
		})
	}
}

// twice runs f in two goroutines, 200 times each.
func twice(f func(a *account, i int)) {
	a := new(account)
	keep = a
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				f(a, i)
			}
		}()
	}
	wg.Wait()
}

// pairs has a goroutine that sums while another one sets the same pair, or one of
// its own.
func pairs(same bool) {
	p, q := new(pair), new(pair)
	keep = []*pair{p, q}
	if same {
		q = p
	}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		for range 200 {
			p.sum()
		}
	}()
	go func() {
		defer wg.Done()
		for n := range 20000 {
			q.set(n)
		}
	}()
	wg.Wait()
}

// set is load-and-store.
func (a *account) set(v int) {
	a.mu.Lock()
	_ = *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	a.mu.Lock()
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.AllowReads|rt.Writes) = v
	rt.Ended(1)
	a.mu.Unlock()
}

func (a *account) add(d int) {
	rt.Turn(1)
	a.mu.Lock()
	v := *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	a.mu.Lock()
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.AllowReads|rt.Writes) = v + d
	rt.Ended(1)
	a.mu.Unlock()
}

// take lowers what it has found above zero.
func (a *account) take() {
	a.mu.Lock()
	some := *rt.Tested(rt.Enter(rt.R(&a.n, 1), 1, 1, 0), 1, rt.TestLessEqual|rt.TestOnly, 0) > 0
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	if !some {
		rt.Leave(1)
		return
	}
	a.mu.Lock()
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.AllowReads|rt.Writes|rt.Updates)--
	rt.Ended(1)
	a.mu.Unlock()
}

// consume has one goroutine take, while another one changes the number by step, from first on.
func consume(first, step int) {
	a, done := &account{n: first}, make(chan bool)
	keep = a
	go func() {
		for range 20 {
			a.take()
			runtime.Gosched()
		}
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		default:
			a.mu.Lock()
			*rt.W(&a.n, 3) += step
			a.mu.Unlock()
		}
	}
}

// number returns it; sections of callers begin here.
func (a *account) number() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return *rt.TestedAt(rt.Bind(rt.R(&a.n, 1), 1, 0), 1, rt.TestByCaller, 0)
}

// parity reads the number too, but returns something else.
func (a *account) parity() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return *rt.Bind(rt.R(&a.n, 1), 1, 0) % 2
}

// addBelow is test-and-use: the caller tests what a callee returns.
func (a *account) addBelow(limit int, read func() int) {
	rt.Arm(1, 1)
	n := rt.Tested(read(), 1, rt.TestLess, limit)
	rt.Entered(1)
	rt.Gap(1)
	if n >= limit {
		rt.Leave(1)
		return
	}
	a.mu.Lock()
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.AllowReads|rt.Writes|rt.Updates)++
	rt.Ended(1)
	a.mu.Unlock()
}

// addInOne is load-and-store by two callees, in one statement.
func (a *account) addInOne(d int) {
	rt.Arm(1, 1)
	rt.ArmEnd(1, 2, rt.AllowReads)
	a.store(rt.Between(a.number(), 1) + d)
	rt.Ended(1)
	rt.Entered(1)
	rt.Leave(1)
}

// addWhole is that under a lock.
func (a *account) addWhole(d int) {
	a.s.Lock()
	defer a.s.Unlock()
	a.addInOne(d)
}

// store sets the number; sections of callers end here.
func (a *account) store(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*rt.Bind(rt.W(&a.n, 2), 2, rt.Writes) = n
	rt.Bound(2)
}

// check is test-and-use: the test is for the number that it finds.
func (a *account) check() int {
	a.mu.Lock()
	_ = *rt.Tested(rt.Enter(rt.R(&a.n, 1), 1, 1, 0), 1, rt.TestEqual, a.n)
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	a.mu.Lock()
	defer a.mu.Unlock()
	v := *rt.End(rt.R(&a.n, 2), 2, 1, rt.AllowReads)
	rt.Ended(1)
	return v
}

// raise is test-and-use that ends in a read-modify-write, with room all along.
func (a *account) raise() {
	a.mu.Lock()
	room := *rt.Tested(rt.Enter(rt.R(&a.n, 1), 1, 1, 0), 1, rt.TestLess, 1000000) < 1000000
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	if !room {
		rt.Leave(1)
		return
	}
	a.mu.Lock()
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.AllowReads|rt.Writes|rt.Updates)++
	rt.Ended(1)
	a.mu.Unlock()
}

// addAgain is load-and-store that reads again what it adds to, so that nothing is
// lost.
func (a *account) addAgain(d int) {
	a.mu.Lock()
	_ = *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	a.mu.Lock()
	v := *rt.R(&a.n, 3)
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.AllowReads|rt.Writes) = v + d
	rt.Ended(1)
	a.mu.Unlock()
}

// give leaves the section, and writes behind it.
func (a *account) give(d int) {
	a.mu.Lock()
	_ = *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	rt.Leave(1)
	a.mu.Lock()
	*rt.W(&a.n, 2) += d
	a.mu.Unlock()
}

// panics leaves the section without a word, and another activation comes to the
// end without the entry.
func (a *account) panics(d int) {
	defer func() { _ = recover() }()
	a.half(d, true)
}

func (a *account) half(d int, first bool) {
	if first {
		a.mu.Lock()
		_ = *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
		rt.Entered(1)
		a.mu.Unlock()
		rt.Gap(1)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	*rt.W(&a.n, 2) += d
	panic("left")
}

// exits is panics by way of Goexit: whoever runs on is another goroutine.
func (a *account) exits(d int) {
	done := make(chan bool)
	go func() {
		defer close(done)
		a.mu.Lock()
		_ = *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
		rt.Entered(1)
		a.mu.Unlock()
		rt.Gap(1)
		runtime.Goexit()
	}()
	<-done
	a.endOnly(d)
}

// endOnly has an end, to which no entry of the same goroutine leads.
func (a *account) endOnly(d int) {
	a.mu.Lock()
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.AllowReads|rt.Writes) += d
	rt.Ended(1)
	a.mu.Unlock()
}

// leftBehind panics in the section and comes to its end in another activation.
func (a *account) leftBehind(d int) {
	func() {
		defer func() { _ = recover() }()
		a.mu.Lock()
		_ = *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
		rt.Entered(1)
		a.mu.Unlock()
		rt.Gap(1)
		panic("left")
	}()
	a.endOnly(d)
}

// line has a link, or none.
type line struct {
	mu   sync.Mutex
	link *int
}

func (l *line) set(link *int) {
	l.mu.Lock()
	*rt.W(&l.link, 3) = link
	l.mu.Unlock()
}

// use panics at its end where the link has gone since it was tested.
func (l *line) use() int {
	defer func() { _ = recover() }()
	l.mu.Lock()
	linked := *rt.Tested(rt.Enter(rt.R(&l.link, 1), 1, 1, 0), 1, rt.TestZero, 0) != nil
	rt.Entered(1)
	l.mu.Unlock()
	rt.Gap(1)
	if !linked {
		rt.Leave(1)
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v := **rt.End(rt.R(&l.link, 2), 2, 1, rt.AllowReads)
	rt.Ended(1)
	return v
}

// lines has a goroutine that uses a link while another one sets it and drops it.
func lines() {
	l, done := new(line), make(chan bool)
	keep = l
	go func() {
		for range 50 {
			l.use()
		}
		close(done)
	}()
	for link := new(int); ; {
		select {
		case <-done:
			return
		default:
			l.set(link)
			l.set(nil)
			l.set(link)
		}
	}
}

// poll is a circular section: the read that ends it begins the next round.
func (a *account) poll() {
	for range 200 {
		a.mu.Lock()
		_ = *rt.Enter(rt.End(rt.R(&a.n, 1), 1, 1, rt.AllowReads), 1, 1, 0)
		rt.Ended(1)
		rt.Entered(1)
		a.mu.Unlock()
		rt.Gap(1)
	}
	rt.Leave(1)
}

// pollByCall is poll with the access in a callee.
func (a *account) pollByCall() {
	for range 200 {
		rt.ArmEnd(1, 1, rt.AllowReads)
		rt.Arm(1, 1)
		_ = a.locked()
		rt.Ended(1)
		rt.Entered(1)
		rt.Gap(1)
	}
	rt.Leave(1)
}

// locked is where the section of pollByCall begins and ends.
func (a *account) locked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := *rt.Bind(rt.R(&a.n, 1), 1, 0)
	rt.Bound(1)
	return n
}

// polled runs poll while another goroutine counts.
func polled(poll func(*account)) {
	a, done := new(account), make(chan bool)
	keep = a
	go func() {
		poll(a)
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		default:
			a.mu.Lock()
			*rt.W(&a.n, 3)++
			a.mu.Unlock()
		}
	}
}

// pair is two fields that belong together.
type pair struct {
	mu   sync.Mutex
	a, b int
}

func (p *pair) set(n int) {
	p.mu.Lock()
	*rt.W(&p.a, 3) = n
	*rt.W(&p.b, 4) = n
	p.mu.Unlock()
}

// sum reads the two in one section, and in two critical ones.
func (p *pair) sum() int {
	p.mu.Lock()
	a := *rt.Enter(rt.R(&p.a, 1), 1, 1, 0)
	rt.Entered(1)
	p.mu.Unlock()
	rt.Gap(1)
	p.mu.Lock()
	b := *rt.End(rt.R(&p.b, 2), 2, 1, rt.AllowReads|rt.OtherVariable)
	rt.Ended(1)
	p.mu.Unlock()
	return a + b
}

// nested is load-and-store around further activations of itself, which nobody
// else splits.
func (a *account) nested(level int) {
	a.s.Lock()
	defer a.s.Unlock()
	a.recurse(level)
}

func (a *account) recurse(level int) {
	a.mu.Lock()
	v := *rt.Enter(rt.R(&a.n, 1), 1, 1, 0)
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	if level == 0 {
		rt.Leave(1)
		return
	}
	a.recurse(level - 1)
	a.mu.Lock()
	*rt.End(rt.W(&a.n, 2), 2, 1, rt.AllowReads|rt.Writes) = v + level
	rt.Ended(1)
	a.mu.Unlock()
}

// Programs for maps: section 1 asks for a key, and stores it later.

type table struct {
	mu   sync.Mutex
	m    map[string]int
	lazy map[string]int
}

func (t *table) putOnce(k string, v int) {
	t.mu.Lock()
	_, ok := rt.Tested(rt.EnterKey(rt.MRK(t.m, k, 1), &t.m, k, 1, 1, 0), 1, rt.TestPresent, 0)[k]
	rt.Entered(1)
	t.mu.Unlock()
	rt.Gap(1)
	if ok {
		rt.Leave(1)
		return
	}
	t.mu.Lock()
	rt.EndKey(rt.MWK(t.m, k, 2), k, 2, 1, rt.AllowReads|rt.Writes)[k] = v
	rt.Stored(t.m, k, 2)
	rt.Ended(1)
	t.mu.Unlock()
}

// putLazily is putOnce with a map that the first one makes.
func (t *table) putLazily(k string, v int) {
	t.mu.Lock()
	_, ok := rt.Tested(rt.EnterKey(rt.MRK(*rt.R(&t.lazy, 3), k, 1), &t.lazy, k, 1, 1, 0), 1, rt.TestPresent, 0)[k]
	rt.Entered(1)
	t.mu.Unlock()
	rt.Gap(1)
	if ok {
		rt.Leave(1)
		return
	}
	t.mu.Lock()
	if *rt.R(&t.lazy, 4) == nil {
		*rt.W(&t.lazy, 5) = map[string]int{}
	}
	rt.EndKey(rt.MWK(*rt.R(&t.lazy, 6), k, 2), k, 2, 1, rt.AllowReads|rt.Writes)[k] = v
	rt.Stored(t.lazy, k, 2)
	rt.Ended(1)
	t.mu.Unlock()
}

// putBelow stores while there is room.
func (t *table) putBelow(k string, limit int) {
	t.mu.Lock()
	room := len(rt.Tested(rt.EnterMap(rt.MR(t.m, 1), &t.m, 1, 1, 0), 1, rt.TestLess, limit)) < limit
	rt.Entered(1)
	t.mu.Unlock()
	rt.Gap(1)
	if !room {
		rt.Leave(1)
		return
	}
	t.mu.Lock()
	rt.EndMap(rt.MW(t.m, 2), 2, 1, rt.AllowReads|rt.Writes)[k] = limit
	rt.Stored(t.m, k, 2)
	rt.Ended(1)
	t.mu.Unlock()
}

// remember is putOnce with both halves in callees.
func (t *table) remember(k string, v int) {
	rt.Arm(1, 1)
	ok := t.has(k)
	rt.Entered(1)
	rt.Gap(1)
	if ok {
		rt.Leave(1)
		return
	}
	rt.ArmEnd(1, 2, rt.AllowReads)
	t.put(k, v)
	rt.Ended(1)
}

func (t *table) has(k string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := rt.TestedAt(rt.BindKey(rt.MRK(t.m, k, 1), &t.m, k, 1, 0), 1, rt.TestPresent, 0)[k]
	rt.Bound(1)
	return ok
}

func (t *table) put(k string, v int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rt.BindKey(rt.MWK(t.m, k, 2), &t.m, k, 2, rt.Writes)[k] = v
	rt.Stored(t.m, k, 2)
	rt.Bound(2)
}

// belowLimit has two goroutines raise each of several numbers, by what read returns.
func belowLimit(read func(*account) func() int) {
	for range 40 {
		a, wg := new(account), sync.WaitGroup{}
		keep = a
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 6 {
					a.addBelow(5, read(a))
				}
			}()
		}
		wg.Wait()
	}
}

func init() {
	keys := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	tables := func(f func(t *table, i, n int)) func() {
		return func() {
			for range 40 {
				t, wg := &table{m: map[string]int{}}, sync.WaitGroup{}
				for i := range 2 {
					wg.Add(1)
					go func() {
						defer wg.Done()
						for n := range keys {
							f(t, i, n)
						}
					}()
				}
				wg.Wait()
			}
		}
	}
	programs["splitKey"] = tables(func(t *table, i, n int) { t.putOnce(keys[n], i+1) })
	programs["splitLazily"] = tables(func(t *table, i, n int) { t.putLazily(keys[n], i+1) })
	programs["wholeLazily"] = tables(func(t *table, i, n int) { t.putLazily(keys[n]+keys[i], i+1) })
	programs["splitCallees"] = tables(func(t *table, i, n int) { t.remember(keys[n], i+1) })
	programs["splitLength"] = tables(func(t *table, i, n int) { t.putBelow(keys[n]+keys[i], 5) })
	programs["wholeReturned"] = func() {
		twice(func(a *account, _ int) {
			a.s.Lock()
			defer a.s.Unlock()
			a.addBelow(300, a.number)
		})
	}
	programs["splitReturned"] = func() { belowLimit(func(a *account) func() int { return a.number }) }
	programs["splitNotReturned"] = func() { belowLimit(func(a *account) func() int { return a.parity }) }
	programs["wholeOtherKeys"] = tables(func(t *table, i, n int) { t.putOnce(keys[n]+keys[i], i+1) })
	programs["wholeRoom"] = tables(func(t *table, i, n int) { t.putBelow(keys[n]+keys[i], 100) })
	programs["splitRecursive"] = func() { twice(func(a *account, _ int) { a.recurse(1) }) }
	programs["wholeNested"] = func() { twice((*account).nested) }
}
