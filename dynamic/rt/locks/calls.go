package locks

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/rt"
	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// watching reports whether locks are watched now: in a process that is monitored, except for
// pauses (pace.go).
var watching atomic.Bool

// exact reports whether the happens-before engine is in this process: it would take synchronisation by the lock of
// [orders] for the program's. Written at start only.
var exact bool

func init() {
	if rt.Watching() {
		exact = rt.Setting("INTERLOCK_HB_MEMORY") != ""
		readHolds(rt.Setting("INTERLOCK_HOLD"))
		readRelations(rt.Setting("INTERLOCK_DRFINDER"))
		dump.Holder = holderFor
		watching.Store(true)
	}
}

// Mutex is a sync.Mutex at a site of the program that calls its methods.
type Mutex struct {
	mu   *sync.Mutex
	site uint64
}

// OfMutex returns mu, watched.
func OfMutex(mu *sync.Mutex, site uint64) Mutex { return Mutex{mu, site} }

func (m Mutex) request() request { return request{uintptr(unsafe.Pointer(m.mu)), m.site, false} }

// Lock locks the mutex.
func (m Mutex) Lock() {
	if !watching.Load() {
		m.mu.Lock()
		return
	}
	acquire(m.request(), m.mu.TryLock, m.mu.Lock)
}

// TryLock tries to lock the mutex.
func (m Mutex) TryLock() bool {
	got := m.mu.TryLock()
	if got && watching.Load() {
		took(m.request())
	}
	return got
}

// Unlock unlocks the mutex.
func (m Mutex) Unlock() {
	if watching.Load() {
		release(m.request())
	}
	m.mu.Unlock()
}

// RWMutex is a sync.RWMutex at a site of the program that calls its methods.
type RWMutex struct {
	mu   *sync.RWMutex
	site uint64
}

// OfRWMutex returns mu, watched.
func OfRWMutex(mu *sync.RWMutex, site uint64) RWMutex { return RWMutex{mu, site} }

func (m RWMutex) request(reads bool) request {
	return request{uintptr(unsafe.Pointer(m.mu)), m.site, reads}
}

// Lock locks the mutex.
func (m RWMutex) Lock() {
	if !watching.Load() {
		m.mu.Lock()
		return
	}
	acquire(m.request(false), m.mu.TryLock, m.mu.Lock)
}

// TryLock tries to lock the mutex.
func (m RWMutex) TryLock() bool {
	got := m.mu.TryLock()
	if got && watching.Load() {
		took(m.request(false))
	}
	return got
}

// Unlock unlocks the mutex.
func (m RWMutex) Unlock() {
	if watching.Load() {
		release(m.request(false))
	}
	m.mu.Unlock()
}

// RLock locks the mutex for reading.
func (m RWMutex) RLock() {
	if !watching.Load() {
		m.mu.RLock()
		return
	}
	acquire(m.request(true), m.mu.TryRLock, m.mu.RLock)
}

// TryRLock tries to lock the mutex for reading.
func (m RWMutex) TryRLock() bool {
	got := m.mu.TryRLock()
	if got && watching.Load() {
		took(m.request(true))
	}
	return got
}

// RUnlock undoes one RLock.
func (m RWMutex) RUnlock() {
	if watching.Load() {
		release(m.request(true))
	}
	m.mu.RUnlock()
}

// OfLocker returns l, watched if it is a mutex or the result of RLocker.
func OfLocker(l sync.Locker, site uint64) sync.Locker {
	if !watching.Load() {
		return l
	}
	switch l := l.(type) {
	case *sync.Mutex:
		return Mutex{l, site}
	case *sync.RWMutex:
		return RWMutex{l, site}
	}
	if mu := behindRLocker(l); mu != nil {
		return readLocker{RWMutex{mu, site}}
	}
	return l
}

// readLocker is the result of RLocker, watched.
type readLocker struct{ RWMutex }

// Lock locks the mutex for reading.
func (l readLocker) Lock() { l.RLock() }

// Unlock undoes one Lock.
func (l readLocker) Unlock() { l.RUnlock() }

// lockerWords are those of a sync.Locker. RLocker returns the address of its mutex as a type without a name, which is
// known by the first word; where it is not that of a release of Go to come, behindRLocker returns nil.
type lockerWords struct{ kind, data unsafe.Pointer }

var (
	anyRWMutex sync.RWMutex
	anyRLocker = anyRWMutex.RLocker()
)

// behindRLocker returns the mutex if l is the result of its RLocker, or nil.
func behindRLocker(l sync.Locker) *sync.RWMutex {
	w, known := (*lockerWords)(unsafe.Pointer(&l)), (*lockerWords)(unsafe.Pointer(&anyRLocker))
	if w.kind != known.kind || known.data != unsafe.Pointer(&anyRWMutex) {
		return nil
	}
	return (*sync.RWMutex)(w.data)
}

// acquire acquires the lock of want by lock, or by try if nobody has it.
func acquire(want request, try func() bool, lock func()) {
	me := mine()
	if me.owner == nil {
		lock()
		return
	}
	rt.Acquiring(want.site)
	if finder.on {
		reverse(me.id, want.site)
	}
	arrive(me, want)
	if !try() {
		if me.wait(want) > 0 { // a goroutine that holds nothing blocks nobody
			lookForCycle(me, want)
			me.paid(search) //interlock:ignore IL2002 a pause that begins in between voids what was noted, which renew sees
		}
		lock()
	}
	me.took(want)
	rt.Acquired(want.site, want.addr)
	if finder.on {
		acquired(me.id, want.site)
	}
	me.paid(1)
}

// took notes that the running goroutine has acquired a lock without waiting.
func took(got request) {
	me := mine()
	if me.owner != nil {
		me.took(got)
	}
	rt.Acquired(got.site, got.addr)
	if finder.on {
		acquired(me.id, got.site)
	}
}
