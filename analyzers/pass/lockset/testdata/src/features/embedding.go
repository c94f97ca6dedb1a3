package features

import "sync"

type Embeds struct {
	sync.Mutex
	n int
}

func (e *Embeds) Add() {
	e.Lock()
	e.n++ // = e.Mutex
	e.Unlock()
}

type deep struct {
	*Embeds
	k int
}

func (d *deep) add() {
	d.Lock()
	d.k++ // = d.Embeds.Mutex, perhaps more
	d.Unlock()
}

type lockAlias = sync.Mutex

type myLock struct{ lockAlias }

func aliased(l *myLock) {
	l.Lock()
	println(l) // = l.lockAlias, perhaps more
	l.Unlock()
}

type array struct {
	shards [4]struct {
		mu sync.Mutex
		n  int
	}
	byKey map[string]*T
}

func (a *array) shard(i int) {
	s := &a.shards[i]
	s.mu.Lock()
	s.n++ // = a.shards[(*features.array).shard:i].mu, perhaps more
	s.mu.Unlock()
}

func (a *array) entry(key string) {
	t := a.byKey[key]
	t.mu.Lock()
	t.n++ // = (*features.T).mu, perhaps more
	t.mu.Unlock()
}

var (
	global sync.Mutex
	count  int
)

func packageVariable() {
	global.Lock()
	count++ // = global, perhaps more
	global.Unlock()
}

func local() {
	var mu sync.Mutex
	mu.Lock()
	count++ // = mu, perhaps more
	mu.Unlock()
}
