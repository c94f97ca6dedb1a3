//go:build interlock_production

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ilkOperands is how many operands a row has room for.
const ilkOperands = 3

// ilkRow holds the operands that a sample at an instruction shows. Package agent, which decodes instructions, fills the
// table of rows; it knows the order and size of the fields.
type ilkRow struct {
	pc       uintptr // 0 in an empty row
	n        uint32  // operands
	watched  uint32  // how often one of them was watched and nothing came of it; handlers count, and may lose some
	operands [ilkOperands]ilkOperand
}

// ilkOperand is how to compute the address of an operand.
type ilkOperand struct {
	disp  int64
	delta int32  // from the sample's instruction to that with the operand, in bytes
	flags uint32 // ilkWrites
	base  int8   // register as in machine code, or -1
	index int8
	scale uint8
	size  uint8 // bytes
	_     uint32
}

// ilkTable is the table of rows: a hash table with open addressing, into which only the agent writes.
var ilkTable struct {
	rows unsafe.Pointer // *[mask+1]ilkRow
	mask uintptr
}

// ilkHash is where the search for a pc begins. Package agent has the same function.
func ilkHash(pc uintptr) uintptr { return pc * 0x9E3779B97F4A7C15 >> 40 }

// ilkRowAt returns the row for samples at pc, and whether there is one.
//
//go:nowritebarrierrec
func ilkRowAt(pc uintptr) (row *ilkRow, known bool) {
	rows := atomic.Loadp(unsafe.Pointer(&ilkTable.rows))
	if rows == nil {
		return nil, false
	}
	for i, tries := ilkHash(pc), 0; tries < 64; i, tries = i+1, tries+1 {
		row := (*ilkRow)(add(rows, (i&ilkTable.mask)*unsafe.Sizeof(ilkRow{})))
		switch atomic.Loaduintptr(&row.pc) {
		case pc:
			return row, true
		case 0:
			return nil, false
		}
	}
	return nil, false
}

// address returns the address of the operand by the registers of the sample.
//
//go:nowritebarrierrec
func (op *ilkOperand) address(c *sigctxt) uintptr {
	return uintptr(int64(ilkRegister(c, op.base)) + int64(ilkRegister(c, op.index))*int64(op.scale) + op.disp)
}

// ilkRegister returns a general register by its number in machine code; 0 for -1.
//
//go:nowritebarrierrec
func ilkRegister(c *sigctxt, n int8) uint64 {
	r := c.regs()
	switch n {
	case 0:
		return r.rax
	case 1:
		return r.rcx
	case 2:
		return r.rdx
	case 3:
		return r.rbx
	case 5:
		return r.rbp
	case 6:
		return r.rsi
	case 7:
		return r.rdi
	case 8:
		return r.r8
	case 9:
		return r.r9
	case 10:
		return r.r10
	case 11:
		return r.r11
	case 12:
		return r.r12
	case 13:
		return r.r13
	case 15:
		return r.r15
	}
	return 0 // 4 is the stack pointer, and 14 the running goroutine: neither points at what goroutines share
}

// ilkIsShared reports whether size bytes at addr may be accessed by several goroutines: in an object of the heap, or
// in a variable of a package. A stack moves, and is no object.
//
//go:nowritebarrierrec
func ilkIsShared(addr uintptr, size uint8) bool {
	if addr%uintptr(size) != 0 || addr == uintptr(unsafe.Pointer(&writeBarrier)) {
		return false // a register watches aligned words alone, and the compiler reads this flag of the runtime's
	}
	for m := &firstmoduledata; m != nil; m = m.next {
		if m.noptrdata <= addr && addr < m.enoptrbss || m.data <= addr && addr < m.ebss {
			return true
		}
	}
	s := spanOf(addr)
	return s != nil && s.state.get() == mSpanInUse && addr >= s.base() && addr < s.limit
}

// ilkUnknown holds instructions at which samples stood and that are not decoded. A writer may overwrite another's: the
// next sample there comes again.
var (
	ilkUnknown     [64]uintptr
	ilkUnknownNext uint32
)

// ilkLearn has the agent decode the function of an instruction.
//
//go:nowritebarrierrec
func ilkLearn(pc uintptr) {
	i := atomic.Xadd(&ilkUnknownNext, 1)
	atomic.Storeuintptr(&ilkUnknown[i%uint32(len(ilkUnknown))], pc)
}
