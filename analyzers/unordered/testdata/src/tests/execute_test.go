package tests

import "testing"

type executor struct {
	cancel func()
	work   func()
}

func (e *executor) Execute() { e.work() }

// The goroutine awaits the work, which comes behind the assignment.
func TestExecute(t *testing.T) {
	e, started, cancelled := &executor{}, make(chan bool), make(chan bool)
	e.work = func() {
		close(started)
		<-cancelled
	}
	go func() {
		<-started
		e.cancel() // ok: it has been assigned by then
		close(cancelled)
	}()
	e.cancel = func() {}
	run(e)
}

var run = (*executor).Execute

// The starter has closed the channel before.
func TestExecuteLate(t *testing.T) {
	e, started, cancelled := &executor{}, make(chan bool), make(chan bool)
	go func() {
		<-started
		e.cancel() // want `executor.cancel is accessed by two goroutines that nothing orders`
		close(cancelled)
	}()
	close(started)
	e.cancel = func() {}
	<-cancelled
}
