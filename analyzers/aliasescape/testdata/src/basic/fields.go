package basic

import "sync"

type peer struct {
	id  string
	rtt int
	log *[]int
}

type peers struct {
	mu    sync.RWMutex
	list  []peer
	kept  []peer
	links []*peer
}

func (p *peers) All() []peer { // want All:"result 0 aliases peers.list"
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.list // want `alias of peers.list is returned from under p.mu`
}

func (p *peers) Kept() []peer {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return append([]peer(nil), p.kept...) // ok: a copy
}

func (p *peers) Links() []*peer { // want Links:"result 0 aliases peers.links"
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.links // ok: what the elements point to is changed, not the elements
}

func (p *peers) Observe(id string, rtt int) { // want Observe:"changes peers.list; changes peers.kept"
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		p.list[i].rtt = rtt
	}
	for i := range p.kept {
		p.kept[i].rtt = rtt
	}
	for i := range p.links {
		p.links[i].rtt = rtt
	}
}
