//go:build race

package registry_test

// slower is by how much sources are smaller: the passes take several times as
// long under the race detector.
const slower = 4
