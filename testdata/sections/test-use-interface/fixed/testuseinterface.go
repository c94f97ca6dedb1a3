// Package testuseinterface has it mended: the table looks again.
package testuseinterface

import "sync"

type room struct{ members int }

type rooms interface {
	find(name string) *room
	openOrFind(name string) *room
	join(r *room)
}

type table struct {
	mu     sync.Mutex
	byName map[string]*room
}

func (t *table) find(name string) *room {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byName[name]
}

func (t *table) openOrFind(name string) *room {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName[name] == nil {
		t.byName[name] = &room{}
	}
	return t.byName[name]
}

func (t *table) join(r *room) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.members++
}

// Chat has rooms that are opened by who comes first.
type Chat struct{ rooms rooms }

// New makes a chat without rooms.
func New() *Chat { return &Chat{&table{byName: map[string]*room{}}} }

// Join enters a room.
func (c *Chat) Join(name string) {
	r := c.rooms.find(name)
	if r == nil {
		r = c.rooms.openOrFind(name)
	}
	c.rooms.join(r)
}

// Members reports how many are in a room.
func (c *Chat) Members(name string) int { return c.rooms.find(name).members }
