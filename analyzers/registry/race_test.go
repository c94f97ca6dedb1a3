//go:build race

package registry_test

// underRace is whether this is the race detector's build, whose costs are not those of the passes.
const underRace = true
