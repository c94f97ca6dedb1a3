package queue

import (
	"sync"
	"testing"
)

func TestWork(t *testing.T) {
	for range 100 {
		q := new(Queue)
		for i := range 5 {
			q.Put(i)
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				q.Work(func(int) {})
			}()
		}
		wg.Wait()
	}
}
