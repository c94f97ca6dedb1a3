// Package races has functions with and without a data race, which their names say.
package races

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// both runs two functions at the same time, nothing ordering them.
func both(f, g func()) {
	var done sync.WaitGroup
	done.Add(2)
	go func() { defer done.Done(); f() }()
	go func() { defer done.Done(); g() }()
	done.Wait()
}

//go:noinline
func use(any) {}

func TestRaceWrites(t *testing.T) {
	x := new(int)
	both(func() { *x = 1 }, func() { *x = 2 })
}

func TestRaceReadWrite(t *testing.T) {
	x := new(int)
	both(func() { use(*x) }, func() { *x = 2 })
}

// A race is reported once for each way to it: tests that come to one place are all reported, and so are those whose
// accesses the runtime makes.
func TestRaceOfHelper(t *testing.T)      { raceOn(new(int)) }
func TestRaceOfHelperAgain(t *testing.T) { raceOn(new(int)) }

func raceOn(x *int) {
	setLater := make(chan bool)
	go func() { *x = 1; close(setLater) }()
	*x = 2
	<-setLater
}

func TestRaceInMap(t *testing.T) {
	m := map[int]int{1: 1}
	both(func() { m[1] = 1 }, func() { use(m[1]) })
}

func TestRaceInOtherMap(t *testing.T) {
	m := map[int]int{1: 1}
	both(func() { m[1] = 2 }, func() { use(m[1]) })
}

func TestNoRaceReads(t *testing.T) {
	x := new(int)
	*x = 1
	both(func() { use(*x) }, func() { use(*x) })
	*x = 3
}

// Parts of a word are variables of their own.
type small struct {
	a, b       int32
	c, d, e, f byte
}

func TestNoRaceParts(t *testing.T) {
	s := new(small)
	both(func() { s.a = 1; s.c = 1; s.e = 1; use(s.a) }, func() { s.b = 1; s.d = 1; s.f = 1; use(s.d) })
	*s = small{}
	both(func() { s.a++; s.c++ }, func() { s.b++; s.d++ })
}

func TestRacePart(t *testing.T) {
	s := new(small)
	*s = small{a: 1}
	s.a = 2
	both(func() { s.c = 1; s.d = 1 }, func() { s.e = 1; s.d = 2 })
}

func TestRaceWhole(t *testing.T) {
	s := new(small)
	both(func() { s.f = 1 }, func() { use(*s) })
}

// Many read, and one who is ordered after all but one of them writes.
func TestRaceManyReaders(t *testing.T) {
	x := new(int)
	var some, all sync.WaitGroup
	for i := range make([]int, 20) {
		all.Add(1)
		if i != 7 {
			some.Add(1)
		}
		go func(i int) {
			use(*x)
			if i != 7 {
				some.Done()
			}
			all.Done()
		}(i)
	}
	some.Wait()
	*x = 1
	all.Wait()
}

func TestNoRaceManyReaders(t *testing.T) {
	x := new(int)
	for round := 0; round < 3; round++ {
		var all sync.WaitGroup
		for i := 0; i < 50; i++ {
			all.Add(1)
			go func() { use(*x); all.Done() }()
		}
		all.Wait()
		*x = round
	}
}

func TestNoRaceMutex(t *testing.T) {
	var mu sync.Mutex
	x := 0
	add := func() {
		for i := 0; i < 100; i++ {
			mu.Lock()
			x++
			mu.Unlock()
		}
	}
	both(add, add)
	if x != 200 {
		t.Errorf("x = %d", x)
	}
}

// A lock that happens to be taken in between orders two accesses outside of it in this
// run; one that is not taken by both sides does not.
func TestRaceOtherLock(t *testing.T) {
	var mu, other sync.Mutex
	x := 0
	both(func() { mu.Lock(); x++; mu.Unlock() }, func() { other.Lock(); x++; other.Unlock() })
}

func TestRaceReadLock(t *testing.T) {
	var mu sync.RWMutex
	x := 0
	both(func() { mu.RLock(); x++; mu.RUnlock() }, func() { mu.RLock(); x++; mu.RUnlock() })
}

// Slots of a channel of bytes lie in one word.
func TestNoRaceBytes(t *testing.T) {
	ch, x := make(chan byte, 3), make([]int, 3)
	done := make(chan bool)
	for i := range x {
		go func(i int) { x[i] = i; ch <- byte(i); done <- true }(i)
	}
	for range x {
		i := <-ch
		x[i]++
	}
	for range x {
		<-done
	}
}

func TestRaceSemaphore(t *testing.T) {
	sem, done := make(chan bool, 2), make(chan bool)
	x := new(int)
	go func() {
		sem <- true
		*x = 1
		<-sem
		done <- true
	}()
	sem <- true
	*x = 2
	<-sem
	<-done
}

func TestRaceSendClose(t *testing.T) {
	ch := make(chan int, 10)
	both(func() { ch <- 1 }, func() { time.Sleep(10 * time.Millisecond); close(ch) })
}

func TestNoRaceSelect(t *testing.T) {
	a, b := make(chan int), make(chan int)
	x := new(int)
	go func() {
		*x = 1
		select {
		case a <- 1:
		case b <- 1:
		}
	}()
	select {
	case <-a:
	case <-b:
	}
	*x = 2
}

func TestNoRaceAtomic(t *testing.T) {
	var flag atomic.Bool
	var p atomic.Pointer[small]
	x := new(int)
	both(func() {
		*x = 1
		p.Store(&small{a: 1})
		flag.Store(true)
	}, func() {
		for !flag.Load() {
			runtime.Gosched()
		}
		*x = int(p.Load().a)
	})
}

// A load orders nothing after it for others.
func TestRaceAtomicLoad(t *testing.T) {
	var n atomic.Int64
	x := new(int)
	both(func() { *x = 1; n.Load() }, func() { n.Load(); *x = 2 })
}

func TestRaceAtomicPlain(t *testing.T) {
	n := new(int64)
	both(func() { atomic.AddInt64(n, 1) }, func() { *n = 2 })
}

func TestRaceMap(t *testing.T) {
	m := map[int]int{1: 1, 2: 2}
	var turn sync.Mutex // not held, so that the runtime does not notice
	turn.Lock()
	turn.Unlock()
	done := make(chan bool)
	go func() { m[1] = 2; done <- true }()
	time.Sleep(10 * time.Millisecond)
	m[2] = 3
	<-done
}

func TestRaceRange(t *testing.T) {
	s := make([]byte, 100)
	both(func() { copy(s[10:], "0123456789") }, func() { s[15] = 1 })
}

func TestNoRaceRange(t *testing.T) {
	s := make([]byte, 100)
	both(func() { copy(s[:13], "0123456789012") }, func() { copy(s[13:], "0123456789") })
}

// Memory that is allocated anew is not what it was.
func TestNoRaceReuse(t *testing.T) {
	for i := 0; i < 20; i++ {
		both(allocate, allocate)
		runtime.GC()
	}
}

func allocate() {
	for i := 0; i < 500; i++ {
		p := new([8]int)
		for k := range p {
			p[k] = i
		}
		kept.Store(p)
	}
}

var kept atomic.Value

func TestNoRaceStacks(t *testing.T) {
	both(func() { deep(200) }, func() { deep(300) })
}

func deep(n int) int {
	var room [64]int
	p := &room[n%64]
	*p = n
	if n > 0 {
		*p += deep(n - 1)
	}
	return *p
}

func TestRaceAfterPanic(t *testing.T) {
	x := new(int)
	f := func() {
		func() {
			defer func() { recover() }()
			deepPanic(10)
		}()
		*x++
	}
	both(f, f)
}

func deepPanic(n int) {
	if n == 0 {
		panic("deep")
	}
	deepPanic(n - 1)
}

func TestNoRaceTimer(t *testing.T) {
	x := new(int)
	done := make(chan bool)
	*x = 1
	time.AfterFunc(time.Millisecond, func() { *x = 2; done <- true })
	<-done
	*x = 3
}

func TestNoRaceOnce(t *testing.T) {
	var once sync.Once
	var p *small
	get := func() { once.Do(func() { p = &small{} }); use(p.a) }
	both(get, get)
}

func TestNoRaceContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	x := new(int)
	go func() { *x = 1; cancel() }()
	<-ctx.Done()
	*x = 2
}

func TestNoRaceFinalizer(t *testing.T) {
	ran := make(chan bool, 1)
	func() {
		p := &small{}
		runtime.SetFinalizer(p, func(p *small) { p.a = 2; ran <- true })
		p.a = 1
	}()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		runtime.GC()
		select {
		case <-ran:
			return
		case <-time.After(time.Millisecond):
		}
	}
	t.Error("no finalizer ran")
}

// The first store at an address comes between what a load does before it reads and the reading.
func TestNoRaceFirstStore(t *testing.T) {
	slots := make([]struct {
		stored atomic.Bool
		x      int
	}, 20_000)
	var at atomic.Int64
	done := make(chan bool)
	go func() {
		for i := range slots {
			for at.Load() < int64(i) {
			}
			slots[i].x = 1
			slots[i].stored.Store(true)
		}
		done <- true
	}()
	for i, end := 0, time.Now().Add(2*time.Second); i < len(slots) && time.Now().Before(end); i++ {
		at.Store(int64(i))
		for !slots[i].stored.Load() {
		}
		slots[i].x = 2
	}
	at.Store(int64(len(slots)))
	<-done
}

// What a finalizer lets go on is ordered after what others had done by then, not after what
// one of them learns later, before it next releases anything.
func TestNoRaceFinalizerThenRelease(t *testing.T) {
	x := new(int)
	var finalized, written, handedOn atomic.Bool
	until := func(b *atomic.Bool) {
		for !b.Load() {
			runtime.Gosched()
		}
	}
	var began, done sync.WaitGroup
	began.Add(3)
	start := func(f func()) {
		done.Add(1)
		go func() { defer done.Done(); began.Done(); f() }()
	}
	// The writer, which writes at a later moment than the finalizer has seen.
	var moment atomic.Bool
	start(func() { until(&finalized); moment.Store(true); *x = 1; written.Store(true) })
	// Knows of the write, and releases that, at the moment that the finalizer has seen.
	start(func() { until(&finalized); until(&written); handedOn.Store(true) })
	// Learns of the write from that release alone.
	start(func() { until(&finalized); until(&handedOn); *x = 2 })
	began.Wait()
	func() {
		p := &small{}
		runtime.SetFinalizer(p, func(*small) { finalized.Store(true) })
	}()
	for deadline := time.Now().Add(10 * time.Second); !finalized.Load(); runtime.GC() {
		if time.Now().After(deadline) {
			t.Error("no finalizer ran")
			finalized.Store(true)
		}
	}
	done.Wait()
}

// A goroutine that has ended leaves its slot to another one, which does not
// inherit what it did.
func TestRaceEnded(t *testing.T) {
	x := new(int)
	ended := make(chan bool, 1)
	go func() { *x = 1; ended <- true }()
	for len(ended) == 0 { // orders nothing
		runtime.Gosched()
	}
	done := make(chan bool)
	go func() { *x = 2; done <- true }()
	<-done
}

// Nor does it inherit what that one acquired after its last release.
func TestRaceEndedKnowledge(t *testing.T) {
	// These take the slots that were free before.
	hold := make(chan bool)
	for i := 0; i < 100; i++ {
		go func() { <-hold }()
	}
	defer close(hold)

	x := new(int)
	done, known := make(chan bool, 1), make(chan bool)
	before := runtime.NumGoroutine()
	go func(done, known chan bool) { done <- true; <-known }(done, known)
	<-done
	go func() { *x = 1; close(known) }()
	for runtime.NumGoroutine() > before { // orders nothing
		runtime.Gosched()
	}
	go func() { *x = 2; done <- true }()
	<-done
}

// Both sides are known although the second access comes right behind the first.
func TestRaceAtOnce(t *testing.T) {
	x := make([]int, 1000)
	arrived := make(chan bool, 2*len(x))
	add := func() {
		for i := range x {
			arrived <- true
			for len(arrived) < 2*i+2 { // orders nothing
				runtime.Gosched()
			}
			x[i]++
		}
	}
	both(add, add)
}

// Two parts of a word that were written in one epoch have places of their own.
func TestRacePlace(t *testing.T) {
	x := new(struct{ first, second int32 })
	both(func() { setFirst(&x.first); setSecond(&x.second) }, func() { use(x.first) })
}

//go:noinline
func setFirst(p *int32) { *p = 1 }

//go:noinline
func setSecond(p *int32) { *p = 2 }

// A plain read and one by sync/atomic in one epoch have places of their own: a store races with the first alone.
func TestRaceBesideAtomic(t *testing.T) {
	x := new(int32)
	both(func() { use(load(x) + atomic.LoadInt32(x)) }, func() { atomic.StoreInt32(x, 1) })
}

//go:noinline
func load(p *int32) int32 { return *p }

// The first Add of a WaitGroup is not ordered before the Wait. The two are accesses of its own, in calls of
// package internal/race, and the report names the user's calls of Add and Wait.
func TestRaceAddAndWait(t *testing.T) {
	added, done := make(chan bool, 1), make(chan bool)
	var all sync.WaitGroup
	go func() { addOne(&all); added <- true }()
	go func() {
		for len(added) == 0 { // orders nothing
			runtime.Gosched()
		}
		waitForAll(&all)
		done <- true
	}()
	for !isAwaited(&all) {
		runtime.Gosched()
	}
	all.Done()
	<-done
}

//go:noinline
func addOne(all *sync.WaitGroup) { all.Add(1) }

//go:noinline
func waitForAll(all *sync.WaitGroup) { all.Wait() }

// isAwaited reports whether a goroutine waits, which the low half of its first word counts.
//
//go:norace
func isAwaited(all *sync.WaitGroup) bool { return *(*uint64)(unsafe.Pointer(all))<<32 != 0 }

// The methods of atomics access them in their own functions, too.
func TestRaceCopyOfAtomic(t *testing.T) {
	n := new(atomic.Int64)
	both(func() { *(*int64)(unsafe.Pointer(n)) = 1 }, func() { addTo(n) })
}

//go:noinline
func addTo(n *atomic.Int64) { n.Add(1) }

// Signal and Broadcast synchronise before the Wait that they unblock, also where the Locker orders nothing.
func TestNoRaceCond(t *testing.T) {
	for _, notify := range []func(*sync.Cond){(*sync.Cond).Signal, (*sync.Cond).Broadcast} {
		for _, l := range []sync.Locker{noLock{}, new(sync.Mutex)} {
			c := sync.NewCond(l)
			x, woken := 0, make(chan bool)
			waits := new(atomic.Bool)
			go func() {
				c.L.Lock()
				waits.Store(true)
				c.Wait()
				use(x)
				c.L.Unlock()
				close(woken)
			}()
			for !waits.Load() {
				runtime.Gosched()
			}
			x = 1
			for done := false; !done; {
				notify(c)
				runtime.Gosched()
				select {
				case <-woken:
					done = true
				default:
				}
			}
		}
	}
}

type noLock struct{}

func (noLock) Lock()   {}
func (noLock) Unlock() {}

// A Signal that nobody waited for orders nothing.
func TestRaceCondNobodyWaits(t *testing.T) {
	c := sync.NewCond(noLock{})
	c.Signal() // the first use of it orders something
	x := new(int32)
	both(func() { *x = 1; c.Signal() }, func() { c.Signal(); use(*x) })
}

// Atomics in memory that the program has mapped itself synchronise as all others.
func TestNoRaceMapped(t *testing.T) {
	m, err := syscall.Mmap(-1, 0, 1<<12, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	words := (*[1 << 9]atomic.Uint64)(unsafe.Pointer(&m[0]))
	jobs := make([]int32, len(words))
	go func() {
		for i := range jobs {
			jobs[i] = 1
			words[i].Store(1)
		}
	}()
	for i := range jobs {
		for words[i].Load() == 0 {
			runtime.Gosched()
		}
		use(jobs[i])
	}
}

// Each of its words is a variable of its own.
func TestRaceMapped(t *testing.T) {
	m, err := syscall.Mmap(-1, 0, 1<<12, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	words := (*[1 << 9]atomic.Uint64)(unsafe.Pointer(&m[0]))
	x := new(int32)
	both(func() { *x = 1; words[0].Store(1) }, func() { words[1].Load(); use(*x) })
}

// A goroutine's first function is named where it makes the access in a deferred call, at its end.
func TestRaceDeferred(t *testing.T) {
	x := new(int)
	inLoop := func() {
		for i := 0; i < 2; i++ {
			defer set(x)
		}
	}
	done := make(chan bool, 2)
	for i := 0; i < 2; i++ {
		go func() { inLoop(); done <- true }()
	}
	<-done
	<-done
}

//go:noinline
func set(p *int) { *p = 1 }

// Goroutines that a goroutine starts know what it knew, and it learns what they did.
func TestNoRaceFamily(t *testing.T) {
	var mu sync.Mutex
	all := 0
	var grow func(depth int, mine *int)
	grow = func(depth int, mine *int) {
		mu.Lock()
		all++
		mu.Unlock()
		if *mine = 1; depth == 0 {
			return
		}
		var done sync.WaitGroup
		children := make([]int, 6)
		for i := range children {
			child := &children[i]
			*child = 2
			done.Add(1)
			go func() { defer done.Done(); grow(depth-1, child) }()
		}
		done.Wait()
		for _, child := range children {
			*mine += child
		}
	}
	mine := 0
	grow(4, &mine)
	if mine != all {
		t.Errorf("%d of %d goroutines were counted", mine, all)
	}
}

// Two of them are not ordered by what both add to a WaitGroup.
func TestRaceSiblings(t *testing.T) {
	x := new(int)
	ended := make(chan bool, 1)
	var done sync.WaitGroup
	done.Add(2)
	go func() { *x = 1; done.Done(); ended <- true }()
	go func() {
		for len(ended) == 0 { // orders nothing
			runtime.Gosched()
		}
		*x = 2
		done.Done()
	}()
	done.Wait()
}

// Nor are they by what the one that started them did in between.
func TestRaceAfterGo(t *testing.T) {
	x := new(int)
	ended := make(chan bool, 1)
	done := make(chan bool)
	go func() { *x = 1; ended <- true; done <- true }()
	for len(ended) == 0 { // orders nothing
		runtime.Gosched()
	}
	go func() { *x = 2; done <- true }()
	<-done
	<-done
}

// Processors that come and go have no end.
func TestNoRaceProcs(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	for i := 0; i < 1100; i++ {
		runtime.GOMAXPROCS(n + 1)
		runtime.GOMAXPROCS(n)
	}
}

func TestNoRaceManyGoroutines(t *testing.T) {
	n := 20000
	if testing.Short() {
		n = 2000
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	x := 0
	for i := 0; i < n; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			mu.Lock()
			x++
			mu.Unlock()
		}()
	}
	all.Wait()
	if x != n {
		t.Errorf("x = %d, want %d", x, n)
	}
}

// What one goroutine has learned from another by a mutex, it brings to a WaitGroup, although the other has been there.
func TestNoRaceLearnedAfterDone(t *testing.T) {
	for i := 0; i < 20; i++ {
		var mu sync.Mutex
		var all sync.WaitGroup
		isWritten, y := false, new(int)
		all.Add(2)
		go func() {
			all.Done()
			*y = 1
			mu.Lock()
			isWritten = true
			mu.Unlock()
		}()
		go func() {
			for known := false; !known; runtime.Gosched() {
				mu.Lock()
				known = isWritten
				mu.Unlock()
			}
			all.Done()
		}()
		all.Wait()
		*y = 2
	}
}

// What a goroutine does behind its Unlock, nobody learns from the mutex.
func TestRaceBehindUnlock(t *testing.T) {
	var mu sync.Mutex
	var all sync.WaitGroup
	x, done := new(int), make(chan bool)
	go func() {
		mu.Lock()
		mu.Unlock()
		*x = 1
		done <- true
	}()
	all.Add(2)
	for i := 0; i < 2; i++ {
		go func() {
			mu.Lock()
			mu.Unlock()
			all.Done()
		}()
	}
	all.Wait()
	*x = 2
	<-done
}

// Who has locked a mutex behind another's Unlock may overwrite it.
func TestNoRaceMutexOverwritten(t *testing.T) {
	s := new(struct {
		mu     sync.Mutex
		isDone bool
	})
	for i := 0; i < 3; i++ {
		go func() {
			for k := 0; k < 100; k++ {
				s.mu.Lock()
				runtime.Gosched()
				s.mu.Unlock()
			}
			s.mu.Lock()
			s.isDone = true
			s.mu.Unlock()
		}()
		for isDone := false; !isDone; runtime.Gosched() {
			s.mu.Lock()
			isDone = s.isDone
			s.mu.Unlock()
		}
		s.mu = sync.Mutex{}
		s.isDone = false
	}
}

func TestRaceMutexOverwritten(t *testing.T) {
	mu := new(sync.Mutex)
	done := make(chan bool)
	go func() {
		mu.Lock()
		mu.Unlock()
		done <- true
	}()
	time.Sleep(10 * time.Millisecond) // overwriting it while it is locked would be fatal
	*mu = sync.Mutex{}
	<-done
}

// The history has a copy as one access of many words.
func TestRaceMiddleOfCopy(t *testing.T) {
	to, from := make([]int, 1000), make([]int, 1000)
	both(func() { copyAll(to, from) }, func() { to[500] = 1 })
}

//go:noinline
func copyAll(to, from []int) { copy(to, from) }

// Bytes at the ends of a copy are accesses of their own words.
func TestNoRaceBesideCopy(t *testing.T) {
	to := make([]byte, 64)
	both(func() { copy(to[3:29], "twenty-six letters and on.") }, func() { to[2] = 1; to[29] = 2 })
}

// increment adds to a number under a mutex, several times: nobody else need have had the mutex in between.
func increment(mu *sync.Mutex, n *int) {
	for i := 0; i < 3; i++ {
		mu.Lock()
		*n++
		mu.Unlock()
	}
}

func TestNoRaceSectionsInARow(t *testing.T) {
	var mu, other sync.Mutex
	n, m, x := new(int), new(int), new(int)
	work := func() {
		for i := 0; i < 100; i++ {
			increment(&mu, n)
			mu.Lock()
			*x++
			increment(&other, m)
			*x++
			mu.Unlock()
		}
	}
	both(work, work)
}

// What comes behind the last of several sections, the mutex does not order.
func TestRaceBehindSections(t *testing.T) {
	var mu sync.Mutex
	n, x := new(int), new(int)
	both(func() {
		increment(&mu, n)
		*x = 1
	}, func() {
		time.Sleep(50 * time.Millisecond)
		increment(&mu, n)
		*x = 2
	})
}

// What comes between two sections, the second orders.
func TestNoRaceBetweenSections(t *testing.T) {
	var mu sync.Mutex
	n, x := new(int), new(int)
	both(func() {
		increment(&mu, n)
		*x = 1
		increment(&mu, n)
	}, func() {
		for done := false; !done; {
			mu.Lock()
			done = *n >= 6
			mu.Unlock()
		}
		*x = 2
	})
}

// Both sides of a channel without a buffer are ordered after what the other did before they met.
func TestNoRaceMeeting(t *testing.T) {
	c := make(chan bool)
	x, y := new(int), new(int)
	both(func() {
		for i := 0; i < 100; i++ {
			*x++
			c <- true
			*y++
			c <- true
		}
	}, func() {
		for i := 0; i < 100; i++ {
			*y++
			<-c
			*x++
			<-c
		}
	})
}

func TestRaceBehindMeeting(t *testing.T) {
	c := make(chan bool)
	x := new(int)
	both(func() {
		for i := 0; i < 10; i++ {
			c <- true
		}
		*x = 1
	}, func() {
		for i := 0; i < 10; i++ {
			<-c
		}
		*x = 2
	})
}

// Who has met another does not know what that one learns later.
func TestRaceLearnedBehindMeeting(t *testing.T) {
	c, d := make(chan bool), make(chan bool)
	x := new(int)
	go func() {
		*x = 1
		time.Sleep(50 * time.Millisecond)
		d <- true
	}()
	both(func() {
		c <- true
		<-d
	}, func() {
		<-c
		time.Sleep(100 * time.Millisecond)
		*x = 2
	})
}

// Who meets one who has met another knows what that one did.
func TestNoRacePassedOn(t *testing.T) {
	c, d := make(chan bool), make(chan bool)
	x := new(int)
	go func() {
		*x = 1
		d <- true
	}()
	both(func() {
		<-d
		c <- true
	}, func() {
		<-c
		*x = 2
	})
}
