// Package waited: goroutines that are waited for before another one is started, and goroutines that are not.
package waited

import "sync"

type part struct{ n int }

type Patient struct {
	parts []*part
	in    chan int
}

func Open(parts []*part) *Patient {
	s := &Patient{parts: parts, in: make(chan int)}
	s.loadAll()
	go s.run()
	return s
}

func (s *Patient) loadAll() {
	s.each(func(p *part) { s.load(p) })
}

func (s *Patient) load(p *part) {
	p.n += 2 // ok: each has waited before run begins
}

func (s *Patient) each(f func(*part)) {
	var wg sync.WaitGroup
	for _, p := range s.parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f(p)
		}()
	}
	wg.Wait()
}

func (s *Patient) run() {
	for n := range s.in {
		s.push(s.parts[0], n)
	}
}

func (s *Patient) push(p *part, n int) {
	p.n += n // ok
}

type record struct{ n int }

type Hasty struct {
	records []*record
	in      chan int
}

func OpenHasty(records []*record) *Hasty {
	s := &Hasty{records: records, in: make(chan int)}
	s.fillAll()
	go s.run()
	return s
}

func (s *Hasty) fillAll() {
	s.each(func(r *record) { s.fill(r) })
}

func (s *Hasty) fill(r *record) {
	r.n += 2 // one finding for the two
}

func (s *Hasty) each(f func(*record)) {
	for _, r := range s.records {
		go func() { f(r) }()
	}
}

func (s *Hasty) run() {
	for n := range s.in {
		s.push(s.records[0], n)
	}
}

func (s *Hasty) push(r *record, n int) {
	r.n += n // want `update of record.n is not one step`
}
