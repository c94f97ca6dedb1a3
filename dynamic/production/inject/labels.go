//go:build interlock_production

package runtime

import (
	"internal/runtime/pprof/label"
	"unsafe"
)

// ilkLabelled is whether accesses have the labels of their goroutines, by the settings.
var ilkLabelled bool

// ilkSetLabelled sets whether accesses have labels.
//
//go:linkname ilkSetLabelled
func ilkSetLabelled(on bool) { ilkLabelled = on }

// ilkLabels holds the labels of a goroutine: how many bytes are in use, then for each key and each value its length and
// its text. The order and size is known to package agent.
type ilkLabels [160]byte

// note copies the labels of gp, which this thread has interrupted: gp alone sets them, and the collector cannot end
// while this thread is in a handler, so that they stay. One that does not fit is counted and left out.
//
//go:nowritebarrierrec
func (to *ilkLabels) note(gp *g) {
	to[0] = 0
	if !ilkLabelled || gp.labels == nil {
		return
	}
	// A label is there as a whole or not at all.
	set := (*label.Set)(gp.labels)
	for i := range set.List {
		l := &set.List[i]
		at := 1 + int(to[0])
		if at+2+len(l.Key)+len(l.Value) > len(to) {
			ilkCount(&ilkStats.labels)
			continue
		}
		at = to.put(at, l.Key)
		at = to.put(at, l.Value)
		to[0] = byte(at - 1)
	}
}

// put puts a text at a place, and returns the next one. requires: the text fits.
//
//go:nowritebarrierrec
func (to *ilkLabels) put(at int, text string) int {
	to[at] = byte(len(text))
	memmove(unsafe.Pointer(&to[at+1]), unsafe.Pointer(unsafe.StringData(text)), uintptr(len(text)))
	return at + 1 + len(text)
}
