// Package cross has counters that another package accesses.
package cross

type Stats struct {
	Hits int64
	Size int64
	Max  int64
}
