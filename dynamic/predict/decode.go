package predict

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A trace file is as package dynamic/hb writes it: a head of four words, and four words for each
// event. See hb/inject/trace.go.
const (
	headSize  = 32
	eventSize = 32

	traced      = 0x80
	madeAtomic  = 0x40
	update      = 0x20
	opMask      = 0x1f
	acquireAll  = 11
	forget      = 12
	context     = 13
	granule     = 8
	granuleMask = 0xff

	mostForgotten = 1 << 12
)

// MostEvents is how many events a trace may have: later ones are left out. In a file each takes
// 32 bytes, of which only those are written that are there.
const MostEvents = 4 << 20

// Head returns the contents of a trace file that nothing has been written to, and its size.
func Head() (head []byte, size int64) {
	head = make([]byte, headSize)
	binary.NativeEndian.PutUint64(head, MostEvents)
	return head, headSize + MostEvents*eventSize
}

// Trace is the contents of a trace file.
type Trace struct {
	Events []Event
	Calls  map[uint32]Call // by calling context
	Cut    bool            // it is not whole
}

// Call is the last call of a calling context: the return address in its caller, and the caller's context.
type Call struct {
	PC     uint64
	Parent uint32
}

// Decode returns the events of a trace file. Of variables only those are kept that two goroutines
// access. An event that was being written when the process ended is left out, and so are those
// after it: the events that they need are not certain.
func Decode(file []byte) (*Trace, error) {
	if len(file) < headSize || binary.NativeEndian.Uint64(file) != MostEvents {
		return nil, errors.New("it is no trace of this version of interlock")
	}
	t := &Trace{Calls: map[uint32]Call{}}
	n := eventsOf(file)
	if n > MostEvents {
		n, t.Cut = MostEvents, true
	}
	if uint64(len(file)-headSize) < n*eventSize {
		return nil, fmt.Errorf("it ends in the middle: %d events take more than its %d bytes", n, len(file))
	}
	d := decoder{Trace: t, file: file[headSize:], text: binary.NativeEndian.Uint64(file[24:]),
		names: map[uint64]uint64{}, pages: map[uint64][]uint64{}, goroutines: map[uint64]int32{}, shared: map[uint64]int32{}}
	for i := range n {
		switch head := d.word(i, 3); {
		case head&traced == 0:
			n, t.Cut = i, true
		case head&opMask > context:
			return nil, fmt.Errorf("event %d is none that this version of interlock knows", i)
		}
	}
	d.findShared(n)
	d.reset()
	for i := range n {
		d.add(i)
	}
	return t, nil
}

// eventsOf returns how many events there were, more than MostEvents where some had no room.
func eventsOf(head []byte) uint64 { return binary.NativeEndian.Uint64(head[16:]) }

type decoder struct {
	*Trace
	file       []byte
	text       uint64              // where the program's begins
	goroutines map[uint64]int32    // by slot
	epochs     [][]epoch           // of a goroutine
	names      map[uint64]uint64   // of an address: that of the object that lies there now
	pages      map[uint64][]uint64 // of a page: the addresses in names
	last       uint64              // of the names
	shared     map[uint64]int32    // of a variable: the goroutine that alone accesses it, or several
}

const several = -1

// epoch is a goroutine's last event so far at a clock.
type epoch struct {
	clock uint32
	event int32
}

func (d *decoder) word(i uint64, k int) uint64 {
	return binary.NativeEndian.Uint64(d.file[i*eventSize+uint64(k)*8:])
}

func (d *decoder) reset() {
	clear(d.names)
	clear(d.pages)
	d.last = 0
}

// name returns the number of the object at an address, a new one if need be.
func (d *decoder) name(addr uint64) uint64 {
	if n, ok := d.names[addr]; ok {
		return n
	}
	d.last++
	d.names[addr] = d.last
	d.pages[addr>>12] = append(d.pages[addr>>12], addr)
	return d.last
}

// forget ends all objects in a range of memory, which is allocated anew.
func (d *decoder) forget(addr, size uint64) {
	if size == 0 || size > mostForgotten {
		return // the engine writes one event for each page
	}
	for page := addr >> 12; page <= (addr+size-1)>>12; page++ {
		d.pages[page] = slices.DeleteFunc(d.pages[page], func(a uint64) bool {
			inside := a+granule > addr && a < addr+size
			if inside {
				delete(d.names, a)
			}
			return inside
		})
		if len(d.pages[page]) == 0 {
			delete(d.pages, page)
		}
	}
}

// findShared finds the variables that two goroutines access.
func (d *decoder) findShared(n uint64) {
	for i := range n {
		head := d.word(i, 3)
		switch op := head & opMask; {
		case op == forget:
			d.forget(d.word(i, 0), d.word(i, 2))
		case op <= uint64(Write):
			v, g := d.name(d.word(i, 0)), d.goroutine(head)
			if other, ok := d.shared[v]; !ok {
				d.shared[v] = g
			} else if other != g {
				d.shared[v] = several
			}
		case op != acquireAll && op != context:
			d.name(d.word(i, 0)) // so that both passes count alike
		}
	}
}

// goroutine returns the number of the goroutine with the slot in a record.
func (d *decoder) goroutine(record uint64) int32 {
	slot := record >> 40 & (1<<18 - 1)
	g, ok := d.goroutines[slot]
	if !ok {
		g = int32(len(d.goroutines))
		d.goroutines[slot] = g
		d.epochs = append(d.epochs, nil)
	}
	return g
}

// place returns where the program goes on behind event i, 0 where that is not known, and its calling context.
func (d *decoder) place(i uint64) (pc uint64, frame uint32) {
	word := d.word(i, 1)
	if pc = word & (1<<32 - 1); pc != 0 {
		pc += d.text
	}
	return pc, uint32(word >> 32)
}

// add adds event i of the file.
func (d *decoder) add(i uint64) {
	obj, third, head := d.word(i, 0), d.word(i, 2), d.word(i, 3)
	op := head & opMask
	pc, frame := d.place(i)
	switch op {
	case forget:
		d.forget(obj, third)
		return
	case context:
		d.Calls[uint32(obj)] = Call{pc, frame}
		return
	}
	e := Event{PC: pc, Frame: frame, G: d.goroutine(head), From: -1, Op: Op(op), Atomic: head&madeAtomic != 0}
	if op != acquireAll {
		e.Obj = d.name(obj)
	}
	switch {
	case op <= uint64(Write):
		if d.shared[e.Obj] != several {
			return
		}
		e.Bytes = uint8(third & granuleMask)
		seen := int32(-1)
		if third&^granuleMask != 0 {
			seen = d.latest(d.goroutine(third), uint32(third>>8))
		}
		// The contents of a map behind a write depend on the writes before it.
		if e.Op == Read {
			e.From = seen
		} else if head&update != 0 && seen >= 0 {
			d.append(head, Event{PC: e.PC, G: e.G, From: seen, Op: Read, Obj: 0})
		}
	case e.Op == Go:
		e.Obj = uint64(d.goroutine(obj << 40))
	case op == acquireAll:
		// All that others have done is needed, one after the other.
		for g := range d.epochs {
			if list := d.epochs[g]; len(list) > 0 && int32(g) != e.G {
				d.append(head, Event{PC: e.PC, G: e.G, From: list[len(list)-1].event, Op: Read, Obj: 0})
			}
		}
		return
	}
	d.append(head, e)
}

func (d *decoder) append(head uint64, e Event) {
	clock, list := uint32(head>>8), d.epochs[e.G]
	if n := len(list); n == 0 || list[n-1].clock != clock {
		list = append(list, epoch{clock: clock})
	}
	list[len(list)-1].event = int32(len(d.Events))
	d.epochs[e.G] = list
	d.Events = append(d.Events, e)
}

// latest returns the last event so far that goroutine g has made by the clock, or -1.
func (d *decoder) latest(g int32, clock uint32) int32 {
	list := d.epochs[g]
	for k := len(list) - 1; k >= 0; k-- {
		if list[k].clock <= clock {
			return list[k].event
		}
	}
	return -1
}
