package atomics

import "sync/atomic"

type meter struct {
	n, peak, state, gauge atomic.Int64
}

func (m *meter) mark(n int64) {
	m.n.Add(n)
	m.peak.Add(n)
	m.state.Add(n)
	m.gauge.Store(n)
}

func (m *meter) Reset() int64 {
	n := m.n.Load()
	m.n.Store(0) // want `update of meter.n is not one step: .*Reset loads and stores it with two atomic operations`
	return n
}

func (m *meter) Peak() int64 {
	return m.peak.Swap(0) // ok
}

func (m *meter) Clear() {
	if m.state.Load() > 9 {
		m.state.Store(0) // ok: nothing is made of what was there
	}
}

func (m *meter) Last() int64 {
	n := m.gauge.Load()
	m.gauge.Store(0) // ok: nobody adds to it
	return n
}

func RunMeter() {
	m := new(meter)
	for range 3 {
		go m.mark(1)
	}
	for range 3 {
		go m.Reset()
		go m.Peak()
		go m.Clear()
		go m.Last()
	}
}
