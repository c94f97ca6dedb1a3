package policy

// Event is an event of a goroutine other than an access.
type Event uint64

const (
	Forked    Event = iota // it has started another goroutine
	Started                // it has been started
	Acquiring              // it is about to acquire a lock
	Awaiting               // it is about to wait for a message or a signal
)

// Turns say at which events of a run a goroutine is held. Some orders come about only if a goroutine is late where it
// makes no access: the one that has started another goes on before that has begun, or has it begin first, and the
// first of two to acquire a lock decides the state that the other one finds.
//
// Of three runs in a row, with seeds in a row, a statement that starts a goroutine holds the one that made it in one,
// the new one in another, and nobody in the third; a place that acquires a lock, or waits for a message or a signal,
// holds in one of the three. So an order that a run has shown comes again with every third seed (see schedule.Turn),
// and the windows that it asks for are tried there.
type Turns struct{ turn, combination uint64 }

const (
	turns  = 3
	rounds = 4 // after so many, other places have a turn at the same time
)

// NewTurns returns the turns of a run, by its seed.
func NewTurns(seed uint64) Turns { return Turns{seed % turns, mix(seed / (turns * rounds))} }

// Has reports whether a goroutine is held at the event, at a place of that number.
func (t Turns) Has(e Event, place uint64) bool {
	n := (mix(place^t.combination) + t.turn) % turns
	switch e {
	case Forked:
		return n == 0
	case Started:
		return n == 1
	}
	return n == 2
}
