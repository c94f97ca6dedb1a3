package knowledge

// Where searches stop, so that check ends on any input. They were
// chosen on the modules of `make cost`, which measures check with them.

// Calls followed from a function into its callees.
const (
	CallsToEnds     = 3 // to an end of a section that a callee has
	CallsToTouches  = 4 // to variables that a method accesses
	CallsToSync     = 3 // to a field by which a method synchronises
	CallsToStart    = 2 // to a go statement, and through the goroutines that goroutines start
	CallsToTouch    = 3 // to a variable that a goroutine or its starter accesses
	CallsToRole     = 4 // from a helper back to the functions that call it
	CallsToOwner    = 3 // from a parameter back to its callers' arguments
	ClosuresToOwner = 8 // from a closure out to the function that declares it
)

// Values, states and parts that one function is judged by.
const (
	EffectsOfFunction   = 24  // ends of sections that a caller sees
	TouchesOfMethod     = 24  // variables that a caller sees
	EventsOfSection     = 256 // accesses looked through for a section of access-interleaving invariants
	EndsOfSection       = 64  // of a section that nobody has declared
	EventsOfLeads       = 64  // accesses of a function in which such pairs are looked for, by calls too
	BlocksOfLeads       = 128 // of that function
	LeadsOfFunction     = 8   // pairs in two critical sections
	ValuesFollowed      = 200 // that are computed from one value, or that one is computed from
	OperatorsFollowed   = 12  // from a value back to its operands
	SourcesFollowed     = 8   // values that a lock's object may be
	ConditionsSplit     = 6   // conditions of a function by which lock states are kept apart
	StatesSplit         = 500 // lock states of a function in all
	AcquisitionVariants = 3   // ways to reach one lock
	FieldsOfPath        = 4   // of an access path that is carried into callers: a recursive function has no end
	DispatchesOfCallee  = 6   // calls through interfaces that a caller sees
	DispatchesToLock    = 3   // calls through interfaces that lead to one lock
	PartsOfStruct       = 40  // fields of a struct that is copied or assigned as a whole
	NestedStructs       = 4   // structs in structs that are looked through for a lock
	NestedParts         = 3   // structs in structs that make up the parts of a copy
	TypesReflected      = 20_000
	SignalsOfFunction   = 16 // that it waits for, and that it may give
	TouchesOfStrand     = 64 // variables that a goroutine or function accesses, as its caller or starter names them
	TouchesOfFunction   = 1024
	StrandsOfFunction   = 16 // goroutines that are judged together
	MostEntries         = 32 // of goroutines into the code that leads to an access
	TestsOfTouch        = 4  // conditions by which an access is made
	EndsOfDefer         = 2  // places where a deferred call runs
)

// Simulation of goroutines (package simulation), in instructions executed: an
// instruction costs about a quarter of a microsecond, as does looking through a few objects.
const (
	StepsOfScope       = 400_000
	StatesOfScope      = 6_000     // of all goroutines at once
	StatesOfCrowd      = 600       // with many goroutines, along one way
	StepsOfPackage     = 3_000_000 // of all scopes
	StepsOfInstruction = 5         // more for each instruction of the package
	ShallowShare       = 4         // as many again, divided by this, without most callees of a scope
	ThoroughFactor     = 100       // times as many steps of a package, on request
)

// InstructionsFollowed bounds the functions in which objects are followed: those of
// a table that a program has written are linked with each other, so that each leads to
// all. In larger functions every object is shared from the start.
const InstructionsFollowed = 50_000
