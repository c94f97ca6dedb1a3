// Package declaredcomment has it mended: one read.
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
func (c *Clock) Read() (hours, minutes int) {
	now := c.now()
	return now / 60, now % 60
}
