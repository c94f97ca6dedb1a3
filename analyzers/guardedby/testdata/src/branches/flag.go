package branches

import "sync"

type item struct {
	mu    sync.Mutex
	state int
	n     int
}

// The parameter says whether the caller holds the lock.
func (i *item) close(locked bool) {
	if locked {
		i.state = 2
	} else {
		i.mu.Lock()
		i.state = 2
		i.mu.Unlock()
	}
}

func (i *item) Return() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.state == 2 {
		return false
	}
	i.state = 1
	i.n++
	return true
}

func (i *item) Use() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.state == 1 {
		i.close(true)
	}
	i.count(true)
}

func (i *item) Close() { i.close(false) }

// The test is the wrong way round.
func (i *item) count(locked bool) {
	if !locked {
		i.n++ // want `item.n is written without i.mu`
		return
	}
	i.n += 2
}

func (i *item) Count() { i.count(false) }

func (i *item) Sum() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.n + i.state
}
