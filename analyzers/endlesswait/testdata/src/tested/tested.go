package tested

import (
	"os"
	"sync"
)

func Load() error {
	_, err := os.ReadFile("x")
	return err
}

// Calls counts those who are inside.
type Calls struct{ wg sync.WaitGroup }

func (c *Calls) Do(f func()) {
	c.wg.Add(1)
	defer c.wg.Done()
	f()
}

func (c *Calls) Wait() { c.wg.Wait() }

// Sender hands what is large to a goroutine.
type Sender struct {
	large chan []byte
	send  func([]byte)
}

func NewSender(send func([]byte)) *Sender {
	s := &Sender{make(chan []byte, 8), send}
	go func() {
		for b := range s.large {
			s.send(b)
		}
	}()
	return s
}

func (s *Sender) Send(b []byte) {
	if len(b) > 700 {
		s.large <- b
	}
}
