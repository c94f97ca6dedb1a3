package crosspkg

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Order is one place where a lock of class To may be waited for while one of
// class From is held.
type Order struct {
	finding.Edge
	FromRead bool `json:"from_read,omitempty"` // only the read side is held
	ToRead   bool `json:"to_read,omitempty"`
	// Gates are the other locks that are surely held.
	Gates []Gate `json:"gates,omitempty"`
	// Goroutine names the one goroutine that runs this; empty if several may.
	Goroutine string `json:"goroutine,omitempty"`
}

// Gate is a lock that is held around an [Order].
type Gate struct {
	Class string `json:"class"`
	Read  bool   `json:"read,omitempty"`
}

// Locks is the part of one package's summary that the join needs.
type Locks struct {
	Orders []Order `json:"orders,omitempty"`
	// Written lists the classes that the package locks, and not only read-locks.
	Written []string `json:"written,omitempty"`
	// Flows and Methods say which locks a call through an interface may take.
	Flows   []Flow   `json:"flows,omitempty"`
	Methods []Method `json:"methods,omitempty"`
}

// haveGate reports whether a lock that both hold keeps a and b apart.
func haveGate(a, b *Order) bool {
	return slices.ContainsFunc(a.Gates, func(g Gate) bool {
		return slices.ContainsFunc(b.Gates, func(h Gate) bool { return g.Class == h.Class && !(g.Read && h.Read) })
	})
}

// blocks reports whether waiting as b does can be held up by a lock as a
// holds it: a and b are next to each other in a cycle, b's To being a's From.
func blocks(holds, waits *Order, written map[string]bool) bool {
	return !holds.FromRead || !waits.ToRead || written[waits.To]
}
