//go:build go1.24

package rt

import "hash/maphash"

var keySeed = maphash.MakeSeed()

// keyOf returns a number for a map key, the same for equal keys; 0 stands for the
// whole map. It panics for keys for which the map does.
func keyOf[K comparable](k K) uint64 { return maphash.Comparable(keySeed, k) | 1 }
