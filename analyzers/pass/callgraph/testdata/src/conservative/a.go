// Package conservative has a call for each way to come to a function that the call does not name. The comment of a
// call lists all that it may run.
package conservative

import (
	"fmt"
	"sort"
)

type closer interface{ Close() error }

type file struct{}

func (*file) Close() error { return nil }

type conn struct{}

func (*conn) Close() error { return nil }

type door struct{}

func (*door) Close() {}

func byInterface(c closer) {
	c.Close() // = conn.Close, file.Close
}

var hooks []func(int)

func keep() { hooks = append(hooks, double, func(int) {}) }

func double(int)   {}
func triple(int)   {}
func other(string) {}

func bySignature() {
	for _, hook := range hooks {
		hook(1) // = double, keep$1
	}
}

func byName() {
	triple(1) // = triple
}

type temperature int

func (temperature) String() string { return "" }
func (temperature) Less() bool     { return true }

func byLibrary(t temperature) {
	fmt.Sprint(t) // = temperature.Less, temperature.String
}

type byAge []int

func (b byAge) Len() int           { return len(b) }
func (b byAge) Less(i, j int) bool { return b[i] < b[j] }
func (b byAge) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

func byCallback(b byAge) {
	sort.Sort(b) // = byAge.Len, byAge.Less, byAge.Swap
}

func started() {
	go triple(1) // = triple
}

func nothing() int {
	return len(hooks) // = nobody
}
