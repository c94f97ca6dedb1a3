package p

import "sync"

type entries struct {
	m   sync.Map
	ptr *sync.Map
	sync.Map
}

func syncMaps(e *entries, k string) {
	e.m.Load(k)                                    // want atomic-read e.m.Load syncmap:entries.m in syncMaps
	e.m.Store(k, 1)                                // want atomic-write e.m.Store syncmap:entries.m in syncMaps
	e.ptr.Delete(k)                                // want read e.ptr field:entries.ptr in syncMaps; atomic-write e.ptr.Delete syncmap:entries.ptr in syncMaps
	e.m.Range(func(_, _ any) bool { return true }) // want atomic-read e.m.Range syncmap:entries.m in syncMaps
	e.Map.CompareAndSwap(k, 1, 2)                  // want atomic-write e.Map.CompareAndSwap syncmap:entries.Map in syncMaps
	e.Load(k)
	var own sync.Map
	own.Store(k, 1)   // want atomic-write own.Store syncmap:syncMaps.own in syncMaps
	defer e.m.Clear() // want atomic-write e.m.Clear syncmap:entries.m in syncMaps
}
