//go:build !go1.28

package rt

// bubblesShown says that runtime.Stack shows in which bubble a goroutine is:
// TestBubble and TestBubbleClock have passed with each release of Go up to this one.
const bubblesShown = true
