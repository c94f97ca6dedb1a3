// Package testuseinterface has a lookup and an entry through an interface. IL2002.
package testuseinterface

import "sync"

type room struct{ members int }

type rooms interface {
	find(name string) *room
	open(name string, r *room)
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

func (t *table) open(name string, r *room) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byName[name] = r
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
	r := c.rooms.find(name) // want IL2002 entry
	if r == nil {
		r = &room{}
		c.rooms.open(name, r) // want IL2002 end
	}
	c.rooms.join(r)
}

// Members reports how many are in a room.
func (c *Chat) Members(name string) int { return c.rooms.find(name).members }
