//go:build !race

package sites

// slower is by how much packages are smaller than usual.
const slower = 1
