//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// out is where records go. The file is opened for each record, which are few:
// a descriptor kept open could be closed by the program and mean another file
// later. A record is one write, with a newline in front, so that a line that
// another process left torn does not spoil it, and one behind, for the
// happens-before engine's records.
var out struct {
	path string // set at start
	head string // the beginning of every record; set at start

	mu     spinlock
	buf    []byte         // the record being made; guarded by mu
	other  [stackMax]byte // stack of the other side; guarded by mu
	own    [stackMax]byte // guarded by mu
	races  int            // written; guarded by mu
	warned bool           // whether stderr has heard that records are lost; guarded by mu

	statsDue   atomic.Int64 // when the counters are written next, by nanotime
	statsCalls uint64       // calls when they were written last; guarded by mu
}

// pairs is the set of pairs of sites caught in this process, a hash table;
// stored under out.mu.
var pairs [4096]atomic.Uint64

// pairPlace returns the place of key, or the free one where it belongs, or nil.
func pairPlace(key uint64) *atomic.Uint64 {
	for i, h := 0, mix(key); i < len(pairs); i, h = i+1, h+1 {
		p := &pairs[h%uint64(len(pairs))]
		if k := p.Load(); k == key || k == 0 {
			return p
		}
	}
	return nil
}

// writeRace writes that a came while w was held by a goroutine with the stack
// given. requires: out.mu.
func writeRace(w *window, stack []byte, a *access) {
	b := beginRecord("race")
	b = append(b, `,"a":`...)
	b = append(appendSide(b, &w.access, stack), '}')
	b = append(b, `,"b":`...)
	b = appendSide(b, a, out.own[:runtime.Stack(out.own[:], false)])
	if v, ok := a.value(); ok {
		b = appendField(b, `,"value":`, v)
	}
	b = append(b, `},"count":1}`...)
	endRecord(b)
	const few = 32
	if out.races++; out.races <= few { // a program that races may not live to write them later
		endRecord(appendStats(beginRecord("stats")))
	}
}

// appendSide leaves the object open.
func appendSide(b []byte, a *access, stack []byte) []byte {
	b = appendField(b, `{"site":`, uint64(a.site))
	b = append(b, `,"write":`...)
	b = strconv.AppendBool(b, a.mode&writes != 0)
	if a.mode&atomically != 0 {
		b = append(b, `,"atomic":true`...)
	}
	b = appendField(b, `,"addr":`, uint64(a.addr))
	b = appendField(b, `,"size":`, uint64(a.size))
	b = appendField(b, `,"gid":`, uint64(a.goid))
	b = append(b, `,"stack":`...)
	return appendString(b, stack)
}

// value returns the memory that a is about to access, if it can be read in one piece: a
// torn value would mean nothing. The goroutine that makes the access keeps the memory
// alive.
//
//go:norace
func (a *access) value() (v uint64, ok bool) {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&a.addr))
	if a.addr&(a.size-1) != 0 {
		return 0, false
	}
	switch a.size {
	case 1:
		return uint64(*(*uint8)(p)), true
	case 2:
		return uint64(*(*uint16)(p)), true
	case 4:
		return uint64(*(*uint32)(p)), true
	case 8:
		return *(*uint64)(p), true
	}
	return 0, false
}

// Exit returns code, with which the process is about to end.
func Exit(code int) int {
	Flush()
	return code
}

// Flush writes the counters as they are now. Without it, those of a program's last moments are lost.
func Flush() {
	if out.path != "" {
		writeStats(nanotime())
	}
}

// writeStats writes the counters if the slow path ran since they were written
// last, and sets when to do so again: often at first, because a program may
// last a millisecond only, and never so often that it costs more than a
// tenth of the time.
func writeStats(now int64) {
	out.mu.lock()
	defer out.mu.unlock()
	const often, seldom = 200_000, 1_000_000_000
	if calls() != out.statsCalls {
		endRecord(appendStats(beginRecord("stats")))
		writeGaps()
	}
	end := nanotime()
	pause := min(max((end-start)/4, often), seldom)
	out.statsDue.Store(end + max(pause, 10*(end-now)))
}

// writeDueStats is writeStats where it is time for it, and nobody else at it.
func writeDueStats(now int64) {
	due := out.statsDue.Load()
	if now >= due && out.statsDue.CompareAndSwap(due, now+1_000_000_000) {
		writeStats(now)
	}
}

func appendStats(b []byte) []byte {
	out.statsCalls = calls()
	onStack := uint64(0)
	for i := range counters.shards {
		onStack += counters.shards[i].onStack.Load()
	}
	b = appendField(b, `,"counters":{"slow":`, out.statsCalls)
	b = appendField(b, `,"windows":`, counters.windows.Load())
	b = appendField(b, `,"collisions":`, counters.collisions.Load())
	b = appendField(b, `,"delay_ns":`, counters.delayNS.Load())
	b = appendField(b, `,"no_slot":`, counters.noSlot.Load())
	b = appendField(b, `,"on_stack":`, onStack)
	b = appendField(b, `,"over_budget":`, counters.overBudget.Load())
	b = appendField(b, `,"bad_site":`, counters.badSite.Load())
	b = appendField(b, `,"not_written":`, counters.notWritten.Load())
	b = appendField(b, `,"no_gap":`, counters.noGap.Load())
	// The counts of the schedules.
	if schedule.policy != nil {
		goroutines, events := schedule.policy.Size()
		b = appendField(b, `,"goroutines":`, goroutines)
		b = appendField(b, `,"events":`, events)
	}
	if schedule.name == drFinder {
		b = appendField(b, `,"held":`, counters.held.Load())
		b = appendField(b, `,"thrashed":`, counters.thrashed.Load())
	}
	b = append(b, '}')
	b = appendSites(b, `,"reached":[`, siteReached)
	b = appendSites(b, `,"armed":[`, siteArmed)
	b = appendSites(b, `,"near":[`, siteNear)
	return append(appendEntries(appendEnds(b)), '}')
}

// appendSites appends a list of the sites that have the flag.
func appendSites(b []byte, name string, flag siteState) []byte {
	b = append(b, name...)
	for id := range sites {
		if sites[id].load().is(flag) {
			b = strconv.AppendUint(b, uint64(id), 10)
			b = append(b, ',')
		}
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

// beginRecord begins a record. requires: out.mu.
func beginRecord(kind string) []byte {
	b := append(out.buf[:0], out.head...)
	b = append(b, kind...)
	return append(b, '"')
}

// endRecord appends the record to the file. requires: out.mu.
func endRecord(b []byte) {
	b = append(b, '\n')
	out.buf = b[:0]
	if appendToFile(out.path, b) {
		return
	}
	counters.notWritten.Add(1)
	if !out.warned {
		out.warned = true
		warn("cannot write evidence to " + out.path + "; records are lost")
	}
}

// appendToFile appends b to the file by one write.
func appendToFile(path string, b []byte) bool {
	const flags = syscall.O_WRONLY | syscall.O_APPEND | syscall.O_CREAT | syscall.O_CLOEXEC
	fd, err := syscall.Open(path, flags, 0o644)
	for err == syscall.EINTR {
		fd, err = syscall.Open(path, flags, 0o644)
	}
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	n, err := syscall.Write(fd, b)
	for err == syscall.EINTR {
		n, err = syscall.Write(fd, b)
	}
	return err == nil && n == len(b)
}

func appendField(b []byte, name string, v uint64) []byte {
	return strconv.AppendUint(append(b, name...), v, 10)
}

// appendString appends text as a JSON string.
func appendString(b, text []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Write writes a record of the kind. rest is the text behind the fields that all records
// have, up to the closing brace.
func Write(kind string, rest []byte) {
	out.mu.lock()
	defer out.mu.unlock()
	endRecord(append(append(beginRecord(kind), rest...), '}'))
}

// AppendText appends text as a JSON string.
func AppendText(b, text []byte) []byte { return appendString(b, text) }
