// Package declaredcomment has two reads that a comment declares to be one step. IL2003.
package declaredcomment

import "sync"

// Clock is the time of day in minutes, set as a whole.
type Clock struct {
	mu      sync.Mutex
	minutes int
}

// Set sets it.
func (c *Clock) Set(hours, minutes int) {
	c.mu.Lock()
	c.minutes = 60*hours + minutes
	c.mu.Unlock()
}

func (c *Clock) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.minutes
}

// Read gives hours and minutes.
//
//interlock:atomic hours and minutes are of one time
func (c *Clock) Read() (hours, minutes int) {
	hours = c.now() / 60   // want IL2003 entry, dynamic only
	minutes = c.now() % 60 // want IL2003 end, dynamic only
	return hours, minutes
}
