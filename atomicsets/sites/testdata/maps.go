package p

func maps(p *T, m map[string]int, mm map[string]map[string]int, ms map[int]T) {
	m["a"] = 1      // want write m["a"] map:maps.m in maps
	_ = p.m["b"]    // want read p.m field:T.m in maps; read p.m["b"] map:T.m in maps
	p.m["b"]++      // want read p.m field:T.m in maps; write p.m["b"] map:T.m in maps
	v, ok := m["a"] // want read m["a"] map:maps.m in maps
	_, _ = v, ok
	delete(p.m, "a") // want read p.m field:T.m in maps; write p.m map:T.m in maps
	clear(m)         // want write m map:maps.m in maps
	for range m {    // want read m map:maps.m in maps
	}
	mm["a"]["b"] = 1    // want read mm["a"] map:maps.mm in maps; write mm["a"]["b"] map:maps.mm["a"] in maps
	for range mm["a"] { // want read mm["a"] map:maps.mm["a"] in maps; read mm["a"] map:maps.mm in maps
	}
	_ = ms[1].n      // want read ms[1] map:maps.ms in maps
	_ = ms[p.n].in.g // want read ms[p.n] map:maps.ms in maps; read p.n field:T.n in maps
}

func generic[M ~map[K]V, K comparable, V any](m M, k K) V {
	return m[k] // want read m[k] map:generic.m in generic
}
