//go:build interlock_production

package agent

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/production/operands"
)

// code holds what is decoded of the program: the table of rows, which handlers of signals read, and functions.
type code struct {
	rows      []operands.Row
	used      int
	functions map[uintptr]*operands.Function // by start
	full      uint64                         // functions for which there was no room
}

// tableSize is how many rows the table has: 13 MB, if all of it is used.
const tableSize = 1 << 17

// mostFunctions is how many decoded functions are kept for judging. They are decoded again where they are missing.
const mostFunctions = 256

func (c *code) init() {
	c.rows = make([]operands.Row, tableSize)
	c.functions = map[uintptr]*operands.Function{}
	ilkSetTable(unsafe.Pointer(&c.rows[0]), tableSize-1)
}

// learn puts the operands of the function at pc into the table.
func (c *code) learn(pc uintptr) {
	f := c.function(pc)
	if f == nil || c.find(pc).PC == pc {
		return
	}
	rows := f.Rows(isPrivate)
	if c.used+len(rows) > tableSize/2 {
		c.full++
		return
	}
	known := false
	for i := range rows {
		known = known || rows[i].PC == pc
		c.put(&rows[i])
	}
	if !known { // the decoder stops before it: nothing is known there
		c.put(&operands.Row{PC: pc})
	}
}

// isPrivate reports whether an instruction is not an access of the program's: it is atomic, or one of a package that
// synchronises by means of its own.
func isPrivate(pc uintptr) bool {
	exact, _ := runtime.CallersFrames([]uintptr{pc + 1}).Next()
	return packageOf(exact.Function) == "sync/atomic" || internal(exact.Function, exact.File)
}

// put adds a row. Its pc comes last, so that a reader sees the row as a whole.
func (c *code) put(row *operands.Row) {
	to := c.find(row.PC)
	if to.PC != 0 {
		return
	}
	pc := row.PC
	row.PC = 0
	*to = *row
	atomic.StoreUintptr(&to.PC, pc)
	c.used++
}

// find returns the row of pc, or the empty one where it belongs.
func (c *code) find(pc uintptr) *operands.Row {
	for i := hash(pc); ; i++ {
		row := &c.rows[i&(tableSize-1)]
		if row.PC == pc || row.PC == 0 {
			return row
		}
	}
}

// hash is ilkHash.
func hash(pc uintptr) uintptr { return pc * 0x9E3779B97F4A7C15 >> 40 }

// function returns the decoded function at pc, or nil.
func (c *code) function(pc uintptr) *operands.Function {
	start, end := ilkBounds(pc)
	if start == 0 || end <= start || end-start > 1<<18 {
		return nil
	}
	if f := c.functions[start]; f != nil {
		return f
	}
	if len(c.functions) >= mostFunctions {
		clear(c.functions)
	}
	f := operands.Decode(unsafe.Slice((*byte)(unsafe.Pointer(start)), end-start), start)
	c.functions[start] = f
	return f
}
