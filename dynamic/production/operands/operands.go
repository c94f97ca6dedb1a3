package operands

import (
	"golang.org/x/arch/x86/x86asm"
)

// Operand is how to compute, at a sample, the address of an operand in memory. The injected part of package runtime
// reads the same bytes as its ilkOperand: the order and size of the fields are a contract, as those of [Row].
type Operand struct {
	Disp  int64
	Delta int32  // from the sample to the instruction with the operand, in bytes
	Flags uint32 // Writes
	Base  int8   // register, by its number in machine code; -1 for none
	Index int8
	Scale uint8
	Size  uint8 // bytes, at most 8: what a debug register can watch
	_     uint32
}

// Writes is the flag of an operand that is written. The number is that of the injected part of package runtime.
const Writes = 2

// Most is how many operands a row has room for.
const Most = 3

// Row holds the operands that a sample at an instruction shows.
type Row struct {
	PC       uintptr
	N        uint32
	_        uint32 // for handlers
	Operands [Most]Operand
}

// Rows returns one row for each instruction of f: of the operands that a sample there shows, the nearest ones, ahead
// first. Those of instructions for which skip returns true are left out.
func (f *Function) Rows(skip func(pc uintptr) bool) []Row {
	rows := make([]Row, 0, len(f.insts))
	skipped := make([]bool, len(f.insts)) // an instruction is near many others
	for i := range f.insts {
		skipped[i] = f.insts[i].isShared() && skip(f.insts[i].pc)
	}
	for i := range f.insts {
		row := Row{PC: f.insts[i].pc}
		for _, j := range f.near(i) {
			if row.N == Most {
				break
			}
			if in := &f.insts[j]; !skipped[j] {
				row.Operands[row.N] = in.operand
				row.Operands[row.N].Delta = int32(in.pc - row.PC)
				row.N++
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// farthest is how many instructions lie at most between a sample and its operand.
const farthest = 24

// near returns the instructions of the same block as the one at i whose operands the registers at i show: ahead, the
// nearest first, and then behind.
func (f *Function) near(i int) []int { return append(f.ahead(i), f.behind(i)...) }

func (f *Function) ahead(i int) (all []int) {
	var changed registers
	for j := i; j < len(f.insts) && j < i+farthest; j++ {
		in := &f.insts[j]
		if in.isShared() && !changed.has(in.operand.Base) && !changed.has(in.operand.Index) {
			all = append(all, j)
		}
		if in.ends {
			break
		}
		changed |= in.changes
	}
	return all
}

func (f *Function) behind(i int) (all []int) {
	if f.jumpsAnywhere {
		return nil // any instruction may begin a block
	}
	var changed registers
	for j := i - 1; j >= 0 && j > i-farthest; j-- {
		in := &f.insts[j]
		if f.insts[j+1].leads || in.ends {
			break // another way leads to the sample
		}
		changed |= in.changes
		if in.isShared() && !changed.has(in.operand.Base) && !changed.has(in.operand.Index) {
			all = append(all, j)
		}
	}
	return all
}

// Near returns the accesses in the same block as the instruction at pc that touch size bytes at addr, by the general
// registers at pc.
func (f *Function) Near(pc, addr, size uintptr, registers *[16]uint64) (all []Access) {
	i := f.index(pc)
	if i < 0 {
		return nil
	}
	for _, j := range f.near(i) {
		o := &f.insts[j].operand
		at := uintptr(o.Disp)
		if o.Base >= 0 {
			at += uintptr(registers[o.Base])
		}
		if o.Index >= 0 {
			at += uintptr(registers[o.Index]) * uintptr(o.Scale)
		}
		if at < addr+size && addr < at+uintptr(o.Size) {
			a, _ := f.insts[j].access()
			all = append(all, a)
		}
	}
	return all
}

// registers is a set of general registers, a bit each.
type registers uint32

func (r registers) has(n int8) bool { return n >= 0 && r>>uint(n)&1 != 0 }

// number returns the number of the general register of which r is a part, or -1.
func number(r x86asm.Reg) int8 {
	switch {
	case x86asm.AL <= r && r <= x86asm.BL:
		return int8(r - x86asm.AL)
	case x86asm.AH <= r && r <= x86asm.BH:
		return int8(r - x86asm.AH)
	case x86asm.SPB <= r && r <= x86asm.R15B:
		return int8(r-x86asm.SPB) + 4
	case x86asm.AX <= r && r <= x86asm.R15W:
		return int8(r - x86asm.AX)
	case x86asm.EAX <= r && r <= x86asm.R15L:
		return int8(r - x86asm.EAX)
	case x86asm.RAX <= r && r <= x86asm.R15:
		return int8(r - x86asm.RAX)
	}
	return -1
}
