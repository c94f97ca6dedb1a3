package testuseclosed

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestSend(t *testing.T) {
	for range 20 {
		var m Mailbox
		var sent atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for m.Send("x") && sent.Add(1) < 200 {
				}
			})
		}
		read := 0
		wg.Go(func() {
			for sent.Load() == 0 {
			}
			read = len(m.Close())
		})
		wg.Wait()
		if int(sent.Load()) != read {
			t.Errorf("%d letters sent, %d read", sent.Load(), read)
		}
	}
}
