package bench

import (
	"bufio"
	"net"
	"sync"
)

// Pipeline sends n numbers through three stages, a goroutine each, and gives
// their sum.
func Pipeline(n int) int {
	stage := func(in <-chan int, f func(int) int) <-chan int {
		out := make(chan int, 16)
		go func() {
			defer close(out)
			for v := range in {
				out <- f(v)
			}
		}()
		return out
	}
	source := make(chan int, 16)
	go func() {
		defer close(source)
		for i := range n {
			source <- i
		}
	}()
	sum := 0
	for v := range stage(stage(source, func(v int) int { return v + 1 }), func(v int) int { return v * 2 }) {
		sum += v
	}
	return sum
}

// Pool runs jobs on a fixed number of workers.
type Pool struct {
	mu   sync.Mutex
	done int // guarded by mu
	sum  int // guarded by mu
	jobs chan int
	wg   sync.WaitGroup
}

// NewPool starts a pool of n workers.
func NewPool(n int) *Pool {
	p := &Pool{jobs: make(chan int, n)}
	for range n {
		p.wg.Add(1)
		go p.work()
	}
	return p
}

func (p *Pool) work() {
	defer p.wg.Done()
	for job := range p.jobs {
		h := job
		for range 50 {
			h = h*31 + 7
		}
		p.mu.Lock()
		p.done++
		p.sum += h & 1
		p.mu.Unlock()
	}
}

// Do hands a job to the pool.
func (p *Pool) Do(job int) { p.jobs <- job }

// Close waits for the jobs and gives how many were done.
func (p *Pool) Close() int {
	close(p.jobs)
	p.wg.Wait()
	return p.done
}

// Cache is a map under a read-write lock.
type Cache struct {
	mu sync.RWMutex
	m  map[string]int // guarded by mu
}

// Get returns the value of key, computing it on a miss.
func (c *Cache) Get(key string, compute func(string) int) int {
	c.mu.RLock()
	v, ok := c.m[key]
	c.mu.RUnlock()
	if ok {
		return v
	}
	v = compute(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[string]int{}
	}
	c.m[key] = v
	return v
}

// Echo answers each line on each connection of l with the same line.
func Echo(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			r := bufio.NewReader(conn)
			for {
				line, err := r.ReadSlice('\n')
				if err != nil {
					return
				}
				if _, err := conn.Write(line); err != nil {
					return
				}
			}
		}()
	}
}
