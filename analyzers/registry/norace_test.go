//go:build !race

package registry_test

// slower is by how much sources are smaller than usual.
const slower = 1
