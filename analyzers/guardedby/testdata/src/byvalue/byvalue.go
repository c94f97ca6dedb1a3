// Package byvalue reaches shared objects through copies of structs.
package byvalue

import "sync"

type Logger struct {
	mu sync.Mutex
	on bool
}

func (l *Logger) Set(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = on
}

func (l *Logger) Toggle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = !l.on
}

func (l *Logger) Get() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.on
}

func (l *Logger) Is(on bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.on == on
}

func (l *Logger) Not() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.on
}

func (l *Logger) Off() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = false
}

type Entry struct {
	name string
	log  *Logger
}

// The entry is a copy, the logger is not.
func (e Entry) On() bool {
	return e.log.on // want `Logger.on is read without l.mu`
}

func (e Entry) OnRight() bool { return e.log.Get() }

type Book struct{ last Entry }

func (b *Book) LastOn() bool {
	e := b.last
	return e.log.on // want `Logger.on is read without l.mu`
}

// The copy has a logger of its own.
func (b *Book) Fresh() bool {
	e := b.last
	e.log = &Logger{}
	return e.log.on // ok
}

// All callers pass what they have made.
func (e Entry) check() bool {
	return e.log.on // ok
}

func Check() bool {
	e := Entry{"check", &Logger{}}
	return e.check()
}
