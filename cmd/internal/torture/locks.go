package main

// lock is a way to have something for oneself. The texts are templates with
// the part «body».
type lock struct {
	name  string
	decl  string // at package level
	local string // makes the lock
	with  string // the body, alone
	share string // the body, beside others that only read; empty where there is no such way
	// weak are forms of with, by what is wrong with them, beside the body
	// without any lock.
	weak map[string]string
	// forAll: the weak forms leave no two workers alone only where all have
	// them.
	forAll bool
}

const (
	mutex     = "mu$ := &sync.Mutex{}\n"
	rwMutex   = "mu$ := &sync.RWMutex{}\n"
	plainLock = "mu$.Lock()\n«body»mu$.Unlock()\n"
)

var otherMutex = map[string]string{"another lock": "mu$ := &sync.Mutex{}\n" + plainLock}

var locks = []lock{
	{name: "mutex", local: mutex, with: plainLock, weak: otherMutex},
	{name: "deferred unlock", local: mutex, with: "func() {\nmu$.Lock()\ndefer mu$.Unlock()\n«body»}()\n", weak: otherMutex},
	{name: "deferred closure unlocks", local: mutex, with: "func() {\nmu$.Lock()\ndefer func() {\nmu$.Unlock()\n}()\n«body»}()\n"},
	{name: "global mutex", decl: "var mu$ sync.Mutex\n", with: plainLock, weak: otherMutex},
	{name: "embedded mutex", decl: "type locked$ struct { name string; sync.Mutex; spare int }\n", local: "mu$ := &locked${name: \"l\"}\n", with: plainLock},
	{name: "mutex behind sync.Locker", local: "var mu$ sync.Locker = new(sync.Mutex)\n", with: plainLock},
	{
		name: "stripe", decl: "var stripes$ [«#4-9»]sync.Mutex\n", with: "stripes$[2].Lock()\n«body»stripes$[2].Unlock()\n",
		weak: map[string]string{"another stripe": "stripes$[1].Lock()\n«body»stripes$[1].Unlock()\n"},
	},
	{
		name: "stripe by hash", local: "stripes$ := make([]sync.RWMutex, 4)\nstripe$ := func(key string) *sync.RWMutex { return &stripes$[(len(key)*7)%len(stripes$)] }\n",
		with: "stripe$(\"ab\").Lock()\n«body»stripe$(\"ab\").Unlock()\n", share: "stripe$(\"ab\").RLock()\n«body»stripe$(\"ab\").RUnlock()\n",
		weak: map[string]string{"another stripe": "stripe$(\"abc\").Lock()\n«body»stripe$(\"abc\").Unlock()\n"},
	},
	{
		name: "RWMutex", local: rwMutex, with: plainLock, share: "mu$.RLock()\n«body»mu$.RUnlock()\n",
		forAll: true, weak: map[string]string{"read lock for a write": "mu$.RLock()\n«body»mu$.RUnlock()\n"},
	},
	{
		name: "RLocker", local: rwMutex + "r$ := mu$.RLocker()\n", with: "func() {\nmu$.Lock()\ndefer mu$.Unlock()\n«body»}()\n", share: "r$.Lock()\n«body»r$.Unlock()\n",
		forAll: true, weak: map[string]string{"read lock for a write": "r$.Lock()\n«body»r$.Unlock()\n"},
	},
	{name: "TryLock", local: mutex, with: "for !mu$.TryLock() {\npause()\n}\n«body»mu$.Unlock()\n"},
	{
		name: "TryRLock", local: rwMutex, with: "for !mu$.TryLock() {\npause()\n}\n«body»mu$.Unlock()\n",
		share: "for !mu$.TryRLock() {\npause()\n}\n«body»mu$.RUnlock()\n",
	},
	{
		name: "TryLock or Lock", local: mutex, with: "if !mu$.TryLock() {\nmu$.Lock()\n}\n«body»mu$.Unlock()\n",
		weak: map[string]string{"goes on without": "if mu$.TryLock() {\ndefer mu$.Unlock()\n}\n«body»"},
	},
	{
		name: "locking helpers", decl: "type guard$ struct { mu sync.Mutex; depth int }\nfunc (g *guard$) enter() { g.mu.Lock(); g.depth++ }\nfunc (g *guard$) leave() { g.depth--; g.mu.Unlock() }\n",
		local: "g$ := &guard${}\n", with: "g$.enter()\n«body»g$.leave()\n",
	},
	{
		name: "release returned", decl: "func hold$(mu *sync.Mutex) (release func()) { mu.Lock(); return mu.Unlock }\n",
		local: mutex, with: "func() {\ndefer hold$(mu$)()\n«body»}()\n",
	},
	{
		name: "with function", decl: "func with$(mu *sync.Mutex, f func()) { mu.Lock(); defer mu.Unlock(); f() }\n",
		local: mutex, with: "with$(mu$, func() {\n«body»})\n", weak: map[string]string{"another lock": "with$(new(sync.Mutex), func() {\n«body»})\n"},
	},
	{
		name: "unlock on each way", local: mutex, with: "mu$.Lock()\n«body»if i := time.Now().Nanosecond(); i%2 == 0 {\nmu$.Unlock()\n} else {\nmu$.Unlock()\n}\n",
		weak: map[string]string{"unlocked too early": "mu$.Lock()\nmu$.Unlock()\n«body»"},
	},
	{
		name: "conditional lock", local: mutex + "shared$ := true\n", with: "if shared$ {\nmu$.Lock()\n}\n«body»if shared$ {\nmu$.Unlock()\n}\n",
	},
	{
		name: "channel lock", local: "sem$ := make(chan struct{}, 1)\n", with: "sem$ <- struct{}{}\n«body»<-sem$\n",
		weak: map[string]string{"another channel": "sem$ := make(chan struct{}, 1)\nsem$ <- struct{}{}\n«body»<-sem$\n"},
	},
	{
		name: "token in a channel", local: "tok$ := make(chan int, 1)\ntok$ <- 1\n", with: "k$ := <-tok$\n«body»tok$ <- k$ + 1\n",
		weak: map[string]string{"token handed on too early": "tok$ <- 1 + <-tok$\n«body»"},
	},
	{
		name: "token by select", local: "tok$ := make(chan int, 1)\ntok$ <- 1\nnever$ := make(chan int)\n",
		with: "select {\ncase k$ := <-tok$:\n«body»tok$ <- k$\ncase <-never$:\n}\n",
	},
	{
		name: "actor", local: "req$ := make(chan func())\nend$ := make(chan bool)\ngo func() {\ndefer close(end$)\nfor f := range req$ {\nf()\n}\n}()\ndefer func() {\nclose(req$)\n<-end$\n}()\n",
		with: "func() {\ndone := make(chan bool«?¦, 1»)\nreq$ <- func() {\n«body»done <- true\n}\n<-done\n}()\n",
	},
	{
		name: "spin lock", local: "var spin$ atomic.Int32\n", with: "for !spin$.CompareAndSwap(0, 1) {\npause()\n}\n«body»spin$.Store(0)\n",
		weak: map[string]string{"released too early": "for !spin$.CompareAndSwap(0, 1) {\npause()\n}\nspin$.Store(0)\n«body»"},
	},
	{
		name: "spin lock by functions", decl: "var spin$ uint32\n", with: "for !atomic.CompareAndSwapUint32(&spin$, 0, 7) {\npause()\n}\n«body»atomic.StoreUint32(&spin$, 0)\n",
	},
	{
		name: "spin lock by swap", local: "var spin$ atomic.Bool\n", with: "for spin$.Swap(true) {\npause()\n}\n«body»spin$.Store(false)\n",
	},
	{
		name: "ticket lock", decl: "type ticket$ struct { next, serving atomic.Int64 }\n", local: "l$ := &ticket${}\n",
		with: "t$ := l$.next.Add(1) - 1\nfor l$.serving.Load() != t$ {\npause()\n}\n«body»l$.serving.Add(1)\n",
	},
	{
		name: "lock by Cond", decl: "type turn$ struct { c *sync.Cond; busy bool }\n", local: "l$ := &turn${c: sync.NewCond(new(sync.Mutex))}\n",
		with: "l$.c.L.Lock()\nfor l$.busy {\nl$.c.Wait()\n}\nl$.busy = true\nl$.c.L.Unlock()\n«body»l$.c.L.Lock()\nl$.busy = false\nl$.c.«?Signal¦Broadcast»()\nl$.c.L.Unlock()\n",
	},
	{
		name: "tokens taken all", local: "tokens$ := make(chan struct{}, 3)\none$ := make(chan struct{}, 1)\n",
		with:   "one$ <- struct{}{}\nfor range cap(tokens$) {\ntokens$ <- struct{}{}\n}\n<-one$\n«body»for range cap(tokens$) {\n<-tokens$\n}\n",
		share:  "tokens$ <- struct{}{}\n«body»<-tokens$\n",
		forAll: true, weak: map[string]string{"one token for a write": "tokens$ <- struct{}{}\n«body»<-tokens$\n"},
	},
	{
		name: "taken out of an atomic pointer", local: "slot$ := &atomic.Pointer[int]{}\nslot$.Store(new(int))\n",
		with: "var o$ *int\nfor o$ == nil {\nif o$ = slot$.Swap(nil); o$ == nil {\npause()\n}\n}\n«body»slot$.Store(o$)\n",
	},
	{
		name: "key of a sync.Map", local: "keys$ := &sync.Map{}\n",
		with: "for {\nif _, taken := keys$.LoadOrStore(\"k\", true); !taken {\nbreak\n}\npause()\n}\n«body»keys$.Delete(\"k\")\n",
	},
	{
		name: "two locks in order", local: "a$, b$ := &sync.Mutex{}, &sync.Mutex{}\n", with: "a$.Lock()\nb$.Lock()\n«body»b$.Unlock()\na$.Unlock()\n",
	},
	{
		name: "either of two locks is enough to read", local: "a$, b$ := &sync.Mutex{}, &sync.Mutex{}\n",
		with: "a$.Lock()\nb$.Lock()\n«body»a$.Unlock()\nb$.Unlock()\n", share: "«?a$.Lock()\n«body»a$.Unlock()\n¦b$.Lock()\n«body»b$.Unlock()\n»",
	},
	{
		name: "lock handed to a goroutine", local: mutex, with: "func() {\nmu$.Lock()\ndone := make(chan bool)\ngo func() {\n«body»mu$.Unlock()\nclose(done)\n}()\n<-done\n}()\n",
	},
	{
		name: "unlocked by the goroutine that goes on", local: mutex + "var late$ sync.WaitGroup\ndefer late$.Wait()\n",
		with: "mu$.Lock()\n«body»late$.Add(1)\ngo func() {\ndefer late$.Done()\nmu$.Unlock()\n}()\n",
	},
	{
		name: "locked in a goroutine of one's own", local: mutex, with: "func() {\nvar wg sync.WaitGroup\nwg.Go(func() {\nmu$.Lock()\ndefer mu$.Unlock()\n«body»})\nwg.Wait()\n}()\n",
	},
	{
		name: "lock chosen by a pointer", local: "var one$, two$ sync.Mutex\nmu$ := &one$\nif time.Now().Unix() < 0 {\nmu$ = &two$\n}\n", with: plainLock,
	},
	{
		name: "lock in a map", local: "all$ := map[string]*sync.Mutex{\"a\": {}, \"b\": {}}\n", with: "all$[\"a\"].Lock()\n«body»all$[\"a\"].Unlock()\n",
		weak: map[string]string{"another key": "all$[\"b\"].Lock()\n«body»all$[\"b\"].Unlock()\n"},
	},
	{
		name: "generic lock", decl: "type lockOf$[L sync.Locker] struct { l L }\nfunc (l lockOf$[L]) do(f func()) { l.l.Lock(); f(); l.l.Unlock() }\n",
		local: "l$ := lockOf$[*sync.RWMutex]{new(sync.RWMutex)}\n", with: "l$.do(func() {\n«body»})\n",
	},
	{
		name: "lock as an iterator", decl: "func holding$(mu *sync.Mutex) iter.Seq[int] {\nreturn func(yield func(int) bool) {\nmu.Lock()\ndefer mu.Unlock()\nyield(1)\n}\n}\n",
		local: mutex, with: "for range holding$(mu$) {\n«body»}\n",
	},
	{
		name: "unlock before a panic ends", local: mutex, with: "func() {\ndefer func() { recover() }()\nmu$.Lock()\ndefer mu$.Unlock()\n«body»panic(\"over\")\n}()\n",
	},
	{
		name: "unlock by Goexit", local: mutex, with: "func() {\ndone := make(chan bool)\ngo func() {\ndefer close(done)\nmu$.Lock()\ndefer mu$.Unlock()\n«body»runtime.Goexit()\n}()\n<-done\n}()\n",
	},
	{
		name: "mutex by value in an element", decl: "type slot$ struct { mu sync.Mutex; used int }\n", local: "slots$ := make([]slot$, 3)\n",
		with: "func() {\ns := &slots$[1]\ns.mu.Lock()\ndefer s.mu.Unlock()\ns.used++\n«body»}()\n",
	},
}
