package elements

import "sync"

var (
	idMu sync.Mutex
	id   [6]byte
)

func SetID(x []byte) {
	idMu.Lock()
	defer idMu.Unlock()
	copy(id[:], x)
}

func ID(out []byte) {
	idMu.Lock()
	if id == [6]byte{} {
		id[0] = 1
	}
	idMu.Unlock()
	copy(out, id[:]) // want `id is read without idMu`
}

func Tail(out []byte) {
	idMu.Lock()
	defer idMu.Unlock()
	copy(out, id[3:]) // ok
}

// seed is written once, before anything else runs.
var seed [6]byte

func init() { copy(seed[:], "abcdef") }

func Seed(out []byte) { copy(out, seed[:]) } // ok
