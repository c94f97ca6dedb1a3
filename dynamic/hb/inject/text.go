//go:build interlock_hb

package runtime

import (
	"internal/abi"
	"internal/runtime/sys"
	"unsafe"
)

// hbText is text that grows in a fixed place, since a report can allocate nothing. Text
// that does not fit is cut off.
type hbText struct {
	n      int
	quoted bool // strings are put in as parts of a JSON string
	b      [1 << 16]byte
}

func (t *hbText) add(s string) *hbText {
	for i := range len(s) {
		t.byte(s[i])
	}
	return t
}

func (t *hbText) byte(c byte) {
	switch {
	case t.n+8 > len(t.b):
	case !t.quoted:
		t.b[t.n] = c
		t.n++
	case c == '"' || c == '\\':
		t.b[t.n], t.b[t.n+1] = '\\', c
		t.n += 2
	case c == '\n':
		t.b[t.n], t.b[t.n+1] = '\\', 'n'
		t.n += 2
	case c < ' ':
		t.n += copy(t.b[t.n:], `\u00`)
		t.b[t.n], t.b[t.n+1] = "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]
		t.n += 2
	default:
		t.b[t.n] = c
		t.n++
	}
}

func (t *hbText) number(v uint64) *hbText {
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = '0' + byte(v%10)
		if v /= 10; v == 0 {
			break
		}
	}
	for ; i < len(digits); i++ {
		t.byte(digits[i])
	}
	return t
}

func (t *hbText) hex(v uint64, width int) *hbText {
	t.add("0x")
	for shift := 60; shift >= 0; shift -= 4 {
		if v>>shift != 0 || shift < 4*width {
			t.byte("0123456789abcdef"[v>>shift&15])
		}
	}
	return t
}

func (t *hbText) write(fd uintptr) bool {
	for at := 0; at < t.n; {
		n := write(fd, unsafe.Pointer(&t.b[at]), int32(t.n-at))
		if n <= 0 {
			return false
		}
		at += int(n)
	}
	return true
}

// race puts a report in the words of the race detector of the Go distribution, which
// programs that read such reports know.
func (t *hbText) race(addr uintptr, now, before hbSide) {
	t.add("==================\nWARNING: DATA RACE\n")
	t.side(addr, now, "Read", "Write")
	t.add("\n")
	t.side(addr, before, "Previous read", "Previous write")
	t.created(now)
	if hbSlotOf(now.record) != hbSlotOf(before.record) {
		t.created(before)
	}
	t.add("==================\n")
}

func (t *hbText) side(addr uintptr, s hbSide, read, write string) {
	what := read
	if s.kind&hbWrite != 0 {
		what = write
	}
	if s.kind&hbAtomic != 0 {
		if what == read && read == "Read" || what == write && write == "Write" {
			t.add("Atomic ")
			what = "read"
			if s.kind&hbWrite != 0 {
				what = "write"
			}
		} else {
			t.add("Previous atomic ")
			what = what[len("Previous "):]
		}
	}
	t.add(what).add(" at ").hex(uint64(addr)+uint64(sys.TrailingZeros64(s.record&hbMask|1<<8)&7), 12).add(" by ")
	t.goroutine(s.owner(), "")
	t.add(":\n")
	if s.pc == 0 {
		t.add("  [the stack is no longer in the history]\n")
		return
	}
	t.stack(s.pc, s.frame, "  ", "()\n      ")
}

// owner returns the goroutine that made the access; nil where that is forgotten.
func (s hbSide) owner() *hbOccupant { return hbSlotAt(hbSlotOf(s.record)).at(hbClockOf(s.record)) }

func (t *hbText) goroutine(o *hbOccupant, capital string) {
	switch {
	case o == nil || o.goid == 0:
		t.add("a goroutine of the runtime")
	case o.goid == 1:
		t.add("main goroutine")
	case capital != "":
		t.add(capital).number(o.goid)
	default:
		t.add("goroutine ").number(o.goid)
	}
}

// created adds where the goroutine of an access was started.
func (t *hbText) created(s hbSide) {
	o := s.owner()
	if o == nil || o.goid == 1 || o.pc == 0 {
		return
	}
	t.add("\n")
	t.goroutine(o, "Goroutine ")
	if o.ended {
		t.add(" (finished) created at:\n")
	} else {
		t.add(" (running) created at:\n")
	}
	t.stack(o.pc, o.frame, "  ", "()\n      ")
}

// stack adds the calls that led to pc, the innermost first.
func (t *hbText) stack(pc uintptr, frame uint32, before, behind string) {
	t.calls(pc, before, behind)
	for n := 0; frame != hbRootFrame && frame != 0 && n < 100; n++ {
		f := hbFrameAt(frame)
		t.calls(f.pc, before, behind)
		frame = f.parent
	}
}

// calls adds the function that goes on at pc, and those that it is inlined into.
func (t *hbText) calls(pc uintptr, before, behind string) {
	fn := findfunc(pc - 1)
	if !fn.valid() {
		t.add(before).add("?").add(behind).add("?:0 +").hex(uint64(pc), 1).add("\n")
		return
	}
	u, uf := newInlineUnwinder(fn, pc-1)
	for ; uf.valid(); uf = u.next(uf) {
		sf := u.srcFunc(uf)
		if sf.funcID == abi.FuncIDWrapper && u.isInlined(uf) || sf.funcID == abi.FuncID_goexit {
			continue
		}
		file, line := u.fileLine(uf)
		t.add(before).add(sf.name()).add(behind)
		t.add(file).add(":").number(uint64(line)).add(" +").hex(uint64(pc-fn.entry()), 1).add("\n")
	}
}
