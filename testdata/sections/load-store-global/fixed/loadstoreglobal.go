// Package loadstoreglobal has it mended: one critical section.
package loadstoreglobal

import "sync"

var (
	mu   sync.Mutex
	next int
)

// Reserve takes n numbers and gives the first.
func Reserve(n int) int {
	mu.Lock()
	defer mu.Unlock()
	first := next
	next = first + n
	return first
}
