package main

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// guard returns a locker: one that does nothing for the racy program.
func guard(racy bool) sync.Locker {
	if racy {
		return nothing{}
	}
	return new(sync.Mutex)
}

type nothing struct{}

func (nothing) Lock()   {}
func (nothing) Unlock() {}

type config struct {
	limit, burst int
	name, zone   string
	hosts        []string
}

type node struct {
	next *node
	n    int
}

var sink atomic.Int64

var programs = []program{
	{"counter", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ hits, misses int })
		return []func(int){func(n int) { mu.Lock(); s.hits++; mu.Unlock() }}
	}},
	{"pointer", func(racy bool) []func(int) {
		mu := guard(racy)
		s := &struct{ current *config }{new(config)}
		return []func(int){
			func(n int) { c := &config{limit: n}; mu.Lock(); s.current = c; mu.Unlock() },
			func(n int) { mu.Lock(); c := s.current; mu.Unlock(); sink.Add(int64(c.limit)) },
		}
	}},
	{"lazy", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ cached *config })
		return []func(int){func(n int) {
			mu.Lock()
			if s.cached == nil {
				s.cached = &config{limit: n}
			}
			c := s.cached
			if n%8 == 0 {
				s.cached = nil
			}
			mu.Unlock()
			if c != nil {
				sink.Add(1)
			}
		}}
	}},
	{"readlock", func(racy bool) []func(int) {
		var mu sync.RWMutex
		s := new(struct{ lookups int })
		return []func(int){func(n int) {
			if racy {
				mu.RLock()
				s.lookups++
				mu.RUnlock()
			} else {
				mu.Lock()
				s.lookups++
				mu.Unlock()
			}
		}}
	}},
	{"seen", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ seen time.Time })
		return []func(int){
			func(n int) { t := time.Now(); mu.Lock(); s.seen = t; mu.Unlock() },
			func(n int) { mu.Lock(); t := s.seen; mu.Unlock(); sink.Add(int64(t.Nanosecond())) },
		}
	}},
	{"flag", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ draining bool })
		return []func(int){
			func(n int) { mu.Lock(); s.draining = n%3 == 0; mu.Unlock() },
			func(n int) {
				mu.Lock()
				d := s.draining
				mu.Unlock()
				if d {
					sink.Add(1)
				}
			},
		}
	}},
	{"append", func(racy bool) []func(int) {
		mu := guard(racy)
		s := &struct{ conns []int }{make([]int, 0, 1024)}
		return []func(int){func(n int) {
			mu.Lock()
			if c := s.conns; len(c) < cap(c) {
				s.conns = append(c, n)
			} else {
				s.conns = c[:0]
			}
			mu.Unlock()
		}}
	}},
	{"balance", func(racy bool) []func(int) {
		deposit, withdraw := guard(false), guard(racy)
		if !racy {
			withdraw = deposit
		}
		s := new(struct{ balance int64 })
		return []func(int){
			func(n int) { deposit.Lock(); s.balance += int64(n); deposit.Unlock() },
			func(n int) {
				withdraw.Lock()
				if s.balance > 10 {
					s.balance -= 10
				}
				withdraw.Unlock()
			},
		}
	}},
	{"ring", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct {
			head int
			ring [256]int
		})
		return []func(int){func(n int) { mu.Lock(); s.ring[s.head&255] = n; s.head++; mu.Unlock() }}
	}},
	{"status", func(racy bool) []func(int) {
		mu := guard(racy)
		s := &struct{ status string }{"starting"}
		names := []string{"up", "degraded", "down"}
		return []func(int){
			func(n int) { mu.Lock(); s.status = names[n%3]; mu.Unlock() },
			func(n int) { mu.Lock(); l := len(s.status); mu.Unlock(); sink.Add(int64(l)) },
		}
	}},
	{"lasterror", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ err error })
		errs := []error{nil, errors.New("closed"), errors.New("timeout")}
		return []func(int){
			func(n int) { mu.Lock(); s.err = errs[n%3]; mu.Unlock() },
			func(n int) {
				mu.Lock()
				bad := s.err != nil
				mu.Unlock()
				if bad {
					sink.Add(1)
				}
			},
		}
	}},
	{"mixed", func(racy bool) []func(int) {
		s := new(struct{ bytes int64 })
		return []func(int){
			func(n int) { atomic.AddInt64(&s.bytes, int64(n)) },
			func(n int) {
				if racy {
					sink.Add(s.bytes)
				} else {
					sink.Add(atomic.LoadInt64(&s.bytes))
				}
			},
		}
	}},
	{"captured", func(racy bool) []func(int) {
		mu := guard(racy)
		var failed, tried int
		return []func(int){
			func(n int) { mu.Lock(); failed = n; tried++; mu.Unlock() },
			func(n int) { mu.Lock(); f := failed; mu.Unlock(); sink.Add(int64(f)) },
		}
	}},
	{"tokens", func(racy bool) []func(int) {
		mu := guard(racy)
		s := &struct{ tokens float64 }{100}
		return []func(int){
			func(n int) { mu.Lock(); s.tokens += 1.5; mu.Unlock() },
			func(n int) {
				mu.Lock()
				if s.tokens >= 1 {
					s.tokens--
				}
				mu.Unlock()
			},
		}
	}},
	{"clock", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ now int64 })
		read := func(n int) { mu.Lock(); t := s.now; mu.Unlock(); sink.Add(t) }
		return []func(int){func(n int) { t := time.Now().UnixNano(); mu.Lock(); s.now = t; mu.Unlock() }, read, read, read}
	}},
	{"histogram", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ buckets [16]uint64 })
		return []func(int){func(n int) { mu.Lock(); s.buckets[n%3]++; mu.Unlock() }}
	}},
	{"message", func(racy bool) []func(int) {
		pipe := make(chan *config, 16)
		return []func(int){
			func(n int) {
				m := &config{limit: n}
				if !racy {
					m.burst = n
				}
				pipe <- m
				for i := 0; racy && i < 50; i++ {
					m.burst += i
				}
			},
			func(n int) {
				select {
				case m := <-pipe:
					for range 50 {
						sink.Add(int64(m.burst))
					}
				case <-time.After(time.Millisecond): // the others may have ended
				}
			},
		}
	}},
	{"twolocks", func(racy bool) []func(int) {
		a, b := guard(false), guard(false)
		if !racy {
			b = a
		}
		s := new(struct{ size int })
		return []func(int){
			func(n int) { a.Lock(); s.size += n; a.Unlock() },
			func(n int) { b.Lock(); s.size -= n; b.Unlock() },
		}
	}},
	{"reload", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ config })
		fresh := config{limit: 1, burst: 2, name: "a", zone: "b"}
		return []func(int){
			func(n int) { c := fresh; c.limit = n; mu.Lock(); s.config = c; mu.Unlock() },
			func(n int) { mu.Lock(); v := s.limit + s.burst; mu.Unlock(); sink.Add(int64(v)) },
		}
	}},
	{"list", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ head *node })
		return []func(int){
			func(n int) { e := &node{n: n}; mu.Lock(); e.next = s.head; s.head = e; mu.Unlock() },
			func(n int) { mu.Lock(); s.head = nil; mu.Unlock() },
		}
	}},
	{"shutdown", func(racy bool) []func(int) {
		mu := guard(racy)
		s := new(struct{ open, closed int32 })
		return []func(int){
			func(n int) { mu.Lock(); s.open++; mu.Unlock() },
			func(n int) { mu.Lock(); s.open--; s.closed++; mu.Unlock() },
		}
	}},
}
