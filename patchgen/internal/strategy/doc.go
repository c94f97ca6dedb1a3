// Package strategy holds the strategies that build patches, one a file, from
// the least intrusive to the most, and what they share: the [Problem] that
// each has to solve.
package strategy
