package operands

import (
	"slices"
	"testing"
)

// code is a block in the middle of a function, by the addresses of its instructions.
var code = slices.Concat(
	[]byte{0x48, 0x8b, 0x13},             // 1000: mov rdx, [rbx]
	[]byte{0x48, 0x89, 0x48, 0x08},       // 1003: mov [rax+8], rcx
	[]byte{0x48, 0x83, 0xc0, 0x01},       // 1007: add rax, 1
	[]byte{0x8b, 0x34, 0x8f},             // 100b: mov esi, [rdi+rcx*4]
	[]byte{0x48, 0x8b, 0x04, 0x24},       // 100e: mov rax, [rsp]
	[]byte{0xe8, 0x00, 0x00, 0x00, 0x00}, // 1012: call 1017
	[]byte{0xf0, 0x48, 0xff, 0x03},       // 1017: lock inc [rbx]
	[]byte{0x48, 0x8b, 0x12},             // 101b: mov rdx, [rdx]
	[]byte{0xc3},                         // 101e: ret
)

const start = 0x1000

func never(uintptr) bool { return false }

// An operand belongs to a sample as long as nothing in between changes its registers, calls or locks.
func TestRows(t *testing.T) {
	want := map[uintptr][]int32{ // from the sample to the operands
		0x1000: {0, 3, 0xb},
		0x1003: {0, 8, -3},
		0x1007: {4, -4, -7},
		0x100b: {0, -0xb}, // rax has changed
		0x100e: {-3, -0xe},
		0x1012: {-7, -0x12},
		0x1017: nil, // it locks
		0x101b: {0},
		0x101e: nil, // rdx has changed
	}
	rows := Decode(code, start).Rows(never)
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for _, row := range rows {
		var got []int32
		for _, o := range row.Operands[:row.N] {
			got = append(got, o.Delta)
		}
		if !slices.Equal(got, want[row.PC]) {
			t.Errorf("%#x: operands at %d, want %d", row.PC, got, want[row.PC])
		}
	}
	// An instruction that is skipped is no operand of others either.
	for _, row := range Decode(code, start).Rows(func(pc uintptr) bool { return pc == 0x1003 }) {
		for _, o := range row.Operands[:row.N] {
			if row.PC+uintptr(int(o.Delta)) == 0x1003 {
				t.Errorf("%#x has the operand that is skipped", row.PC)
			}
		}
	}
}

// A check for nil is no access of the program, and a test of a bit is one.
func TestRowsOfChecks(t *testing.T) {
	code := slices.Concat(
		[]byte{0x84, 0x00},       // 1000: test [rax], al
		[]byte{0xf6, 0x00, 0x01}, // 1002: test byte [rax], 1
		[]byte{0xc3},             // 1005: ret
	)
	for _, row := range Decode(code, start).Rows(never) {
		if row.PC < 0x1005 && (row.N != 1 || row.PC+uintptr(int(row.Operands[0].Delta)) != 0x1002) {
			t.Errorf("%#x: operands %+v, want that of 1002 alone", row.PC, row.Operands[:row.N])
		}
	}
}

// A jump into the block begins another one: what stands before it may not have run.
func TestRowsBehindAJump(t *testing.T) {
	code := slices.Concat(
		[]byte{0x48, 0x8b, 0x13}, // 1000: mov rdx, [rbx]
		[]byte{0x48, 0xff, 0xc1}, // 1003: inc rcx
		[]byte{0x75, 0xfb},       // 1006: jne 1003
		[]byte{0xc3},             // 1008: ret
	)
	for _, row := range Decode(code, start).Rows(never) {
		if want := uint32(0); row.PC > 0x1000 && row.N != want {
			t.Errorf("%#x: %d operands, want none", row.PC, row.N)
		}
	}
}

// A trap stands behind its access. The mode is that of the instruction.
func TestBehind(t *testing.T) {
	f := Decode(code, start)
	for _, tt := range []struct {
		pc   uintptr
		want Access
		ok   bool
	}{
		{0x1003, Access{PC: 0x1000, Read: true}, true},
		{0x1007, Access{PC: 0x1003, Write: true}, true},
		{0x101b, Access{PC: 0x1017, Write: true, Atomic: true}, true},
		{0x1008, Access{}, false},                       // within an instruction
		{0x100b, Access{PC: 0x1007, Read: true}, false}, // it accesses no memory
	} {
		if got, ok := f.Behind(tt.pc); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%#x: %+v, %v, want %+v", tt.pc, got, ok, tt.want)
		}
	}
}

// A thread that is asked where it is has written the variable if an instruction of its block does, by its registers.
func TestNear(t *testing.T) {
	f := Decode(code, start)
	registers := [16]uint64{0: 0x5000, 3: 0x6000}
	if got := f.Near(0x1000, 0x5008, 8, &registers); len(got) != 1 || got[0].PC != 0x1003 || !got[0].Write {
		t.Errorf("ahead: %+v", got)
	}
	if got := f.Near(0x1007, 0x500c, 4, &registers); len(got) != 1 || got[0].PC != 0x1003 {
		t.Errorf("behind, the upper half: %+v", got)
	}
	if got := f.Near(0x100b, 0x5008, 8, &registers); len(got) != 0 {
		t.Errorf("rax is another one there: %+v", got)
	}
}
