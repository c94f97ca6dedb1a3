package basic

import "sync"

// Pool asks one channel whether it is stopped, and closes another.
type Pool struct {
	once sync.Once
	mu   sync.Mutex
	quit chan bool
	jobs chan func()
	next chan bool
}

func (p *Pool) Stopped() bool {
	select {
	case <-p.quit:
		return true
	default:
		return false
	}
}

func (p *Pool) Stop() {
	if p.Stopped() {
		return
	}
	p.once.Do(func() { close(p.quit) })
	close(p.jobs) // want `Pool.jobs may be closed twice: Two calls of .*Stop may both find Pool.quit open`
}

func (p *Pool) StopAtOnce() {
	select {
	case <-p.quit:
		return
	default:
	}
	p.once.Do(func() { close(p.quit) })
	close(p.jobs) // want `Pool.jobs may be closed twice`
}

func (p *Pool) StopRight() {
	if p.Stopped() {
		return
	}
	p.once.Do(func() {
		close(p.quit)
		close(p.jobs) // ok: once
	})
}

func (p *Pool) StopUnderLock() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Stopped() {
		return
	}
	p.once.Do(func() { close(p.quit) })
	close(p.jobs) // ok
}

// Next closes what each step opens, if the pool goes on.
func (p *Pool) Next() {
	if p.Stopped() {
		return
	}
	close(p.next) // ok: nothing says that it is the pool's end
	p.next = make(chan bool)
}
