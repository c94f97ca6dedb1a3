//go:build race

package sites

// slower is by how much packages are smaller: the analysis takes several times as long under the race detector.
const slower = 2
