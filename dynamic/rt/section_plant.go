//go:build (amd64 || arm64) && !plan9

package rt

import (
	"strconv"
	"sync/atomic"
)

// planted is the section whose ends lose what they write, or 0; set at start. An
// oracle that is to say which runs are correct must say that such a run is not.
var planted uint32

// readPlanted reads INTERLOCK_PLANT, the id of a section that may be opened. Its
// variable must be a number: anything else may hold pointers, which the garbage
// collector has to hear of.
func readPlanted() (problem string) {
	text := env("INTERLOCK_PLANT")
	if text == "" {
		return ""
	}
	id, err := strconv.ParseUint(text, 10, 24)
	if err != nil || int(id) >= len(sectionStates) || !sectionStates[id].wanted {
		return "INTERLOCK_PLANT is no section that may be opened: " + strconv.Quote(text)
	}
	planted = uint32(id)
	return ""
}

// plant gives the variable back the value that it had at the entry, as if another
// goroutine had stored it behind the end.
func (o *opened) plant() {
	if o.last.mode&writes == 0 || o.ofMap() || o.allows&OtherVariable != 0 || !o.value.known || o.value.size != o.last.size {
		return
	}
	p, old := o.last.pointer(), o.value.words[0]
	switch o.value.size {
	case 8:
		atomic.StoreUint64((*uint64)(p), old)
	case 4:
		atomic.StoreUint32((*uint32)(p), uint32(old))
	case 2:
		*(*uint16)(p) = uint16(old)
	case 1:
		*(*uint8)(p) = uint8(old)
	}
}
