package evidence

// Origin is the program that was watched in production, and how.
type Origin struct {
	Program string `json:"program"`         // import path of package main
	Module  string `json:"module"`          // path of the main module; files of stacks are relative to its root
	Build   string `json:"build,omitempty"` // build id of the program
	// Means is how second accesses were seen: "registers", by debug registers, or "pauses", by goroutines that were held.
	Means  string `json:"means"`
	Budget string `json:"budget"` // share of the processor time that the watch may take, such as 2%
	// Uncounted are packages with releases that no clock counts: with these, no race is confirmed.
	Uncounted []string `json:"uncounted,omitempty"`
}

// WatchedCounter counts the work of the watch for production, and its losses.
type WatchedCounter struct {
	ProgramNS uint64 `json:"program_ns"`          // processor time of the process, in ns
	SpentNS   uint64 `json:"spent_ns"`            // of that, the watch's own by its own count
	Samples   uint64 `json:"samples,omitempty"`   // for which the budget had time
	Unknown   uint64 `json:"unknown,omitempty"`   // at code that was not decoded yet
	None      uint64 `json:"none,omitempty"`      // near no operand in shared memory
	Poor      uint64 `json:"poor,omitempty"`      // for which the budget had no time, beside Samples
	Full      uint64 `json:"full,omitempty"`      // while all slots were busy
	Hot       uint64 `json:"hot,omitempty"`       // at code that was watched before, without effect
	Armed     uint64 `json:"armed,omitempty"`     // variables watched
	Refused   uint64 `json:"refused,omitempty"`   // watches that the kernel refused
	Own       uint64 `json:"own,omitempty"`       // accesses that were seen: by the first goroutine again
	Ordered   uint64 `json:"ordered,omitempty"`   // by another one, after a release of the first
	Collected uint64 `json:"collected,omitempty"` // by another one, after the object may have been freed
	Runtime   uint64 `json:"runtime,omitempty"`   // by the runtime
	Late      uint64 `json:"late,omitempty"`      // too late to be judged
	NonGo     uint64 `json:"non_go,omitempty"`    // events of threads that run no Go code
	Clock     uint64 `json:"clock,omitempty"`     // pairs that nothing orders
	Met       uint64 `json:"met,omitempty"`       // pairs at the same moment
	Changed   uint64 `json:"changed,omitempty"`   // values that changed while a goroutine was held
	Lost      uint64 `json:"lost,omitempty"`      // pairs for which there was no room
	Races     uint64 `json:"races,omitempty"`     // pairs that conflict
	Dismissed uint64 `json:"dismissed,omitempty"` // pairs that do not conflict, or are of the runtime and package sync
	Unnamed   uint64 `json:"unnamed,omitempty"`   // changed values of which the write was not found: no finding
	Undecoded uint64 `json:"undecoded,omitempty"` // functions for which the table had no room
	Labels    uint64 `json:"labels,omitempty"`    // labels of goroutines for which there was no room
	Dropped   uint64 `json:"dropped,omitempty"`   // records that could not be written
}
