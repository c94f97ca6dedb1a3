package p

import "sync/atomic"

type counters struct {
	n     int64
	typed atomic.Int64
	ptr   *atomic.Int64
	atomic.Bool
	arr  [3]atomic.Uint32
	ints []int
	buf  []byte
}

func (c counters) get() int64 { return c.n }

func atomics(c *counters, p *int64, v counters) {
	atomic.AddInt64(&c.n, 1)       // want atomic-write c.n field:counters.n in atomics
	_ = atomic.LoadInt64(&c.n)     // want atomic-read c.n field:counters.n in atomics
	atomic.StoreInt64(p, c.n)      // want atomic-write *p deref:atomics.*p in atomics; read c.n field:counters.n in atomics
	c.typed.Store(1)               // want atomic-write c.typed field:counters.typed in atomics
	_ = c.typed.Load()             // want atomic-read c.typed field:counters.typed in atomics
	c.ptr.Add(1)                   // want read c.ptr field:counters.ptr in atomics; atomic-write *c.ptr deref:Int64.* in atomics
	_ = c.arr[1].Load()            // want atomic-read c.arr[1] element:counters.arr[] in atomics
	_ = c.Load()                   // the embedded one has no expression
	_ = c.typed.Load               // no call
	_ = v.n                        // want read v.n field:counters.n in atomics
	defer atomic.AddInt64(&v.n, 1) // want atomic-write v.n field:counters.n in atomics
}

func bulk(c *counters, s []int, i int, byName map[string][]int, m2 *matrix) {
	_ = c.get()                          // want read *c deref:counters.* in bulk
	_ = c.get                            // want read *c deref:counters.* in bulk
	copy(c.ints, s)                      // want read c.ints field:counters.ints in bulk; write c.ints element:counters.ints[] in bulk; read s element:bulk.s[] in bulk
	copy(c.ints[1:], s[i:])              // want read c.ints field:counters.ints in bulk; write c.ints[1:] element:counters.ints[] in bulk; read s[i:] element:bulk.s[] in bulk
	copy(c.buf, "text")                  // want read c.buf field:counters.buf in bulk; write c.buf element:counters.buf[] in bulk
	clear(s)                             // want write s element:bulk.s[] in bulk
	_ = append([]int(nil), c.ints...)    // want read c.ints field:counters.ints in bulk; read c.ints element:counters.ints[] in bulk
	_ = string(c.buf)                    // want read c.buf field:counters.buf in bulk; read c.buf element:counters.buf[] in bulk
	_ = (*[2]int)(s)                     // no access
	_ = [2]int(s)                        // want read s element:bulk.s[] in bulk
	byName["a"] = append(byName["a"], i) // want write byName["a"] map:bulk.byName in bulk; write byName["a"] element:bulk.byName["a"][] in bulk; read byName["a"] map:bulk.byName in bulk
	for _, v := range byName["b"] {      // want read byName["b"] element:bulk.byName["b"][] in bulk; read byName["b"] map:bulk.byName in bulk
		_ = v
	}
	copy(m2.rows[0], m2.rows[1]) // want read m2.rows field:matrix.rows in bulk; read m2.rows[0] element:matrix.rows[] in bulk; write m2.rows[0] element:matrix.rows[][] in bulk; read m2.rows field:matrix.rows in bulk; read m2.rows[1] element:matrix.rows[] in bulk; read m2.rows[1] element:matrix.rows[][] in bulk
	own := make([]int, 3)
	copy(own[1:], own)
	for range c.ints { // want read c.ints field:counters.ints in bulk
	}
	for i := range c.ints { // want read c.ints field:counters.ints in bulk
		_ = i
	}
	for _, v := range c.ints { // want read c.ints field:counters.ints in bulk; read c.ints element:counters.ints[] in bulk
		_ = v
	}
	for _, v := range &table { // want read &table element:table[] in bulk
		_ = v.n
	}
	for _, v := range own {
		_ = v
	}
}
