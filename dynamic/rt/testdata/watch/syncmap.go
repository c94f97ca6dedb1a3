package main

import (
	"sync"
	"sync/atomic"

	"interlock.invalid/rt"
)

// Programs for a sync.Map: section 1 loads an entry, at site 1, and stores it, at site 2.

type entries struct{ m sync.Map }

func init() {
	keys := [2]any{"a", 7}
	syncMaps := func(name string, owner, other func(e *entries)) {
		programs[name] = func() {
			e := new(entries)
			e.m.Store("b", 7)
			var done atomic.Bool
			both(
				func() {
					for range 40 {
						owner(e)
					}
					done.Store(true)
				},
				func() {
					for !done.Load() {
						other(e)
					}
				})
		}
	}
	raise := func(k any) func(e *entries) { return func(e *entries) { e.raise(k) } }
	syncMaps("splitEntry", raise("a"), raise("a"))
	syncMaps("wholeOtherEntries", raise("a"), raise(keys[1]))
	syncMaps("wholeEntryStoredSame", (*entries).look, func(e *entries) { rt.SMWK(&e.m, "b", 3).Store("b", 7) })
	syncMaps("wholeEntryFailedSwap", (*entries).look, func(e *entries) { rt.SMWK(&e.m, "b", 3).CompareAndSwap("b", 1, 2) })
	syncMaps("wholeEntryThere", (*entries).look, func(e *entries) { rt.SMWK(&e.m, "b", 3).LoadOrStore("b", 9) })
	syncMaps("wholeRange", raise("a"), func(e *entries) { rt.SMR(&e.m, 3).Range(func(_, _ any) bool { return true }) })
	syncMaps("splitEntryAbsent", func(e *entries) {
		e.put("a")
		e.m.Delete("a")
	}, func(e *entries) { rt.SMWK(&e.m, "a", 3).Store("a", new(int)) })
	// What cannot be compared is not known to be another one.
	syncMaps("splitEntryOfSlices", func(e *entries) { e.add("c") }, func(e *entries) { e.add("c") })
}

func (e *entries) raise(k any) {
	m := &e.m
	v, _ := rt.EnterSync(rt.SMRK(m, k, 1), k, 1, 1, 0).Load(k)
	rt.Entered(1)
	rt.Gap(1)
	n, _ := v.(int)
	rt.EndSync(rt.SMWK(m, k, 2), k, 2, 1, rt.AllowReads|rt.Writes).Store(k, n+1)
	rt.StoredSync(m, k, 2)
	rt.Ended(1)
}

func (e *entries) put(k string) {
	m := &e.m
	_, ok := rt.Tested(rt.EnterSync(rt.SMRK(m, k, 1), k, 1, 1, 0), 1, rt.TestPresent, 0).Load(k)
	rt.Entered(1)
	rt.Gap(1)
	if ok {
		rt.Leave(1)
		return
	}
	rt.EndSync(rt.SMWK(m, k, 2), k, 2, 1, rt.AllowReads|rt.Writes).Store(k, new(int))
	rt.StoredSync(m, k, 2)
	rt.Ended(1)
}

func (e *entries) add(k string) {
	m := &e.m
	rt.EnterSync(rt.SMRK(m, k, 1), k, 1, 1, 0).Load(k)
	rt.Entered(1)
	rt.Gap(1)
	rt.EndSync(rt.SMWK(m, k, 2), k, 2, 1, rt.AllowReads|rt.Writes).Store(k, []int{1})
	rt.StoredSync(m, k, 2)
	rt.Ended(1)
}

// look is a section that loads twice.
func (e *entries) look() {
	m := &e.m
	rt.EnterSync(rt.SMRK(m, "b", 1), "b", 1, 1, 0).Load("b")
	rt.Entered(1)
	rt.Gap(1)
	rt.EndSync(rt.SMRK(m, "b", 2), "b", 2, 1, rt.AllowReads).Load("b")
	rt.Ended(1)
}
