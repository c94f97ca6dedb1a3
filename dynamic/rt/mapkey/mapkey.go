//go:build go1.24

// Package mapkey numbers the keys of maps.
package mapkey

import "hash/maphash"

var seed = maphash.MakeSeed()

// Of returns a number for a map key, the same for equal keys; 0 stands for the
// whole map. It panics for keys for which the map does.
func Of[K comparable](k K) uint64 { return maphash.Comparable(seed, k) | 1 }

// OfAny returns a number for a value, the same for equal values of one type; 0 if the value is nil. It is not ok where
// the value cannot be compared, or does not equal itself.
func OfAny(v any) (n uint64, ok bool) {
	if v == nil {
		return 0, true
	}
	defer func() {
		if recover() != nil {
			n, ok = 0, false
		}
	}()
	if v != v { // NaN, or a struct that has one
		return 0, false
	}
	return maphash.Comparable(seed, v) | 1, true
}
