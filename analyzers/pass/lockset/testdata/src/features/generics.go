package features

import "sync"

type Box[V any] struct {
	mu sync.Mutex
	v  V
}

func (b *Box[V]) Set(v V) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.v = v // = b.mu
}

func use(b *Box[int]) {
	b.mu.Lock()
	b.v++ // = b.mu, perhaps more
	b.mu.Unlock()
}

func lockAll[L sync.Locker](l L) {
	l.Lock()
}

func (t *T) ThroughTypeParameter() {
	lockAll(&t.mu)
	t.n++ // = t.mu
	t.mu.Unlock()
}
