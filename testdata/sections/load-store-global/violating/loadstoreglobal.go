// Package loadstoreglobal has a package variable whose lock is released between load and store. IL2001.
package loadstoreglobal

import "sync"

var (
	mu   sync.Mutex
	next int
)

// Reserve takes n numbers and gives the first.
func Reserve(n int) int {
	mu.Lock()
	first := next // want IL2001 entry
	mu.Unlock()
	last := first + n
	mu.Lock()
	next = last // want IL2001 end
	mu.Unlock()
	return first
}
