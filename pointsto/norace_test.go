//go:build !race

package pointsto_test

// slower is by how much programs are smaller than usual.
const slower = 1
