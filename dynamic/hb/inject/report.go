//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
)

// hbRaces counts the races that were reported.
var hbRaces atomic.Uint32

// hbReportState is the state of reports. mu guards all of it.
type hbReportState struct {
	mu   hbSpin
	last [256]hbAgain        // races that were looked up lately, by hash
	seen [1 << 15][2]hbPoint // races that were reported, by hash
	full uint32
	text hbText
}

// hbAgain is a race as it is known before the history is asked: all granules of a range that one access
// races with another about are the same.
type hbAgain struct {
	point hbPoint
	epoch uint64 // of the earlier access
}

// hbPoint is where an access is made: at a place, and in a calling context. The place alone does not distinguish races:
// all accesses of maps are made at a few places of package runtime, and two tests may race in one function.
type hbPoint struct {
	pc    uintptr
	frame uint32
}

var hbReports hbReportState

// hbConfig is set before the main goroutine begins.
var hbConfig struct {
	done     bool
	repeats  bool   // report a race each time
	evidence string // path of the evidence file
	run      string
	seed     string
	pid      uint64
}

// hbConfigure reads the environment, at the first goroutine.
func hbConfigure() {
	if hbConfig.done {
		return
	}
	hbConfig.done = true
	hbConfig.evidence = gogetenv("INTERLOCK_OUT")
	hbConfig.pid = uint64(getpid())
	hbConfig.run = gogetenv("INTERLOCK_RUN")
	hbConfig.seed = gogetenv("INTERLOCK_SEED")
	hbConfig.repeats = gogetenv("INTERLOCK_HB") == "repeats"
	memory := uintptr(hbNumber(gogetenv("INTERLOCK_HB_MEMORY"))) << 20 // megabytes
	if memory == 0 {
		memory = hbDefaultMemory
	}
	hbBound(memory)
	hbSetSampling(gogetenv("INTERLOCK_HB_RATE"), gogetenv("INTERLOCK_HB_SAMPLE"), hbNumber(hbConfig.seed))
	hbOpenTrace(gogetenv("INTERLOCK_TRACE"))
}

// hbNumber returns the number that digits stand for.
func hbNumber(digits string) (n uint64) {
	for i := range len(digits) {
		n = n*10 + uint64(digits[i]-'0')
	}
	return n
}

// hbSide is one of the two accesses of a race.
type hbSide struct {
	record  hbRecord
	kind    hbKind
	hbPoint // pc 0: the history no longer has it
}

// hbFound reports a race: the access at hand, of the granule at addr, is not ordered after
// the earlier one.
func hbFound(g *hbGo, addr uintptr, record hbRecord, kind hbKind, frame uint32, pc uintptr, e hbEarlier) {
	now, before := hbSide{record, kind, hbPoint{pc, frame}}, hbSide{record: e.record, kind: e.kind}
	if e.record&hbIsAtomic != 0 {
		before.kind |= hbAtomic
	}
	r := &hbReports
	r.mu.lock()
	if r.isAgain(hbAgain{now.hbPoint, e.record &^ hbMask}) {
		r.mu.unlock()
		return
	}
	m := hbRecall(addr, e, record&hbMask)
	before.pc, before.frame = m.pc, m.frame
	if hbConfig.repeats || r.isNew(now.hbPoint, before.hbPoint) {
		hbRaces.Add(1)
		r.text.n = 0
		if hbConfig.evidence != "" {
			r.text.record(addr, now, before)
			r.append()
		} else {
			r.text.race(addr, now, before)
			r.text.write(2)
		}
	}
	r.mu.unlock()
}

// hbReportLosses reports all counters of hbLost.
func hbReportLosses() {
	r := &hbReports
	r.mu.lock()
	t := &r.text
	t.n = 0
	if hbConfig.evidence == "" {
		t.add("interlock: happens-before engine: races may be missed: ")
		t.losses(" accesses forgotten, ", " callers unknown, ", " goroutines sharing a slot, ", " clocks at their end, ",
			" pages forgotten\n")
		t.write(2)
	} else {
		t.begin("lost").add(`,"lost":{"cells":`)
		t.losses(`,"frames":`, `,"slots":`, `,"clocks":`, `,"pages":`, "}}\n")
		r.append()
	}
	r.mu.unlock()
}

// losses adds the counters, each with the text behind it.
func (t *hbText) losses(behind ...string) {
	for i := range hbLost {
		t.number(hbLost[i].Load()).add(behind[i])
	}
}

// hash returns a number for a point.
func (p hbPoint) hash() uintptr { return (p.pc*31 + uintptr(p.frame)) * 0x9e3779b97f4a7c15 >> 16 }

// isAgain reports whether a race was looked up lately, and notes it.
func (r *hbReportState) isAgain(a hbAgain) bool {
	at := &r.last[(a.point.hash()+uintptr(a.epoch>>8)*31)%uintptr(len(r.last))]
	if *at == a {
		return true
	}
	*at = a
	return false
}

// isNew reports whether two accesses are reported for the first time, in either order, and notes them.
func (r *hbReportState) isNew(a, b hbPoint) bool {
	if r.full == uint32(len(r.seen))/2 {
		return false // enough of them
	}
	if a.pc > b.pc || a.pc == b.pc && a.frame > b.frame {
		a, b = b, a
	}
	for i := a.hash()*31 + b.hash(); ; i++ {
		at := &r.seen[i%uintptr(len(r.seen))]
		switch *at {
		case [2]hbPoint{a, b}:
			return false
		case [2]hbPoint{}:
			*at = [2]hbPoint{a, b}
			r.full++
			return true
		}
	}
}

// record adds a race as a line of the evidence file, as package dynamic/evidence
// describes it.
func (t *hbText) record(addr uintptr, now, before hbSide) {
	t.begin("unordered").add(`,"a":`)
	t.evidence(addr, before)
	t.add(`,"b":`)
	t.evidence(addr, now)
	t.add("}\n")
}

// begin adds the beginning of each record.
func (t *hbText) begin(kind string) *hbText {
	t.add(`{"v":1,"kind":"`).add(kind).add(`","run":`).add(hbConfig.run).add(`,"seed":`).add(hbConfig.seed)
	return t.add(`,"pid":`).number(hbConfig.pid)
}

// evidence adds a side as a JSON object.
func (t *hbText) evidence(addr uintptr, s hbSide) {
	bytes := s.record & hbMask
	t.add(`{"site":0`)
	if s.kind&hbWrite != 0 {
		t.add(`,"write":true`)
	}
	if s.kind&hbAtomic != 0 {
		t.add(`,"atomic":true`)
	}
	t.add(`,"addr":`).number(uint64(addr) + uint64(sys.TrailingZeros64(bytes|1<<8)&7))
	t.add(`,"size":`).number(uint64(sys.OnesCount64(bytes))).add(`,"gid":`)
	o := s.owner()
	if o == nil {
		o = &hbOccupant{}
	}
	t.number(o.goid).add(`,"stack":"`)
	t.quoted = true
	t.add("goroutine ").number(o.goid).add(" [running]:\n")
	if s.pc != 0 {
		t.stack(s.pc, s.frame, "", "(...)\n\t")
	}
	if o.pc != 0 && o.goid != 1 {
		t.add("created by ")
		t.calls(o.pc, "", "\n\t")
	}
	t.quoted = false
	t.add(`"}`)
}

// append writes the text to the evidence file, in one write.
func (r *hbReportState) append() {
	const writeOnly, create, appends = 0x1, 0x40, 0x400
	var path [4096]byte
	copy(path[:len(path)-1], hbConfig.evidence)
	fd := open(&path[0], writeOnly|create|appends, 0o644)
	if fd < 0 || !r.text.write(uintptr(fd)) {
		hbDie("writing the evidence file failed: make room in the folder for temporary files, or set TMPDIR to another")
	}
	closefd(fd)
}
