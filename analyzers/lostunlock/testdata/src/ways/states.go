package ways

import "sync"

type state int

const (
	idle state = iota
	running
	done
)

type task struct {
	mu    sync.Mutex
	state state
	n     int
}

// The cases are all constants of the type.
func (t *task) step() bool {
	t.mu.Lock()
	switch t.state {
	case idle:
		t.state = running
		t.mu.Unlock()
	case running:
		t.state = done
		t.mu.Unlock()
	case done:
		t.mu.Unlock()
		return false
	}
	return true
}

func (t *task) chain() bool {
	t.mu.Lock()
	if s := t.state; s == idle {
		t.mu.Unlock()
	} else if s == running || s == done {
		t.state = idle
		t.mu.Unlock()
	}
	return true
}

// One is left out.
func (t *task) stop() bool {
	t.mu.Lock()
	switch t.state {
	case idle:
		t.mu.Unlock()
	case running: // want `a way out leaves task.mu locked`
		t.state = done
		t.mu.Unlock()
	}
	return true
}

// A default case is there to be reached.
func (t *task) reset() int {
	t.mu.Lock()
	switch t.state {
	case idle, running, done:
		t.mu.Unlock()
	default:
		t.n++
		return t.n // want `a return leaves task.mu locked`
	}
	return 0
}
