// Package dynamic carries the source of the monitor, so that the tool needs
// nothing but itself to put it into a build.
package dynamic

import "embed"

// Source holds the monitor, package rt, below "rt". It is a module of its own
// without a go.mod; who extracts it writes one (path interlock.invalid/rt, go
// 1.21) and leaves out the _test.go files.
//
//go:embed rt/*.go rt/*.s rt/leaks/*.go
var Source embed.FS
