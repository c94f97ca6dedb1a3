package main

import (
	"context"
	"iter"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// everyMeans is a program without a race that uses each means of synchronisation of the Go memory model to hand over
// what it writes without a lock.
func everyMeans(bool) []func(int) {
	return []func(int){
		byChannel, byUnbuffered, byClose, byMutex, byRWMutex, byCond, byOnce, byWaitGroup, byGoroutine, byAtomic,
		byAtomicFunction, byValue, byMap, byPool, byContext, byTimer, byPull, byPipe, byReuse,
	}
}

// box is memory that is written by one goroutine and then read and written by another.
type box struct{ a, b int }

//go:noinline
func (x *box) fill(n int) {
	for i := range 50 {
		x.a += n + i
		x.b = x.a
	}
}

func byChannel(n int) {
	c, done := make(chan *box, 1), make(chan bool, 1)
	go func() { x := <-c; x.fill(n); done <- true }()
	x := new(box)
	x.fill(n)
	c <- x
	<-done
	x.fill(n)
}

func byUnbuffered(n int) {
	x, c := new(box), make(chan bool)
	go func() { x.fill(n); <-c }()
	c <- true // the receive comes before the end of the send
	x.fill(n)
}

func byClose(n int) {
	x, c := new(box), make(chan bool)
	go func() { x.fill(n); close(c) }()
	select {
	case <-c:
	case <-time.After(time.Hour):
	}
	x.fill(n)
}

var shared struct {
	mu sync.Mutex
	rw sync.RWMutex
	box
	other box
}

func byMutex(n int) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.fill(n)
}

func byRWMutex(n int) {
	if n%4 != 0 {
		shared.rw.RLock()
		sink.Add(int64(shared.other.a))
		shared.rw.RUnlock()
		return
	}
	shared.rw.Lock()
	shared.other.fill(n)
	shared.rw.Unlock()
}

func byCond(n int) {
	var mu sync.Mutex
	x, full, c := new(box), false, sync.NewCond(&mu)
	go func() {
		x.fill(n)
		mu.Lock()
		full = true
		c.Signal()
		mu.Unlock()
	}()
	mu.Lock()
	for !full {
		c.Wait()
	}
	mu.Unlock()
	x.fill(n)
}

func byOnce(n int) {
	var once sync.Once
	x := new(box)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { once.Do(func() { x.fill(n) }); sink.Add(int64(x.a)) })
	}
	all.Wait()
}

func byWaitGroup(n int) {
	x := make([]box, 2)
	var all sync.WaitGroup
	for i := range x {
		all.Add(1)
		go func() { x[i].fill(n); all.Done() }()
	}
	all.Wait()
	x[0].fill(n)
	x[1].fill(n)
}

func byGoroutine(n int) {
	x, c := new(box), make(chan bool)
	x.fill(n)
	go func() { x.fill(n); c <- true }()
	<-c
}

func byAtomic(n int) {
	var x box
	var ready atomic.Bool
	var p atomic.Pointer[box]
	go func() { x.fill(n); ready.Store(true); y := new(box); y.fill(n); p.Store(y) }()
	for !ready.Load() {
		runtime.Gosched()
	}
	x.fill(n)
	for p.Load() == nil {
		runtime.Gosched()
	}
	p.Load().fill(n)
}

func byAtomicFunction(n int) {
	var x box
	var turn int32
	go func() { x.fill(n); atomic.AddInt32(&turn, 1) }()
	for !atomic.CompareAndSwapInt32(&turn, 1, 2) {
		runtime.Gosched()
	}
	x.fill(n)
}

func byValue(n int) {
	var v atomic.Value
	go func() { x := new(box); x.fill(n); v.Store(x) }()
	for v.Load() == nil {
		runtime.Gosched()
	}
	v.Load().(*box).fill(n)
}

func byMap(n int) {
	var m sync.Map
	go func() { x := new(box); x.fill(n); m.Store(n, x) }()
	for {
		if x, ok := m.Load(n); ok {
			x.(*box).fill(n)
			return
		}
		runtime.Gosched()
	}
}

var boxes = sync.Pool{New: func() any { return new(box) }}

func byPool(n int) {
	x := boxes.Get().(*box)
	x.fill(n)
	boxes.Put(x)
}

func byContext(n int) {
	ctx, cancel := context.WithCancel(context.Background())
	x := new(box)
	go func() { x.fill(n); cancel() }()
	<-ctx.Done()
	x.fill(n)
}

func byTimer(n int) {
	x, c := new(box), make(chan bool)
	x.fill(n)
	time.AfterFunc(time.Microsecond, func() { x.fill(n); close(c) })
	<-c
	x.fill(n)
}

func byPull(n int) {
	x := new(box)
	next, stop := iter.Pull(func(yield func(int) bool) {
		for x.fill(n); yield(n); {
			x.fill(n)
		}
	})
	for range 4 {
		next()
		x.fill(n)
	}
	stop()
}

func byPipe(n int) {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	defer w.Close()
	x := new(box)
	go func() { x.fill(n); w.Write([]byte{1}) }()
	r.Read(make([]byte, 1))
	x.fill(n)
}

// byReuse has the collector free objects that another goroutine gets anew at once.
func byReuse(n int) {
	for range 100 {
		x := new(box)
		x.fill(n)
		sink.Add(int64(x.a))
	}
	if n%16 == 0 {
		runtime.GC()
	}
}
