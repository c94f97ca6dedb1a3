package knowledge

// From which numbers on something counts as evidence. They were chosen on the
// open-source modules of the first labelled findings (nats-server, bbolt, raft, badger, grpc,
// go-redis and others); docs/measured.md has the share of true findings on
// modules that nobody tuned it on.

// When a lock guards a variable. Accesses are counted that say anything: not
// those of fresh objects, of package initialisation and of tests. More of a
// number makes fewer findings.
const (
	// A lock in the same object as the field, or a package variable.
	NearHeld  = 2    // accesses that hold it, at least
	NearShare = 0.66 // of all accesses
	// A lock of some other object: coincidence is likelier.
	FarHeld  = 8
	FarShare = 0.9
	// A variable that many functions access without the lock is protected by
	// something other than the lock: an owner goroutine, a phase of its own.
	Exceptions      = 3  // functions, always allowed
	FarExceptions   = 2  // the same for locks of other objects
	ExceptionsShare = 10 // one more for so many guarded accesses
	// The current owner may read an object without the lock that transfers
	// ownership. If writers agree, only they are judged.
	WritersHeld   = 4 // functions that write with the lock, at least
	WritersExcept = 1 // functions that write without it, at most
	// A function that does nothing but set or return the variable under its lock has so few blocks.
	LoneBlocks = 3
)

// TriedShare is the share of a variable's accesses that hold a lock from which on a patch tries it. It is below
// NearShare, since a patch is judged by the source that it makes.
const TriedShare = 0.5

// GuardsStruct is the share of the other mutable fields of a struct that are
// accessed under one of its locks somewhere, from which on the lock guards the
// struct as a whole. A lock for one field only says nothing of the others.
const GuardsStruct = 0.5

// Stores that make an object as new, rather than change it: so many fields, and such a share of all of its
// struct.
const (
	RenewedFields = 3
	RenewedShare  = 0.4
)

// CommentReach is how many lines below a comment it is taken to speak of: a
// short group of statements.
const CommentReach = 6

// A function about one thing has a name that shows a reader of its caller its test or effect; others are no end
// of a section there.
const (
	OneThingBlocks  = 16 // blocks, at most
	OneThingChanges = 4  // variables that it changes, at most
	OneThingTouches = 16 // variables that it accesses, at most
)
