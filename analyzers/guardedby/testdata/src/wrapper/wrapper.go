// Package wrapper has a lock that can be switched off, and a map type with
// methods of its own.
package wrapper

import "sync"

type Switch struct {
	mu  sync.Mutex
	off bool
}

func (s *Switch) Lock() {
	if !s.off {
		s.mu.Lock()
	}
}

func (s *Switch) Unlock() {
	if !s.off {
		s.mu.Unlock()
	}
}

type Hooks map[int][]func()

func (h Hooks) Fire(n int) {
	for _, f := range h[n] {
		f()
	}
}

type Logger struct {
	mu    Switch
	Hooks Hooks
}

func (l *Logger) Replace(h Hooks) Hooks {
	l.mu.Lock()
	old := l.Hooks
	l.Hooks = h
	l.mu.Unlock()
	return old
}

func (l *Logger) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.Hooks)
}

func (l *Logger) Log(n int) {
	l.Hooks.Fire(n) // want `Logger.Hooks is read without l.mu`
}

// Early unlocks before its end on one way, and else when it returns.
type Early struct {
	mu   sync.Mutex
	next int
}

func (e *Early) Step(soon bool) {
	e.mu.Lock()
	done := false
	defer func() {
		if !done {
			e.mu.Unlock()
		}
	}()
	e.next = 1
	if soon {
		e.mu.Unlock()
		done = true
	}
}

func (e *Early) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next = 0
}

func (e *Early) Next() int {
	return e.next // want `Early.next is read without e.mu`
}
