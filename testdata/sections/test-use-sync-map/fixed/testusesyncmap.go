// Package testusesyncmap has it mended: LoadOrStore.
package testusesyncmap

import (
	"sync"
	"sync/atomic"
)

type hits struct{ n atomic.Int64 }

// Pages counts hits by page.
type Pages struct{ m sync.Map }

// Hit counts one.
func (p *Pages) Hit(page string) {
	v, ok := p.m.Load(page)
	if !ok {
		v, _ = p.m.LoadOrStore(page, &hits{})
	}
	v.(*hits).n.Add(1)
}

// Hits reports how many there were.
func (p *Pages) Hits(page string) int64 {
	v, ok := p.m.Load(page)
	if !ok {
		return 0
	}
	return v.(*hits).n.Load()
}
