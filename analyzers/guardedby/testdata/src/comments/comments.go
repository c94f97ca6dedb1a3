// Package comments: authors say where no lock is needed.
package comments

import "sync"

type Balancer struct {
	mu   sync.Mutex
	cfg  *int
	size int
	name string
}

func (b *Balancer) Update(cfg *int) {
	// It is safe to read b.cfg here without holding the mutex, as only
	// this function writes it, and is never called twice at a time.
	if b.cfg == cfg { // ok
		return
	}
	println("…")
	println("…")
	println("…")
	println("…")
	println(b.size) // want `Balancer.size is read without b.mu`

	println("far below the comment")
	println("are other matters")
	println(b.name) // want `Balancer.name is read without b.mu`
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cfg, b.size, b.name = cfg, *cfg, "set"
}

func (b *Balancer) Size() (int, *int, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size, b.cfg, b.name
}

// Name does not need the lock: nothing changes the name.
func (b *Balancer) Name() string { return b.name } // ok: its author says so
