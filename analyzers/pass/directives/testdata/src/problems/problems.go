// Package problems has directives that make no sense.
package problems

//interlock:ignore IL9999 there is no such code
var a int

//interlock:ignore IL1001
var b int

//interlock:ignore IL1001 nothing is reported here
var c int
