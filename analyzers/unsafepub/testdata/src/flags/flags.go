package flags

import "sync"

type Cron struct {
	running bool
	add     chan int
	stop    chan struct{}
	entries []int
}

func (c *Cron) Start() {
	if c.running {
		return
	}
	c.running = true // want `Cron.running is a plain flag that says whether a goroutine runs: \(\*Cron\).Start sets it and starts the goroutine, \(\*Cron\).Add`
	go c.run()
}

func (c *Cron) run() {
	for {
		select {
		case n := <-c.add:
			c.entries = append(c.entries, n)
		case <-c.stop:
			return
		}
	}
}

func (c *Cron) Add(n int) {
	if c.running {
		c.add <- n
		return
	}
	c.entries = append(c.entries, n)
}

// Locked is the same with a lock.
type Locked struct {
	mu      sync.Mutex
	running bool
	add     chan int
}

func (l *Locked) Start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running {
		l.running = true // ok
		go l.run()
	}
}

func (l *Locked) run() { <-l.add }

func (l *Locked) Add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		l.add <- n
	}
}

// Quiet has a flag that nobody talks by.
type Quiet struct{ on bool }

func (q *Quiet) Start() {
	q.on = true // ok
	go q.run()
}

func (q *Quiet) run() {}

func (q *Quiet) On() bool { return q.on }
