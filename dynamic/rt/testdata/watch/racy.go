package main

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"interlock.invalid/rt"
)

var (
	x      int
	ready  bool
	config *struct{ a, b int }
)

// both runs f and g in two goroutines.
func both(f, g func()) {
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); f() }()
	go func() { defer wg.Done(); g() }()
	wg.Wait()
}

func busy(d time.Duration) {
	for t := time.Now(); time.Since(t) < d; {
	}
}

func init() {
	programs["raceCounter"] = func() {
		c := new(struct{ n int })
		count := func() {
			for i := 0; i < 2000; i++ {
				*rt.W(&c.n, 1)++
			}
		}
		both(count, count)
	}

	programs["raceColdWriteRead"] = func() {
		done := make(chan bool)
		go func() { *rt.W(&x, 1) = 1; close(done) }()
		_ = *rt.R(&x, 2)
		<-done
	}

	programs["raceColdApart"] = func() {
		both(
			func() { *rt.W(&x, 1) = 1 },
			func() { busy(300 * time.Microsecond); _ = *rt.R(&x, 2) })
	}

	programs["raceFlag"] = func() {
		go func() { *rt.W(&ready, 1) = true }()
		for i := 0; !*rt.R(&ready, 2) && i < 1000; i++ {
			time.Sleep(10 * time.Microsecond)
		}
	}

	programs["raceMap"] = func() {
		m := map[int]int{1: 1}
		keep = m
		both(
			func() { rt.MW(m, 1)[2] = 3 },
			func() { _ = rt.MR(m, 2)[1] })
	}

	programs["raceSendClose"] = func() {
		ch := make(chan int, 1000)
		recovered := func(f func()) func() {
			return func() { defer func() { recover() }(); f() }
		}
		both(
			recovered(func() {
				for range 200 {
					rt.CR(ch, 1) <- 1
				}
			}),
			recovered(func() { busy(50 * time.Microsecond); close(rt.CW(ch, 2)) }))
	}

	programs["raceAddWait"] = func() {
		wg := new(sync.WaitGroup)
		both(
			func() { rt.GAW(wg, 1).Add(1); wg.Done() },
			func() { rt.GR(wg, 2).Wait() })
	}

	programs["raceCaptured"] = func() {
		n := 0
		add := func() { *rt.W(&n, 1)++ }
		both(add, add)
		_ = *rt.R(&n, 2)
	}

	programs["racePublication"] = func() {
		done := make(chan bool)
		go func() {
			*rt.W(&config, 1) = &struct{ a, b int }{1, 2}
			close(done)
		}()
		for i := 0; i < 100; i++ {
			if *rt.R(&config, 2) != nil {
				break
			}
		}
		<-done
	}

	programs["raceLockedWriter"] = func() {
		var mu sync.Mutex
		both(
			func() {
				for i := 0; i < 50; i++ {
					mu.Lock()
					*rt.W(&x, 1)++
					mu.Unlock()
				}
			},
			func() { _ = *rt.R(&x, 2) })
	}

	// A whole struct is read while one of its fields is written.
	programs["raceOverlap"] = func() {
		s := new(struct{ a, b, c int })
		both(
			func() { *rt.W(&s.c, 1) = 1 },
			func() { t := *rt.R(s, 2); x = t.a })
	}

	programs["raceAtomicPlain"] = func() {
		n := new(int64)
		keep = n
		both(
			func() { atomic.AddInt64(rt.AW(n, 1), 1) },
			func() { *rt.W(n, 2) = 0 })
	}

	// A whole slice is copied while one of its elements is written.
	programs["raceSliceCopy"] = func() {
		s := make([]int, 1000)
		keep = s
		both(
			func() { *rt.W(&s[700], 1) = 1 },
			func() { copy(make([]int, 1000), rt.RS(s, 2)) })
	}

	programs["raceClear"] = func() {
		s := make([]int, 100)
		keep = s
		both(
			func() { clear(rt.WS(s[:50], 1)) },
			func() { copy(s[60:], rt.RS(s[10:20], 2)) })
	}

	// An append that has to grow reads what there is.
	programs["raceAppendGrows"] = func() {
		s := make([]int, 10)
		keep = s
		both(
			func() { *rt.W(&s[5], 1) = 1 },
			func() { s := append(rt.WA(s, 1, 2), 1); x = s[0] })
	}

	programs["raceAppendInPlace"] = func() {
		s := make([]int, 10, 20)
		keep = s
		grow := func() { _ = append(rt.WA(s, 1, 1), 1) }
		both(grow, grow)
	}

	// Two goroutines race while 100,000 others wait.
	programs["raceAmongMany"] = func() {
		stop := make(chan bool)
		var wg sync.WaitGroup
		for i := 0; i < 100_000; i++ {
			wg.Add(1)
			go func() { defer wg.Done(); <-stop }()
		}
		both(
			func() { *rt.W(&x, 1) = 1 },
			func() { _ = *rt.R(&x, 2) })
		close(stop)
		wg.Wait()
	}

	// The race comes late and once, beside a loop that keeps the filter closed
	// for its own variable. The program goes on until its standard input ends.
	programs["raceLate"] = func() {
		hot := new([16]int)
		keep = hot
		stop, stopped := make(chan bool), make(chan bool)
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				for i := 0; i < 1000; i++ {
					*rt.W(&hot[0], 10)++
				}
			}
		}()
		busy(50 * time.Millisecond)
		s := new([16]int)
		both(
			func() { *rt.W(&s[8], 1) = 1 },
			func() { x = *rt.R(&s[8], 2) })
		io.Copy(io.Discard, os.Stdin)
		close(stop)
		<-stopped
	}
}
