package loops

import "testing"

type waiters map[int]chan bool

// A range reaches every entry, whatever is deleted on the way.
func (w waiters) releaseAll() {
	for k, c := range w {
		close(c)
		delete(w, k)
	}
}

// An entry that is deleted before it is reached does not come.
func (w waiters) releaseOne() {
	for k, c := range w {
		close(c)
		delete(w, 1)
		delete(w, 2)
		_ = k
	}
}

func TestReleaseAll(t *testing.T) {
	a, b := make(chan bool), make(chan bool)
	w := waiters{1: a, 2: b}
	go w.releaseAll()
	<-a
	<-b
}

func TestReleaseOne(t *testing.T) {
	a, b := make(chan bool), make(chan bool)
	w := waiters{1: a, 2: b}
	go w.releaseOne()
	<-a
	<-b // want `receive of b may wait for ever`
}
