//go:build !go1.24

// Package mapkey numbers the keys of maps.
package mapkey

// Of returns one number for all keys: before Go 1.24 there is no hash for keys
// of all types, and a remote access to any key of the map splits a section.
func Of[K comparable](k K) uint64 { return 1 }

// OfAny returns no number, except for nil.
func OfAny(v any) (n uint64, ok bool) { return 0, v == nil }
