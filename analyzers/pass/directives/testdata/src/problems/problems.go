// Package problems has directives that make no sense.
package problems

//interlock:ignore IL9999 there is no such code
var a int

//interlock:ignore IL1001
var b int

//interlock:ignore IL1001 nothing is reported here
var c int

//nolint:interlock
var d int

//lint:ignore IL1 there is no such code
var e int

//nolint:errcheck,gosec
//lint:ignore U1000,SA1000 of another tool
//lint:ignore U1000 of another tool
var f int //nolint:interlock // all codes, which a run may show

//interlock:ignore IL5001 only a run shows it
var g int

//interlock:ignor IL1001 a slip of the pen
var h int

//interlock:guardedby
var i int

type s struct {
	j int // +checklocks:
}
