package ignored

import "sync"

type T struct {
	mu sync.Mutex
	n  int
}

func (t *T) A() { t.mu.Lock(); t.n++; t.mu.Unlock() }
func (t *T) B() { t.mu.Lock(); t.n--; t.mu.Unlock() }
func (t *T) D() { t.mu.Lock(); t.n++; t.n *= 2; t.n *= 2; t.mu.Unlock() }
func (t *T) C() { t.mu.Lock(); t.n = 0; t.mu.Unlock() }

func (t *T) Line() int { return t.n } //interlock:ignore IL1001 a stale value will do

func (t *T) Above() int {
	//interlock:ignore IL1001 a stale value will do
	return t.n
}

func (t *T) Other() int {
	//interlock:ignore IL2001 another code does not count
	return t.n // want `T.n is read without t.mu`
}
