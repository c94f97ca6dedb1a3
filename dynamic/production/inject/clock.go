//go:build interlock_production

package runtime

import _ "unsafe" // for linkname

// ilkRelease moves the clock of the running goroutine (CRSampler, Algorithm 3, onSync). It is called before the release
// takes effect: a goroutine that has acquired what was released therefore sees the clock moved.
//
//go:linkname ilkRelease
//go:nosplit
func ilkRelease() {
	getg().ilkClock++
}

// ilkReleaseCur is ilkRelease where the runtime may be on a stack of its own.
//
//go:nosplit
func ilkReleaseCur() {
	if gp := getg().m.curg; gp != nil {
		gp.ilkClock++
	}
}
