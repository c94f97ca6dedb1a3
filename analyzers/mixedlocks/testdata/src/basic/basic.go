package basic

import "sync"

type FSM struct {
	state   sync.RWMutex
	event   sync.Mutex
	current string
	next    func()
	both    int
}

func (f *FSM) Event(next func()) {
	f.event.Lock()
	defer f.event.Unlock()
	f.state.RLock()
	defer f.state.RUnlock()
	if f.next != nil {
		return
	}
	f.next = next
}

func (f *FSM) Done() {
	f.event.Lock()
	defer f.event.Unlock()
	f.next = nil
}

func (f *FSM) Can() bool {
	f.state.RLock()
	defer f.state.RUnlock()
	return f.next == nil // want `FSM.next is read under f.state \(read\), but f.event guards it: .* 4 of 5 accesses`
}

func (f *FSM) Pending() bool {
	f.event.Lock()
	defer f.event.Unlock()
	return f.next != nil
}

func (f *FSM) Set(n int) {
	f.event.Lock()
	defer f.event.Unlock()
	f.state.Lock()
	defer f.state.Unlock()
	f.both = n
}

func (f *FSM) UnderEvent() int {
	f.event.Lock()
	defer f.event.Unlock()
	return f.both // ok: writers hold both
}

func (f *FSM) UnderState() int {
	f.state.RLock()
	defer f.state.RUnlock()
	return f.both // ok
}
