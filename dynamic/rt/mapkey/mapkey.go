//go:build go1.24

// Package mapkey numbers the keys of maps.
package mapkey

import "hash/maphash"

var seed = maphash.MakeSeed()

// Of returns a number for a map key, the same for equal keys; 0 stands for the
// whole map. It panics for keys for which the map does.
func Of[K comparable](k K) uint64 { return maphash.Comparable(seed, k) | 1 }
