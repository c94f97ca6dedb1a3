// Package callees: the lock is held by a caller of the function that waits, or taken on some ways only.
package callees

import "sync"

type pump struct {
	mu, other sync.Mutex
	closed    bool
	stop      chan bool
	wg        sync.WaitGroup
}

func (p *pump) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *pump) start() {
	p.stop = make(chan bool)
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		for {
			select {
			case <-p.stop:
				return
			default:
				p.isClosed()
			}
		}
	}()
}

// again stops what runs, and starts anew.
func (p *pump) again(on bool) {
	if p.stop != nil {
		close(p.stop)
		p.wg.Wait() // want `wait of pump.wg under pump.mu, which the other side needs: \(\*pump\).Close holds p.mu and waits`
	}
	if on {
		p.start()
	}
}

func (p *pump) Start() { p.again(true) }

func (p *pump) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.again(false)
	p.closed = true
}

// Pause holds a lock that the goroutine does not need.
func (p *pump) Pause() {
	p.other.Lock()
	defer p.other.Unlock()
	p.again(false)
}

// Both has the lock of another pump.
func (p *pump) Both(q *pump) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p.again(false)
}

type meter struct {
	mu sync.Mutex
	n  int
	wg sync.WaitGroup
}

func (m *meter) add(n int) {
	if n > 0 {
		m.mu.Lock()
		m.n += n
		m.mu.Unlock()
	}
}

func (m *meter) Run(n int) {
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		m.add(n)
	}()
}

func (m *meter) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wg.Wait() // ok: a lead, as the goroutine takes the lock on some ways only
}
