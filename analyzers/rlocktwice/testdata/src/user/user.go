// Package user locks by the methods of another package, and in closures.
package user

import "dep"

type List struct {
	mu    dep.Guard
	items []int
}

func (l *List) Len() int {
	l.mu.REnter()
	defer l.mu.RLeave()
	return len(l.items)
}

func (l *List) Add(v int) {
	l.mu.Enter()
	defer l.mu.Leave()
	l.items = append(l.items, v)
}

func (l *List) Upgrade(v int) {
	l.mu.REnter()
	defer l.mu.RLeave()
	func() { // want `is locked for writing by the goroutine that holds its read lock`
		l.Add(v)
	}()
}
