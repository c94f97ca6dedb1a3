package groups

import "sync"

// An error leaves before Done.
func doneMissed(items []int, f func(int) error) {
	var wg sync.WaitGroup
	for _, i := range items {
		wg.Add(1)
		go func() {
			if err := f(i); err != nil {
				return
			}
			wg.Done()
		}()
	}
	wg.Wait() // want `IL4003: wait of wg may wait for ever: .* nothing ends this wait`
}

func doneDeferred(items []int, f func(int) error) {
	var wg sync.WaitGroup
	for _, i := range items {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := f(i); err != nil {
				return
			}
		}()
	}
	wg.Wait()
}

// Of several items one is skipped, but counted.
func skipped(items []string, f func(string)) {
	var wg sync.WaitGroup
	wg.Add(len(items))
	for _, i := range items {
		if i == "" {
			continue
		}
		go func() {
			defer wg.Done()
			f(i)
		}()
	}
	wg.Wait() // want `IL4003`
}

// Two are counted, one is started.
func addTwo(f func()) {
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		f()
	}()
	wg.Wait() // want `IL4003`
}

// The results are received only when all workers are done.
func waitsBeforeReceiving(items []int, f func(int) int) (sum int) {
	ch := make(chan int)
	var wg sync.WaitGroup
	for _, i := range items {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ch <- f(i) // want `IL4003`
		}()
	}
	wg.Wait()
	close(ch)
	for v := range ch {
		sum += v
	}
	return sum
}

func closesBehind(items []int, f func(int) int) (sum int) {
	ch := make(chan int)
	var wg sync.WaitGroup
	for _, i := range items {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ch <- f(i)
		}()
	}
	go func() {
		wg.Wait()
		close(ch)
	}()
	for v := range ch {
		sum += v
	}
	return sum
}

// The WaitGroup is handed to a method.
type job struct{ f func() error }

func (j *job) run(wg *sync.WaitGroup) {
	if j.f() != nil {
		return
	}
	wg.Done()
}

func (j *job) runDeferred(wg *sync.WaitGroup) {
	defer wg.Done()
	if j.f() != nil {
		return
	}
}

func runBoth(a, b *job) {
	var wg sync.WaitGroup
	wg.Add(2)
	go a.run(&wg)
	go b.run(&wg)
	wg.Wait() // want `IL4003`
}

func runBothDeferred(a, b *job) {
	var wg sync.WaitGroup
	wg.Add(2)
	go a.runDeferred(&wg)
	go b.runDeferred(&wg)
	wg.Wait()
}

// The method Go counts for itself.
func counted(f func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Go(f)
	wg.Wait()
}

// A copy of the WaitGroup of an object from outside: others count it down.
type server struct{ wg sync.WaitGroup }

func (s *server) stop() { s.wg.Wait() }

// A panic is recovered, and Done is not reached.
func recovered(f func() bool) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer func() { recover() }()
		if f() {
			panic("f")
		}
		wg.Done()
	}()
	wg.Wait() // want `IL4003`
}

// As many are counted as the loop starts, by the difference of its bounds: a lead is not printed.
func rest(from, to int, work func(int) error) error {
	n := to - from
	if n < 0 {
		from, n = 0, to
	}
	failed := make(chan error, n)
	var wg sync.WaitGroup
	wg.Add(n)
	for i := from; i < to; i++ {
		go func() {
			defer wg.Done()
			failed <- work(i)
		}()
	}
	go func() {
		wg.Wait()
		close(failed)
	}()
	for err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}
