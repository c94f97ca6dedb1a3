package scopes

import (
	"sync"
	"testing"
)

// A send under the lock that the receiver takes first.
type queue struct {
	mu    sync.Mutex
	tasks chan func()
	n     int
}

func newQueue() *queue {
	q := &queue{tasks: make(chan func())}
	go q.run()
	return q
}

func (q *queue) run() {
	for task := range q.tasks {
		q.mu.Lock()
		q.n++
		q.mu.Unlock()
		task()
	}
}

func (q *queue) add(task func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tasks <- task // want `IL3005: send of queue.tasks under queue.mu, which the other side needs`
}

func TestQueue(t *testing.T) {
	q := newQueue()
	q.add(func() {})
	q.add(func() {})
	close(q.tasks)
}

// Sent after the unlock.
type list struct {
	mu    sync.Mutex
	tasks chan func()
	n     int
}

func (l *list) run() {
	for task := range l.tasks {
		l.mu.Lock()
		l.n++
		l.mu.Unlock()
		task()
	}
}

func (l *list) add(task func()) {
	l.mu.Lock()
	l.n++
	l.mu.Unlock()
	l.tasks <- task
}

func TestList(t *testing.T) {
	l := &list{tasks: make(chan func())}
	go l.run()
	l.add(func() {})
	l.add(func() {})
	close(l.tasks)
}
