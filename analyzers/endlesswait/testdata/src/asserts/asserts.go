// Package asserts has assertions that hold, and one that may not.
package asserts

import "io"

type Stream interface {
	io.Reader
	io.Seeker
}

type stream struct {
	in   io.Reader
	next chan []byte
	done chan bool
}

type seekable struct{ *stream }

func (s *stream) Read(p []byte) (int, error) {
	select {
	case next := <-s.next:
		return copy(p, next), nil
	case <-s.done:
		return 0, io.EOF
	}
}

func (s *stream) Close() error {
	close(s.done)
	return nil
}

func (s seekable) Seek(int64, int) (int64, error) { return 0, nil }

// start returns a stream, whose goroutine ends when it is closed.
func start(r io.Reader) io.Reader {
	s := &stream{r, make(chan []byte), make(chan bool)}
	go func() {
		for {
			p := make([]byte, 10)
			s.in.Read(p)
			select {
			case s.next <- p: // ok: who has the stream closes it
			case <-s.done:
				return
			}
		}
	}()
	if _, ok := r.(io.Seeker); ok {
		return seekable{s}
	}
	return s
}

// Sure knows that the stream seeks.
func Sure(r Stream) Stream {
	s, _ := start(r).(Stream)
	return s
}

// Declared asks what the type of its argument says.
func Declared(r Stream) {
	done := make(chan bool)
	go func() {
		done <- true // ok
	}()
	if _, ok := r.(io.Seeker); !ok {
		return
	}
	<-done
}

// Asked may return early.
func Asked(r io.Reader) {
	done := make(chan bool)
	go func() {
		done <- true // want `IL4003: send of done may wait for ever`
	}()
	if _, ok := r.(io.Seeker); !ok {
		return
	}
	<-done
}
