package hidden

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// Hidden by a lock: the first write comes before a section, the second behind a later one of the
// same lock, so that the order of the sections orders the writes as long as the first comes first.
func TestRaceLockOrder(*testing.T) {
	var mu sync.Mutex
	x, n := 0, 0
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		x = 1
		mu.Lock()
		n++
		mu.Unlock()
	}()
	go func() {
		defer wg.Done()
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		n++
		mu.Unlock()
		x = 2
	}()
	wg.Wait()
	_ = x
}

// Hidden by three locks: several edges in a row order the writes.
func TestRaceThreeLocks(*testing.T) {
	var a, b, c sync.Mutex
	x := 0
	touch := func(mus ...*sync.Mutex) {
		for _, mu := range mus {
			mu.Lock()
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	wg.Add(3)
	go func() {
		defer wg.Done()
		x = 1
		touch(&a)
	}()
	go func() {
		defer wg.Done()
		time.Sleep(5 * time.Millisecond)
		touch(&a, &b, &c)
	}()
	go func() {
		defer wg.Done()
		time.Sleep(10 * time.Millisecond)
		touch(&c)
		x = 2
	}()
	wg.Wait()
	_ = x
}

// DrFinder's Figure 2: a field is written before a call that takes the lock, and read by the other
// goroutine behind such a call.
func TestRaceDrFinderFigure2(*testing.T) {
	var l sync.Mutex
	x, y := 0, 0
	done := make(chan bool)
	go func() {
		x++
		l.Lock()
		y++
		l.Unlock()
		close(done)
	}()
	time.Sleep(2 * time.Millisecond)
	l.Lock()
	y++
	l.Unlock()
	x++
	<-done
}

// Hidden by a channel that is buffered: a send orders nothing that comes before a later receive of
// another value.
func TestRaceBufferedChannel(*testing.T) {
	ch := make(chan int, 2)
	x := 0
	done := make(chan bool)
	go func() {
		ch <- 1
		x = 1
		close(done)
	}()
	time.Sleep(3 * time.Millisecond)
	<-ch
	x = 2
	<-done
	_ = x
}

// Once by hand: two goroutines initialise what they find missing.
func TestRaceInitialised(*testing.T) {
	var table map[string]int
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(4*i) * time.Millisecond)
			if table == nil {
				table = map[string]int{"a": 1}
			}
		}()
	}
	wg.Wait()
}

// Read lock: a counter is changed under the read lock.
func TestRaceUnderReadLock(*testing.T) {
	var mu sync.RWMutex
	hits := 0
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(6*i) * time.Millisecond)
			mu.RLock()
			hits++
			mu.RUnlock()
		}()
	}
	wg.Wait()
}

// Two locks: each goroutine has a lock of its own.
func TestRaceTwoLocks(*testing.T) {
	var mus [2]sync.Mutex
	n := 0
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(7*i) * time.Millisecond)
			mus[i].Lock()
			n++
			mus[i].Unlock()
		}()
	}
	wg.Wait()
}

// Double-checked: the first check reads without the lock.
func TestRaceDoubleChecked(*testing.T) {
	var mu sync.Mutex
	var conn *int
	get := func() *int {
		if conn == nil {
			mu.Lock()
			defer mu.Unlock()
			if conn == nil {
				conn = new(int)
			}
		}
		return conn
	}
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(5*i) * time.Millisecond)
			get()
		}()
	}
	wg.Wait()
}

// Close and append: a list is published by a store that nothing waits for.
func TestRacePublished(*testing.T) {
	type box struct{ items []int }
	b := &box{}
	done := make(chan bool)
	go func() {
		b.items = append(b.items, 1)
		close(done)
	}()
	time.Sleep(9 * time.Millisecond)
	for range b.items {
	}
	<-done
}

// Clean: the channel hands the value over.
func TestCleanHandedOver(*testing.T) {
	ch := make(chan *int)
	go func() {
		n := new(int)
		*n = 1
		ch <- n
	}()
	time.Sleep(3 * time.Millisecond)
	*<-ch = 2
}

// Check, then act: the entry is looked up in one section and added in another.
func TestSplitCheckThenAct(*testing.T) {
	t := &table{m: map[string]int{}}
	w := later(4*time.Millisecond, func() { t.add("a", 2) })
	t.add("a", 1)
	w()
}

// Load, then store: each is under the lock, the addition is not.
func TestSplitPurse(*testing.T) {
	p := &purse{}
	w := later(2*time.Millisecond, func() {
		for range 3 {
			p.add(1)
			time.Sleep(time.Millisecond)
		}
	})
	for range 3 {
		p.add(1)
		time.Sleep(2 * time.Millisecond)
	}
	w()
}

// Late to begin: what a goroutine does not report in time, the one that started it does itself.
func TestRaceLateToBegin(*testing.T) {
	var mu sync.Mutex
	begun, n, done := false, 0, make(chan bool)
	go func() {
		defer close(done)
		mu.Lock()
		begun = true
		mu.Unlock()
		n = 1
	}()
	for range 10 {
		runtime.Gosched()
	}
	mu.Lock()
	late := !begun
	mu.Unlock()
	if late {
		n = 2
	}
	<-done
	_ = n
}

// Overtaken: the same, where a message lets both go on and the other one comes first to the lock in time.
func TestRaceOvertaken(*testing.T) {
	var mu sync.Mutex
	begun, n, start, done := false, 0, make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		<-start
		mu.Lock()
		begun = true
		mu.Unlock()
		n = 1
	}()
	time.Sleep(time.Millisecond)
	close(start)
	for range 10 {
		runtime.Gosched()
	}
	mu.Lock()
	late := !begun
	mu.Unlock()
	if late {
		n = 2
	}
	<-done
	_ = n
}

// Clean: what is late is found so under the lock, and set under it too.
func TestCleanLateToBegin(*testing.T) {
	var mu sync.Mutex
	n, done := 0, make(chan bool)
	set := func(v int) {
		mu.Lock()
		defer mu.Unlock()
		if n == 0 {
			n = v
		}
	}
	go func() {
		defer close(done)
		set(1)
	}()
	for range 10 {
		runtime.Gosched()
	}
	set(2)
	<-done
	_ = n
}

// Late Add: the goroutine counts itself, so that Wait may return before it writes.
func TestRaceAddLate(*testing.T) {
	var wg sync.WaitGroup
	n := 0
	for range 2 {
		go func() {
			wg.Add(1)
			defer wg.Done()
			n++
		}()
	}
	time.Sleep(2 * time.Millisecond)
	wg.Wait()
	_ = n
}
