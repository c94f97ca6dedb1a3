// Package operands finds the operands of machine code in memory, so that a sample of the registers at one instruction
// shows which addresses the instructions around it access. It is RACEZ's extension of samples (RACEZ, 4.4): within
// one basic block, an operand belongs to a sample as long as no instruction between the two changes its registers.
//
// Reported falsely: nothing. A block has neither calls nor branches nor locked instructions, so the goroutine accesses
// an operand ahead, unless an instruction before it faults, and has accessed one behind. The object of an operand
// behind still lives, though its register may be dead: a goroutine that is preempted in a block is scanned
// conservatively. Missed: operands on the stack, of instructions that this package does not know, and behind one that
// the decoder cannot read.
//
// The package is part of monitored programs: it imports the standard library and golang.org/x/arch/x86/x86asm alone.
package operands
