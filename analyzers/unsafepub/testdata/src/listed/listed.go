// Package listed puts objects where others find them.
package listed

import "sync"

type Timers struct {
	mu     sync.Mutex
	timers []*Timer
	byName map[string]*Timer
	last   *Timer
}

type Timer struct {
	fn    func()
	name  string
	n     int
	owner int
}

func (s *Timers) After(f func()) *Timer {
	t := &Timer{}
	s.mu.Lock()
	s.timers = append(s.timers, t)
	s.mu.Unlock()
	t.fn = f // want `Timer.fn is written after its object was put where others find it`
	return t
}

func (s *Timers) Run() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.timers {
		if t.fn != nil {
			go t.fn()
		}
	}
}

func (s *Timers) Named(name string) {
	t := new(Timer)
	s.mu.Lock()
	s.byName[name] = t
	s.mu.Unlock()
	t.name = name // want `Timer.name is written after its object was put where others find it`
}

func (s *Timers) Rename(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byName[from].rename(to)
}

func (t *Timer) rename(to string) { t.name = to }

// The other order is right.
func (s *Timers) AfterRight(f func()) {
	t := &Timer{}
	t.fn = f // ok: nobody finds it yet
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timers = append(s.timers, t)
	t.n = 1 // ok: under the lock
}

// Each round has an object of its own.
func (s *Timers) All(list []func()) {
	for _, f := range list {
		t := &Timer{}
		t.fn = f // ok
		s.mu.Lock()
		s.timers = append(s.timers, t)
		s.mu.Unlock()
	}
}

// Nobody else looks at the owner's number.
func (s *Timers) Own(n int) int {
	t := &Timer{}
	s.mu.Lock()
	s.timers = append(s.timers, t)
	s.mu.Unlock()
	t.owner = n // ok
	return t.owner
}

func (s *Timers) Sum() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.timers {
		n += t.n
	}
	return n
}

// Jobs is guarded again for the second step.
type Jobs struct {
	mu   sync.Mutex
	jobs map[int]*Job
}

type Job struct{ state int }

func (j *Jobs) Add(n int) {
	job := &Job{}
	j.mu.Lock()
	j.jobs[n] = job
	j.mu.Unlock()
	j.mu.Lock()
	job.state = 1 // ok: under the lock
	j.mu.Unlock()
}

func (j *Jobs) State(n int) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.jobs[n].state
}

// Local puts its objects where nobody else looks.
func Local() int {
	var j Jobs
	j.jobs = map[int]*Job{}
	job := &Job{}
	j.mu.Lock()
	j.jobs[1] = job
	j.mu.Unlock()
	job.state = 2 // ok
	return j.State(1)
}
