//go:build (amd64 || arm64) && !plan9

package rt

import (
	"strconv"
	"sync/atomic"
	"unsafe"
)

// An injected violation tries an oracle, which judges of each run whether it was
// correct: what one site writes is lost, as if another goroutine stored the old
// value behind it. The next access to the variable finds that.
var injected struct {
	site uint32 // or 0; set at start

	pending    bool           // the site has written, and nobody came since; guarded by windowTable.mu, as what follows
	addr, size uintptr        // of the variable
	old        uint64         // what it held
	object     unsafe.Pointer // keeps it alive
}

// readInjected reads INTERLOCK_PLANT, the id of a site. Its variable must be a
// number: anything else may hold pointers, which the garbage collector has to
// hear of.
func readInjected() (problem string) {
	text := env("INTERLOCK_PLANT")
	if text == "" {
		return ""
	}
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil || !known(uint32(id)) {
		return "INTERLOCK_PLANT is no site of the table: " + strconv.Quote(text)
	}
	injected.site = uint32(id)
	return ""
}

// injectFault is called before an access, on the slow path, which every access takes
// while something is injected.
func injectFault(a *access) {
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	if injected.pending && overlap(injected.addr, injected.size, a.addr, a.size) {
		storeNumber(injected.object, injected.size, injected.old)
		injected.pending, injected.object = false, nil
	}
	if a.site != injected.site || a.mode&writes == 0 || a.addr&(a.size-1) != 0 || a.size > 8 || a.size&(a.size-1) != 0 {
		return
	}
	hidden := a.addr // from escape analysis, as in publishSection
	p := *(*unsafe.Pointer)(unsafe.Pointer(&hidden))
	injected.addr, injected.size, injected.object = a.addr, a.size, p
	injected.old = contentsOf(p, a.size, true).words[0]
	injected.pending = true
}

// storeNumber stores a number of 1, 2, 4 or 8 bytes.
func storeNumber(p unsafe.Pointer, size uintptr, v uint64) {
	switch size {
	case 8:
		atomic.StoreUint64((*uint64)(p), v)
	case 4:
		atomic.StoreUint32((*uint32)(p), uint32(v))
	case 2:
		*(*uint16)(p) = uint16(v)
	case 1:
		*(*uint8)(p) = uint8(v)
	}
}
