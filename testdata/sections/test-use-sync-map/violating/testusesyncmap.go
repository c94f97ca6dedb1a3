// Package testusesyncmap has a sync.Map that is asked and filled by two operations. IL2002.
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
	v, ok := p.m.Load(page) // want IL2002 entry
	if !ok {
		v = &hits{}
		p.m.Store(page, v) // want IL2002 end
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
