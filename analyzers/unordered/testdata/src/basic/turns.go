package basic

// A channel with room for one message is a lock where all who use it both send and receive.
type limiter struct {
	sem, wide, early, sent chan struct{}
	n, m, k, o, p          int
}

func newLimiter() *limiter {
	return &limiter{
		sem: make(chan struct{}, 1), wide: make(chan struct{}, 2), early: make(chan struct{}, 1),
		sent: make(chan struct{}, 1),
	}
}

func (l *limiter) do(f func())  { l.sem <- struct{}{}; defer func() { <-l.sem }(); f() }
func (l *limiter) two(f func()) { l.wide <- struct{}{}; defer func() { <-l.wide }(); f() }

func Limited() {
	l := newLimiter()
	for range 4 {
		go func() { l.do(func() { l.n++ }) }()
		go func() { l.two(func() { l.m++ }) }() // want `limiter.m is accessed by two goroutines that nothing orders`
		go func() {
			l.early <- struct{}{}
			<-l.early
			l.k++ // want `limiter.k is accessed by two goroutines that nothing orders`
		}()
		go func() {
			l.sent <- struct{}{} // nobody receives
			l.p++                // want `limiter.p is accessed by two goroutines that nothing orders`
		}()
	}
}

func OneSide() {
	l := newLimiter()
	go func() {
		l.sem <- struct{}{}
		l.o++ // want `limiter.o is accessed by two goroutines that nothing orders`
		<-l.sem
	}()
	go func() { l.o++ }()
}
