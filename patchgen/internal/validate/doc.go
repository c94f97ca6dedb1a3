// Package validate judges a patch by what the shared passes say of the patched
// source. It decides by the passes' data, not by whether a finding is gone: a
// wrong patch often has none.
//
// [Validator.Check] compares two snapshots of the module, before and after the
// patch, against a [Claim]: which variable the patch protects, and how. It returns a
// [Refusal] for each obligation that the patch does not meet, with a witness, and one that is a doubt
// for each of which that could not be shown (see answer.go).
//
// For a patch that takes a lock ([Guarded]):
//
//	covered     every access of the variable is made under the lock of the same
//	            object, a write under its write side. What the variable's map or
//	            slice holds belongs to it; for a race within an object that has no lock, that
//	            object does, with what its methods return of it. Where the lock belongs to another
//	            type, the owner of the object, any lock of its class counts,
//	            unless the path to the object leads through an owner: then it
//	            has to be that one's.
//	owned       the variable belongs to the object of the lock: it lies in it, or is reached by references to what
//	            was made for that object and is kept by no other; a package variable is under a lock of the package,
//	            or of the only object of its type
//	exits       each function returns with the locks that it returned with
//	pairs       the same by syntax alone, without the lockset pass: each Lock
//	            meets its Unlock on all paths, panics included; and nothing more may
//	            panic under a lock of a function that recovers, unless the Unlock is deferred
//	narrowed    nothing that was under the lock is now outside of it
//	read side   nothing is written under a read lock that was not before
//	one step    no test and use, or load and store, is torn between two regions, in callees and
//	            behind interfaces too, nor a test and an Add for a WaitGroup that is waited for where
//	            the variable is set; for a finding on a
//	            test of one variable and a use of another, the use is in the region of the test, and
//	            so is what is done with the channel or object that it reads
//	order       no new cycle in the lock order: no second lock of the same class,
//	            by calls, interfaces, stored callbacks, templates or a library that calls back
//	            either, nor a write side
//	            where two read sides were; locks count that only a loop or a callee can name
//	waits       nothing new under the lock waits, does I/O or runs unknown code; a function of the
//	            module that is called under the lock's write side elsewhere may do the last two;
//	            and nothing takes the lock, or its write side in place of the read side, that
//	            unknown code under the lock may call
//	channels    nobody who is waited for under the lock, in callees too, now needs the lock on
//	            the way to what ends the wait: at a channel, for a WaitGroup, or for a condition
//	            of another lock; what has no name may be any of its type
//	written first  no read is meant to come after a write that others make: behind a signal that is given
//	            before the write, behind the start of the goroutine that writes without a wait, or in
//	            a goroutine that is started before the write. A lock orders none of these. A variable that
//	            is set once, behind the start of a goroutine, is taken to be meant for it
//	beside step  no patched function writes in regions of its own what another function has in one region, stores what
//	            it has computed from the object before the lock, or hands on behind it a number that it has taken under
//	            it; none asks two functions for what another one sets in one region
//	set apart   no function sets the variable and another field of its object in two steps where another one reads the
//	            variable and then comes to that field in two
//	handed back  none that takes the lock now returns a pointer to a struct with fields that are written under it
//	alone       none tests the variable and waits for a sync.Cond without the claim's lock
//
// For a sync.Once ([Once]): every write lies in the function that it runs, every
// other access behind its Do; the function does not come back to the same Once, nor
// runs code of others, which may panic; the Once is never set again.
//
// For an assignment that moves ([Published]): no write of the variable may run
// when another goroutine can reach the object, and no write is lost.
//
// For atomic operations ([Atomic]): every access is one; no store depends on an
// earlier load, nor is one made beside an addition; an update and a test of the variable
// are one operation; written first and set apart, as above.
//
//	alone       no sum is handed on behind the addition, no other part of the object is set by the function that sets
//	            the variable, none asks one function for it and has another one change it, and none waits for
//	            a sync.Cond by it
//
// For a copy ([Unshared]): no function literal captures the local any more, nobody
// misses a value that went through it, and a copy that is captured in its place is
// one for each goroutine, set before it starts.
//
// For each patch of a variable:
//
//	copied      no value is copied of a struct to which the patch adds a lock or an atomic
//	            nor is it handed to reflection, which would find the fields that the patch adds
//	made        each struct to which the patch adds a pointer to a lock has one where it is made
//	waits       no loop sends to the entries of a copy, of which others may have been removed since
//	comment     the comment of a function that takes a lock now does not say that its callers hold one
//	other builds  a file that this build leaves out uses neither the variable nor a declaration that the patch changes
//	selectors   a field or method that the patch adds takes the place of no other one of that name
//	left        the functions that it changes do not the same to another field: a write without a lock that an
//	            exported function uses too, or a read in the same statement without the lock of its writers
//
// Where a run has shown the race that a patch corrects, each of these patches is held to one more:
//
//	beside      two goroutines run the functions of its sides at once, with one object: no other
//	            field of it, or variable of the package, is left that these write without a common
//	            lock. What a channel, WaitGroup or Once may order is left out, and what only the
//	            goroutine comes to that has found the variable unset and set it
//
// For the patches of package syncfix, the first obligation of each, and pairs,
// exits, narrowed and order as above:
//
//	released     a function that the patch corrects leaves the lock held at no
//	             return, and none leaves another one; no caller releases it for it
//	locked once  none surely takes the lock again that it holds, and fewer may ([LockedOnce])
//	ordered      the two locks are in no cycle any more
//	joined       fewer tests are torn from what they decide about ([OneStep])
//	counted      as many goroutines sign off, and none is left that is counted too late
//	unblocked    no operation of the kind is left that waits where nobody may come
//	left behind  no value is sent that has to be closed: the receiver may have left
//	stoppable    a select has taken the place of an operation, with a stop on
//	             which the function leaves; its caller learns of it, and nobody
//	             waits for what would have followed
//	signs off    a goroutine begins with the deferred Done, and defers nothing
//	             that may wait
//	wakes all    each Signal is a Broadcast, and each waiter tests again
//	closed once  every close is in the Once of the channel's object, which does
//	             nothing else; neither is set again, and nobody sends
//	keeps wake-up  the channel has room for one; no send waits, and each receive is in a loop
//	nil tested   fewer operations wait for the channel where it may be nil, and it is not set
//	             when others can reach its object
//	released anyway  nothing that may panic is under the lock without a deferred release
//	drained      a deferred loop receives until the channel is closed, which its sender does by a
//	             defer; what else that waits for keeps the function
//	left open    the channel is closed nowhere; who learned of that has another case
//	extended     more accesses and calls are under the lock, none of those that
//	             were is outside of it, and none is gone or new
//	sent open    each send asks for a flag that each close sets, in one critical section; the
//	             flag is never cleared
//	released first  fewer waits are under the lock, and all else that was; no Add that
//	             the lock kept out meets a wait, and no close a send
//	stoppable    fewer sends and receives stand alone, and each that does no more is a case of a select
//	signs off    as many Done as before, and fewer of them are not deferred
//	wakes all    no Signal is left in what the patch changes
//	closed once  every close of the channel runs in a sync.Once
//
// Objects that no other goroutine can reach yet need none of this, nor do
// package initialisation and tests.
//
// # Why it finds the accesses itself
//
// The accesses pass lists what a finding can rest on. A patch fails by what is
// left out there: elements, copies of structs, writes below a pointer, what a
// callee does to its parameters. So the package follows values itself (see
// tracer and effect), and takes from the passes the intermediate
// representation, the callers, the ownership, the locks and the operations on
// channels. The pairs obligation takes nothing from them: an error of the
// lockset pass, on which patches are built as well, does not pass both.
//
// # What may be missed
//
// Values that go through a struct copied to a local, through a channel, or that
// a function of the module returns, are not followed. Aliases of a map or
// slice are refused where they are returned or stored. Two paths to one object
// are two objects, which errs towards refusing. A test decides about a use
// where the branch dominates it; what it decides about the next round of a
// loop is not judged. Of reflection and unsafe it is seen which structs
// come to it, and cgo is not seen.
//
// Cost: for the functions that a patch touches the square of their accesses,
// for the whole module linear in its instructions, and in its calls under locks
// times the locks that their callees take.
package validate
