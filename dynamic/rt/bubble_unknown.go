//go:build go1.28

package rt

// bubblesShown: nobody has looked yet how this release of Go shows bubbles.
const bubblesShown = false
