package operands

import (
	"sort"

	"golang.org/x/arch/x86/x86asm"
)

// Function is the decoded code of one function.
type Function struct {
	insts []instruction // in order, without a gap
	// jumpsAnywhere: the code has a jump by a table, whose targets the code does not show.
	jumpsAnywhere bool
}

// instruction is one instruction, with the rows of the table that it is in.
type instruction struct {
	pc      uintptr
	length  int
	leads   bool      // another instruction jumps here
	ends    bool      // a block ends behind it: it calls, jumps, orders memory, or is not known
	changes registers // general registers
	operand Operand   // in memory; Size is 0 without one
	atomic  bool      // it locks the bus
	unsure  bool      // whether it writes its operand is not known
	repeats bool      // REP: a trap stands at the instruction itself
}

// Decode decodes the code of a function that begins at start. Behind bytes that it cannot read it stops.
func Decode(code []byte, start uintptr) *Function {
	f := new(Function)
	targets := map[uintptr]bool{}
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil || in.Len == 0 {
			break
		}
		pc := start + uintptr(at)
		f.insts = append(f.insts, f.read(in, pc, targets))
		at += in.Len
	}
	for i := range f.insts {
		in := &f.insts[i]
		in.leads = targets[in.pc]
		in.ends = in.ends || in.changes.has(stackPointer) // stacks are read by the frame's size at the sample
	}
	if n := len(f.insts); n > 0 {
		f.insts[n-1].ends = true
	}
	return f
}

// read notes what matters of an instruction, and the target of a jump.
func (f *Function) read(in x86asm.Inst, pc uintptr, targets map[uintptr]bool) instruction {
	out := instruction{pc: pc, length: in.Len, operand: Operand{Base: -1, Index: -1}}
	kind, known := kinds[in.Op]
	if in.Op == x86asm.IMUL && in.Args[1] == nil { // it changes two registers
		kind, known = 0, false
	}
	out.ends, out.unsure = !known, !known && !readers[in.Op]
	for _, p := range in.Prefix {
		switch p &^ (x86asm.PrefixImplicit | x86asm.PrefixIgnored) {
		case x86asm.PrefixLOCK:
			out.atomic, out.ends = true, true
		case x86asm.PrefixREP, x86asm.PrefixREPN:
			out.repeats = !known
		}
	}
	if in.Op == x86asm.XCHG {
		out.atomic = true
	}
	for i, arg := range in.Args {
		switch arg := arg.(type) {
		case x86asm.Rel:
			targets[pc+uintptr(in.Len)+uintptr(int64(arg))] = true
		case x86asm.Reg:
			f.jumpsAnywhere = f.jumpsAnywhere || in.Op == x86asm.JMP
			if n := number(arg); n >= 0 && (i == 0 && kind != compares || !known) {
				out.changes |= 1 << uint(n)
			}
		case x86asm.Mem:
			f.jumpsAnywhere = f.jumpsAnywhere || in.Op == x86asm.JMP
			if in.Op != x86asm.LEA && in.Op != x86asm.NOP {
				out.operand = operand(in, arg, pc, i == 0 && kind == changes)
			}
		}
	}
	return out
}

// operand returns the operand arg of an instruction, with Size 0 where its address cannot be computed.
func operand(in x86asm.Inst, arg x86asm.Mem, pc uintptr, writes bool) Operand {
	o := Operand{Base: -1, Index: -1, Disp: arg.Disp, Scale: arg.Scale, Size: uint8(min(in.MemBytes, 8))}
	if writes {
		o.Flags = Writes
	}
	// The memory of the thread is not shared; a bit may lie far behind the operand.
	if arg.Segment == x86asm.FS || arg.Segment == x86asm.GS || in.Op == x86asm.BT || isNilCheck(in, arg) {
		o.Size = 0
	}
	switch {
	case arg.Base == x86asm.RIP:
		o.Disp += int64(pc) + int64(in.Len)
	case arg.Base != 0:
		o.Base = number(arg.Base)
	}
	if arg.Index != 0 {
		o.Index = number(arg.Index)
	}
	return o
}

// isNilCheck reports whether an instruction is TESTB AL, (AX), the compiler's check for nil: it loads a byte of the
// object that the program does not read.
func isNilCheck(in x86asm.Inst, arg x86asm.Mem) bool {
	return in.Op == x86asm.TEST && arg.Disp == 0 && arg.Index == 0 && in.MemBytes == 1 && in.Args[1] == x86asm.AL
}

// stackPointer and runningG are registers with a fixed use in Go's code. What they point at belongs to the goroutine.
const stackPointer, framePointer, runningG = 4, 5, 14

// isShared reports whether the operand may lie in memory that several goroutines access, and no other instruction of
// its kind orders memory.
func (in *instruction) isShared() bool {
	b := in.operand.Base
	return in.operand.Size != 0 && !in.unsure && in.operand.Size&(in.operand.Size-1) == 0 && !in.atomic && !in.repeats &&
		b != stackPointer && b != framePointer && b != runningG
}

// Access is an access to memory that a debug register has shown.
type Access struct {
	PC          uintptr // of the instruction
	Read, Write bool    // at least one
	Atomic      bool    // by a locked instruction
}

// Behind returns the access of the instruction that ends at pc, where a trap stands; or of the one at pc, where that
// repeats. It reports false where there is no such instruction.
func (f *Function) Behind(pc uintptr) (Access, bool) {
	i := sort.Search(len(f.insts), func(i int) bool { return f.insts[i].pc >= pc })
	if i < len(f.insts) && f.insts[i].pc == pc && f.insts[i].repeats {
		return Access{PC: pc, Read: true, Write: true}, true
	}
	if i == 0 || f.insts[i-1].pc+uintptr(f.insts[i-1].length) != pc {
		return Access{}, false
	}
	return f.insts[i-1].access()
}

// At returns the access of the instruction at pc.
func (f *Function) At(pc uintptr) (Access, bool) {
	i := f.index(pc)
	if i < 0 {
		return Access{}, false
	}
	return f.insts[i].access()
}

// index returns the place of the instruction at pc, or -1.
func (f *Function) index(pc uintptr) int {
	i := sort.Search(len(f.insts), func(i int) bool { return f.insts[i].pc >= pc })
	if i == len(f.insts) || f.insts[i].pc != pc {
		return -1
	}
	return i
}

func (in *instruction) access() (Access, bool) {
	writes := in.operand.Flags&Writes != 0
	a := Access{PC: in.pc, Read: !writes || in.unsure, Write: writes || in.unsure, Atomic: in.atomic}
	if in.atomic { // compare-and-swap, exchange, add
		a.Read, a.Write = false, true
	}
	return a, in.operand.Size != 0 || in.repeats
}
