// Package waitgroupadd reports goroutines that count themselves in a WaitGroup.
//
// waitgroupadd: WaitGroup.Add by the goroutine that it counts (IL4001)
//
// WRONG: Wait may run before the goroutine has called Add. It then finds
// nothing to wait for, and the goroutine runs on after it.
//
//	func (s *Server) Start() { go s.loop() }
//
//	func (s *Server) loop() {
//		s.wg.Add(1)
//		defer s.wg.Done()
//		…
//	}
//
//	func (s *Server) Stop() { s.quit(); s.wg.Wait() }
//
// RIGHT: the function that starts the goroutine counts it, before.
//
//	func (s *Server) Start() {
//		s.wg.Add(1)
//		go s.loop()
//	}
//
// go vet reports an Add that is the first statement of a literal at the go
// statement; here are the others: in functions and methods, and further down.
// Nothing is reported where the starting function calls Add as well, or runs
// under a count itself.
//
// A goroutine that begins with Wait, and is started before the first Add, is
// reported too:
//
//	go func() { wg.Wait(); close(results) }()
//	for _, f := range work { wg.Add(1); go f() }
//
// A goroutine that counts itself is a lead where its starter waits for something else behind the go statement, or the
// function of the Wait before it: that may be a signal which it sends once it is counted.
//
// An Add that an exported function always makes is a lead where another one, which ends the object's service, waits,
// no lock keeps the two apart, and the object has a lock, so that several goroutines are meant to use it:
//
//	func (j *Jobs) Go(f func()) { j.wg.Add(1); go j.run(f) }
//	func (j *Jobs) Close()      { j.wg.Wait() }
//
// Missed: Add in functions that the goroutine calls, and Add behind a test while Wait may run. Reported falsely:
// programs that know by other means that the goroutine has started before they wait.
//
// Cost: linear in the operations, but the square of those on one WaitGroup.
package waitgroupadd
