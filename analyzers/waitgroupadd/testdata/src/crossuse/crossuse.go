// Package crossuse raises another package's WaitGroup, in goroutines that
// another package starts.
package crossuse

import "cross"

func Start(s *cross.Server) { go loop(s) }

func loop(s *cross.Server) {
	s.Wg.Add(1) // want `Server.Wg is raised by the goroutine that it counts: loop runs in a goroutine of its own; Wait in Stop may come before`
	defer s.Wg.Done()
}

func Handed(s *cross.Server) {
	cross.Go(func() {
		println()
		s.Wg.Add(1) // want `Server.Wg is raised by the goroutine that it counts`
		defer s.Wg.Done()
	})
}

func Stop(s *cross.Server) {
	s.Wg.Wait()
	s.Ok.Wait()
}

func Right(s *cross.Server) { // ok: counted before
	s.Wg.Add(1)
	cross.Go(func() { s.Wg.Done() })
	s.Counted(func() {
		s.Ok.Add(1) // ok: under a count
		go s.Ok.Done()
	})
}
