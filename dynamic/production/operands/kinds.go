package operands

import "golang.org/x/arch/x86/x86asm"

// kind is what an instruction does with its first argument.
type kind int

const (
	changes  kind = iota + 1 // it is the destination: changed, or read and changed
	compares                 // it is read
)

// kinds holds the instructions that this package knows: each changes no general register but its first argument, and
// goes on to the next instruction. A block ends at all others, such as calls, jumps, divisions and locked instructions.
var kinds = map[x86asm.Op]kind{
	x86asm.CMP: compares, x86asm.TEST: compares, x86asm.BT: compares, x86asm.NOP: compares,
	x86asm.UCOMISD: compares, x86asm.UCOMISS: compares, x86asm.COMISD: compares, x86asm.COMISS: compares,

	x86asm.MOV: changes, x86asm.MOVZX: changes, x86asm.MOVSX: changes, x86asm.MOVSXD: changes, x86asm.LEA: changes,
	x86asm.ADD: changes, x86asm.SUB: changes, x86asm.AND: changes, x86asm.OR: changes, x86asm.XOR: changes,
	x86asm.ADC: changes, x86asm.SBB: changes, x86asm.INC: changes, x86asm.DEC: changes, x86asm.NEG: changes,
	x86asm.NOT: changes, x86asm.SHL: changes, x86asm.SHR: changes, x86asm.SAR: changes, x86asm.ROL: changes,
	x86asm.ROR: changes, x86asm.SHLD: changes, x86asm.SHRD: changes, x86asm.BSF: changes, x86asm.BSR: changes,
	x86asm.BSWAP: changes, x86asm.POPCNT: changes, x86asm.TZCNT: changes, x86asm.LZCNT: changes,

	x86asm.SETA: changes, x86asm.SETAE: changes, x86asm.SETB: changes, x86asm.SETBE: changes, x86asm.SETE: changes,
	x86asm.SETG: changes, x86asm.SETGE: changes, x86asm.SETL: changes, x86asm.SETLE: changes, x86asm.SETNE: changes,
	x86asm.SETNP: changes, x86asm.SETP: changes, x86asm.SETS: changes, x86asm.SETNS: changes,

	x86asm.CMOVA: changes, x86asm.CMOVAE: changes, x86asm.CMOVB: changes, x86asm.CMOVBE: changes,
	x86asm.CMOVE: changes, x86asm.CMOVG: changes, x86asm.CMOVGE: changes, x86asm.CMOVL: changes,
	x86asm.CMOVLE: changes, x86asm.CMOVNE: changes, x86asm.CMOVS: changes, x86asm.CMOVNS: changes,

	x86asm.MOVUPS: changes, x86asm.MOVAPS: changes, x86asm.MOVUPD: changes, x86asm.MOVDQU: changes,
	x86asm.MOVSD_XMM: changes, x86asm.MOVSS: changes, x86asm.MOVD: changes, x86asm.MOVQ: changes,
	x86asm.ADDSD: changes, x86asm.SUBSD: changes, x86asm.MULSD: changes, x86asm.DIVSD: changes, x86asm.SQRTSD: changes,
	x86asm.ADDSS: changes, x86asm.SUBSS: changes, x86asm.MULSS: changes, x86asm.DIVSS: changes,
	x86asm.CVTSI2SD: changes, x86asm.CVTTSD2SI: changes, x86asm.XORPS: changes, x86asm.PXOR: changes,
	x86asm.IMUL: changes,
}

// readers are further instructions that only read their operand in memory.
var readers = map[x86asm.Op]bool{
	x86asm.PUSH: true, x86asm.CALL: true, x86asm.JMP: true, x86asm.DIV: true, x86asm.IDIV: true, x86asm.MUL: true,
	x86asm.IMUL: true,
}
