// Package testuseexpired has an entry that is found expired, and removed after it may have been replaced. IL2002.
package testuseexpired

import "sync"

// Lease ends at a time.
type Lease struct{ Ends int }

// Leases are leases by name.
type Leases struct {
	mu     sync.RWMutex
	byName map[string]*Lease
}

// New makes an empty set.
func New() *Leases { return &Leases{byName: map[string]*Lease{}} }

// Renew returns a new lease.
func (l *Leases) Renew(name string, ends int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byName[name] = &Lease{ends}
}

// Valid reports whether there is a lease at the time, and forgets one that has ended.
func (l *Leases) Valid(name string, now int) bool {
	l.mu.RLock()
	lease := l.byName[name] // want IL2002 entry
	l.mu.RUnlock()
	if lease == nil {
		return false
	}
	if lease.Ends >= now {
		return true
	}
	l.mu.Lock()
	delete(l.byName, name) // want IL2002 end
	l.mu.Unlock()
	return false
}
