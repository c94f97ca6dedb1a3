// Package closerace reports channels that may be closed twice, or be sent on
// when they are closed: both panic.
//
// closerace: send or close racing close (IL4002)
//
// WRONG: two goroutines may both find the channel open, and both close it.
//
//	func (s *Server) Stop() {
//		select {
//		case <-s.done:
//		default:
//			close(s.done)
//		}
//	}
//
// RIGHT: one of them closes it.
//
//	func (s *Server) Stop() { s.once.Do(func() { close(s.done) }) }
//
// WRONG: Send may run while Close does, and a send on a closed channel panics.
//
//	type Queue struct {
//		mu    sync.Mutex
//		items chan int
//		…
//	}
//
//	func (q *Queue) Send(v int) { q.items <- v }
//	func (q *Queue) Close()     { close(q.items) }
//
// RIGHT: a lock, and a flag under it, or a channel of its own that says stop.
//
//	func (q *Queue) Send(v int) {
//		select {
//		case q.items <- v:
//		case <-q.stop:
//		}
//	}
//	func (q *Queue) Close() { q.once.Do(func() { close(q.stop) }) }
//
// Only exported functions and methods are judged, which any goroutine may call, and only where neither
// holds a lock and the sender tests nothing before it sends. A send is judged only for types that have a
// lock, and are thus meant for several goroutines.
//
// Missed: everything with a protocol, right or wrong. Reported falsely: types that require their users to call
// Close last, and are used so.
//
// Cost: linear in the operations, but the square of those on one channel.
package closerace
