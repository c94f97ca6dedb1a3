// Package unsafepub reports fields that are set when others can already reach
// their object, and nothing orders the two.
//
// unsafepub: field written after its object was shared (IL1007)
//
// WRONG: the goroutine makes the channel; Stop may run before it does, and
// then waits for ever on a nil channel.
//
//	func Start() *Worker {
//		w := &Worker{}
//		go w.run()
//		return w
//	}
//
//	func (w *Worker) run() {
//		w.stop = make(chan bool)
//		…
//	}
//
//	func (w *Worker) Stop() { w.stop <- true }
//
// RIGHT: the object is complete before anyone else sees it.
//
//	func Start() *Worker {
//		w := &Worker{stop: make(chan bool)}
//		go w.run()
//		return w
//	}
//
// So is the maker's write behind the unlock, where others find the object in a list, map or field under that lock:
//
//	s.mu.Lock()
//	s.timers = append(s.timers, t)
//	s.mu.Unlock()
//	t.fn = f
//
// Two related patterns are also reported. Lazy initialisation without a lock, in a type
// that has locks or other means of synchronisation and an exported method
// that does it; sync.Once is right there:
//
//	if c.name == "" { c.name = newName() }
//
// (Two goroutines that each make an object of their own, such as a client or a
// map, are IL2002.)
//
// And a plain flag by which exported methods decide whether to start a
// goroutine or to talk to it:
//
//	func (c *Cron) Start() { if !c.running { c.running = true; go c.run() } }
//	func (c *Cron) Add(e Entry) { if c.running { c.add <- e } … }
//
// Missed: objects published by atomic stores or by a callee, and writes of started goroutines other than new
// channels, maps, slices and objects. Reported falsely: methods that their users call one after another,
// whatever the type's other locks say.
//
// Cost: linear in the accesses, but the square of those of a variable that is written late.
package unsafepub
