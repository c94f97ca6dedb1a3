//go:build race

package registry_test

// underRace is true under the race detector. Costs under it are not those of the passes.
const underRace = true
