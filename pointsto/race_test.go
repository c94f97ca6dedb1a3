//go:build race

package pointsto_test

// slower is by how much programs are smaller: the analysis takes several times as long under the race detector.
const slower = 4
