package conds

import "sync"

// The signal may come before the wait.
func signalLost() {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	go func() {
		cond.Signal()
	}()
	mu.Lock()
	cond.Wait() // want `IL4003`
	mu.Unlock()
}

func asked() {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	ready := false
	go func() {
		mu.Lock()
		ready = true
		mu.Unlock()
		cond.Signal()
	}()
	mu.Lock()
	for !ready {
		cond.Wait()
	}
	mu.Unlock()
}

// One signal for two who wait.
type gate struct {
	mu   sync.Mutex
	cond *sync.Cond
	open bool
}

func newGate() *gate {
	g := &gate{}
	g.cond = sync.NewCond(&g.mu)
	return g
}

func (g *gate) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.open {
		g.cond.Wait() // want `IL4003`
	}
}

func (g *gate) openOne() {
	g.mu.Lock()
	g.open = true
	g.cond.Signal()
	g.mu.Unlock()
}

func two() {
	g := newGate()
	var wg sync.WaitGroup
	wg.Add(2)
	for range 2 {
		go func() {
			defer wg.Done()
			g.pass()
		}()
	}
	g.openOne()
	wg.Wait()
}

type gates struct {
	mu   sync.Mutex
	cond *sync.Cond
	open bool
}

func (g *gates) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.open {
		g.cond.Wait()
	}
}

func (g *gates) openAll() {
	g.mu.Lock()
	g.open = true
	g.cond.Broadcast()
	g.mu.Unlock()
}

func all() {
	g := &gates{}
	g.cond = sync.NewCond(&g.mu)
	var wg sync.WaitGroup
	wg.Add(2)
	for range 2 {
		go func() {
			defer wg.Done()
			g.pass()
		}()
	}
	g.openAll()
	wg.Wait()
}
