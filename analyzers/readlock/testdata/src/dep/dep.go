// Package dep has a lock of its own make, for other packages to use.
package dep

import "sync"

type Guard struct{ mu sync.RWMutex }

func (g *Guard) Enter()  { g.mu.Lock() }
func (g *Guard) Leave()  { g.mu.Unlock() }
func (g *Guard) REnter() { g.mu.RLock() }
func (g *Guard) RLeave() { g.mu.RUnlock() }
