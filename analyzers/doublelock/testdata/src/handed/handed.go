// Package handed locks a mutex twice to wait for the code that unlocks it, and twice by mistake.
package handed

import "sync"

type Socket struct {
	mu    sync.Mutex
	reply func(error)
	done  sync.Mutex
}

func (s *Socket) query(f func(error)) {
	s.mu.Lock()
	s.reply = f
	s.mu.Unlock()
}

func (s *Socket) Literal() (err error) { // ok: the literal unlocks it
	var mu sync.Mutex
	mu.Lock()
	s.query(func(e error) {
		err = e
		mu.Unlock()
	})
	mu.Lock()
	return err
}

func (s *Socket) Last(n int) { // ok: the last call of the literal unlocks it
	var mu sync.Mutex
	mu.Lock()
	for ok := true; ok; ok = n > 0 {
		s.query(func(error) {
			if n--; n == 0 {
				mu.Unlock()
			}
		})
	}
	mu.Lock()
}

func (s *Socket) Bound(run func(func())) { // ok: by a method value
	var mu sync.Mutex
	mu.Lock()
	run(mu.Unlock)
	mu.Lock()
}

func release(mu *sync.Mutex) { mu.Unlock() }

func (s *Socket) Address(run func(func(*sync.Mutex), *sync.Mutex)) { // ok: run may unlock it
	var mu sync.Mutex
	mu.Lock()
	run(release, &mu)
	mu.Lock()
}

func (s *Socket) Wait() {
	s.done.Lock()
	s.done.Lock() // want `locked again .* It waits until another goroutine releases s.done: \(\*Socket\).Done does so without acquiring it`
	s.done.Unlock()
}

func (s *Socket) Done() { s.done.Unlock() }

func (s *Socket) Twice() {
	s.mu.Lock()
	s.mu.Lock() // want `locked again .* It waits for itself forever`
	s.mu.Unlock()
}

func Deferred(use func(func())) {
	var mu, other sync.Mutex
	mu.Lock()
	defer func() { mu.Unlock() }()
	use(func() { other.Unlock() })
	mu.Lock() // want `locked again`
	mu.Unlock()
}

func Balanced(use func(func())) {
	var mu sync.Mutex
	mu.Lock()
	use(func() { mu.Lock(); mu.Unlock() })
	mu.Lock() // want `locked again`
	mu.Unlock()
}
