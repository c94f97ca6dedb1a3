//go:build race

// Command stationary runs small programs of three goroutines, whose operations are in standard input: a program's number,
// and that of the operation in it, who makes it, what it is, of which object or sync variable, and which field. They are
// made in that order, which orders nothing, so that it is known which access each report is about.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

type operation struct {
	program, number, goroutine int
	what                       string
	on, field                  int
}

// object has two granules of one variable each, one of parts, and one for sync/atomic. No part is at the granule's first
// byte: the engine takes an access there for one of the whole granule.
type object struct {
	words [2]int64
	_     int16
	parts [3]int16
	count int64
}

var (
	turn    int
	objects [4]*object
	syncs   [2]int64
)

//go:norace
//go:noinline
func await(n int) {
	for turn != n {
		runtime.Gosched()
	}
}

//go:norace
//go:noinline
func finish() { turn++ }

//go:norace
//go:noinline
func get(i int) *object { return objects[i] }

//go:norace
//go:noinline
func set(i int, o *object) { objects[i] = o }

var sink int64

//go:norace
//go:noinline
func use(v int64) { sink = v }

func (o operation) run() {
	t := get(o.on)
	switch o.what {
	case "new":
		set(o.on, new(object))
	case "release":
		runtime.RaceReleaseMerge(unsafe.Pointer(&syncs[o.on%2]))
	case "acquire":
		runtime.RaceAcquire(unsafe.Pointer(&syncs[o.on%2]))
	case "write":
		if o.field < 2 {
			t.words[o.field] = 1
		} else {
			t.parts[o.field-2] = 1
		}
	case "read":
		if o.field < 2 {
			use(t.words[o.field])
		} else {
			use(int64(t.parts[o.field-2]))
		}
	case "writeAll":
		*t = object{words: [2]int64{1, 2}}
	case "readAll":
		local := *t
		use(local.words[0])
	case "add":
		atomic.AddInt64(&t.count, 1)
	case "count":
		use(t.count)
	}
}

// deep has each operation of a program in a calling context of its own, so that its reports are no repetitions.
//
//go:noinline
func deep(n int, o operation) {
	if n > 0 {
		deep(n-1, o)
		return
	}
	o.run()
}

func main() {
	programs := map[int][]operation{}
	last := 0
	for {
		var o operation
		if _, err := fmt.Scan(&o.program, &o.number, &o.goroutine, &o.what, &o.on, &o.field); err != nil {
			break
		}
		programs[o.program] = append(programs[o.program], o)
		last = o.program
	}
	for i := range last + 1 {
		turn = 0
		for k := range objects {
			objects[k] = new(object)
		}
		var done sync.WaitGroup
		for g := range 3 {
			done.Add(1)
			go func() {
				defer done.Done()
				for _, o := range programs[i] {
					if o.goroutine != g {
						continue
					}
					await(o.number)
					println("operation", o.program, o.number)
					deep(o.number, o)
					finish()
				}
			}()
		}
		done.Wait()
		println("operation -1 -1")
	}
	os.Exit(0)
}
