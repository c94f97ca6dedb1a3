package p

import "sync"

type pool struct {
	sync.WaitGroup
	jobs chan int
	done chan struct{}
	ptr  *sync.WaitGroup
}

type nested struct{ *pool }

func channels(p *pool, ch chan int) {
	p.jobs <- 1     // want read p.jobs field:pool.jobs in channels; read p.jobs channel:pool.jobs in channels
	close(p.done)   // want read p.done field:pool.done in channels; write p.done channel:pool.done in channels
	defer close(ch) // want write ch channel:channels.ch in channels
	select {
	case (ch) <- <-p.jobs: // want read ch channel:channels.ch in channels; read p.jobs field:pool.jobs in channels
	case <-p.done: // want read p.done field:pool.done in channels
	}
	_ = len(ch) + cap(ch)
}

func waitGroups(p *pool, n nested, delta int) {
	var wg sync.WaitGroup
	wg.Add(1) // want atomic-write wg waitgroup:waitGroups.wg in waitGroups
	go func() { wg.Done() }()
	wg.Wait()       // want read wg waitgroup:waitGroups.wg in waitGroups
	p.Add(2)        // want atomic-write p.WaitGroup waitgroup:pool.WaitGroup in waitGroups
	p.Go(func() {}) // want atomic-write p.WaitGroup waitgroup:pool.WaitGroup in waitGroups
	p.Wait()        // want read p.WaitGroup waitgroup:pool.WaitGroup in waitGroups
	p.ptr.Wait()    // want read p.ptr field:pool.ptr in waitGroups; read p.ptr waitgroup:pool.ptr in waitGroups
	p.Add(delta)
	p.Add(-1)
	n.pool.Wait() // want read n.pool field:nested.pool in waitGroups; read n.pool.WaitGroup waitgroup:pool.WaitGroup in waitGroups
	n.Wait()      // want read n.pool field:nested.pool in waitGroups
}
