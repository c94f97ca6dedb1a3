//go:build (amd64 || arm64) && !plan9

package rt

import (
	"strconv"
	"sync/atomic"
)

// history remembers for some granules which goroutines came there lately, at which
// sites and when. It is cut into buckets of historyWays, one for each hash of a granule.
// An entry that is pushed out of a full bucket, or overwritten by two goroutines at once,
// costs a hint and nothing else.
var history [historyBuckets * measuringWays]past

// historyWays is how many visits a bucket of the history keeps. It is
// set at start. A run without noise measures gaps and keeps many. A run with noise needs
// the last visit alone, to see sites come near, and its slow path is to stay short.
var historyWays = 1

const (
	measuringWays  = 8
	historyBuckets = 4096
)

// bucketOf returns the bucket of a granule.
func bucketOf(granule uintptr) []past {
	i := int(granule%historyBuckets) * historyWays
	return history[i : i+historyWays]
}

// past is one goroutine at one site, in the history.
type past struct {
	visit       atomic.Uint64 // a visit
	first, last atomic.Int64  // when, by nanotime
}

// notice searches the history of the granules of a. Two goroutines, one of them
// writing, make both sites near: worth more windows, and the next one at once (TSVD,
// Li and others 2019, calls it a near miss). And they leave a gap: how long the first
// would have had to wait for the second (Waffle, Stoica and others 2023). n is random.
func notice(s *site, a *access, now int64, n uint64) {
	const most = 64 // granules that are visited; of a longer range, a sample
	first, last := a.addr>>3, (a.addr+a.size-1)>>3
	step := (last-first)/most + 1
	for granule := first + uintptr(n)%step; granule <= last; granule += step {
		visitGranule(s, bucketOf(granule), makeVisit(granule, a), now)
	}
}

// visitGranule notes visit v, of site s, in its bucket.
func visitGranule(s *site, bucket []past, v visit, now int64) {
	place, oldest := 0, int64(0)
	for i := range bucket {
		p := &bucket[i]
		old, at := visit(p.visit.Load()), p.last.Load()
		switch {
		case old == v:
			p.last.Store(now)
			place = -1
			continue
		case old.conflicts(v):
			s.comeNear()
			sites[old.site()].comeNear()
			noteGap(old.site(), v.site(), now-at, now-p.first.Load())
		}
		if place >= 0 && (i == 0 || at < oldest) {
			place, oldest = i, at
		}
	}
	if place >= 0 {
		p := &bucket[place]
		p.visit.Store(uint64(v))
		p.first.Store(now)
		p.last.Store(now)
	}
}

// gaps holds, for each ordered pair of sites that two goroutines came to, one after
// the other, the gaps between them: a hash table.
var gaps [4096]gap

type gap struct {
	sites atomic.Uint64 // the first site above, the second below; 0 in a free entry
	least atomic.Int64  // nanoseconds from the last visit of the first site to one of the second
	most  atomic.Int64  // from its first visit
	news  atomic.Bool   // not written since it changed
}

// noteGap takes up that a goroutine came to site then after another one had come to
// site first: least after its last visit, most after its first one.
func noteGap(first, then uint32, least, most int64) {
	g := gapOf(uint64(first)<<32 | uint64(then))
	if g == nil {
		counters.noGap.Add(1)
		return
	}
	// A gap is a hint for the length of a window: a small change is no news.
	if old := g.least.Load(); old == 0 || least < old-old/4 {
		g.least.Store(max(least, 1))
		g.news.Store(true)
	}
	if old := g.most.Load(); most > old+old/4 {
		g.most.Store(most)
		g.news.Store(true)
	}
}

// gapOf returns the entry of a pair, a new one if need be, or nil where there is no
// room in its neighbourhood.
func gapOf(pair uint64) *gap {
	const near = 32
	for i, h := 0, mix(pair); i < near; i, h = i+1, h+1 {
		g := &gaps[h%uint64(len(gaps))]
		if k := g.sites.Load(); k == pair || k == 0 && (g.sites.CompareAndSwap(0, pair) || g.sites.Load() == pair) {
			return g
		}
	}
	return nil
}

// writeGaps writes the gaps that are news. requires: out.mu.
func writeGaps() {
	const inRecord = 256
	b, n := []byte(nil), 0
	for i := range gaps {
		g := &gaps[i]
		if !g.news.Load() || !g.news.CompareAndSwap(true, false) {
			continue
		}
		if n == 0 {
			b = append(beginRecord("gaps"), `,"gaps":[`...)
		} else {
			b = append(b, ',')
		}
		pair := g.sites.Load()
		b = strconv.AppendUint(append(b, `{"first":`...), pair>>32, 10)
		b = appendField(b, `,"then":`, pair&(1<<32-1))
		b = appendField(b, `,"least_ns":`, uint64(g.least.Load()))
		b = append(appendField(b, `,"most_ns":`, uint64(g.most.Load())), '}')
		if n++; n == inRecord {
			endRecord(append(b, `]}`...))
			n = 0
		}
	}
	if n > 0 {
		endRecord(append(b, `]}`...))
	}
}
