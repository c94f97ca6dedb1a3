// Package testuselastleaves has a topic that is removed after its last member has left, when another may have joined. IL2002.
package testuselastleaves

import "sync"

// Hub has members by topic.
type Hub struct {
	mu     sync.Mutex
	topics map[string]map[int]bool
}

// New makes an empty hub.
func New() *Hub { return &Hub{topics: map[string]map[int]bool{}} }

// Join adds a member.
func (h *Hub) Join(topic string, id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[topic] == nil {
		h.topics[topic] = map[int]bool{}
	}
	h.topics[topic][id] = true
}

// Members reports how many there are.
func (h *Hub) Members(topic string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.topics[topic])
}

// Leave removes a member, and the topic with the last one.
func (h *Hub) Leave(topic string, id int) {
	h.mu.Lock()
	delete(h.topics[topic], id)
	h.mu.Unlock()
	if h.Members(topic) == 0 { // want IL2002 entry
		h.mu.Lock()
		delete(h.topics, topic) // want IL2002 end
		h.mu.Unlock()
	}
}
