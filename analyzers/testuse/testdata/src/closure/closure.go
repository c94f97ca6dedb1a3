// Package closure has halves in function literals.
package closure

import "sync"

type Registry struct {
	mu sync.Mutex
	m  map[string]chan int
}

func (r *Registry) Watch(keys []string) {
	for _, k := range keys {
		go func() {
			r.mu.Lock()
			_, ok := r.m[k]
			r.mu.Unlock()
			if !ok {
				r.mu.Lock()
				r.m[k] = make(chan int) // want `is set`
				r.mu.Unlock()
			}
		}()
	}
}

func (r *Registry) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *Registry) Right(k string) {
	r.locked(func() {
		if _, ok := r.m[k]; !ok {
			r.m[k] = make(chan int) // ok: the caller holds the lock
		}
	})
}

func (r *Registry) Deferred(k string) {
	has := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, ok := r.m[k]
		return ok
	}
	if !has() {
		r.mu.Lock()
		r.m[k] = make(chan int) // want `is set`
		r.mu.Unlock()
	}
}
