// Package status is what the race watch of a process shows of itself: the data that package agent passes to package
// pages. It has places and figures, and no value of a variable.
package status

// Status is the state of a watch.
type Status struct {
	On  bool   `json:"on"`
	Why string `json:"why,omitempty"` // why it is off
	// Means is how second accesses are seen, and why not by other means; "" before the first start.
	Means    string  `json:"means,omitempty"`
	Budget   float64 `json:"budget_percent"` // of the processor time
	Share    float64 `json:"share_percent"`  // what it took of the last second of processor time, by its own count
	PeriodNS int64   `json:"period_ns"`      // processor time of a thread between two samples
	// While the watch was on: processor time of the process, and of that the watch's own by its own count.
	WatchedNS uint64 `json:"watched_ns"`
	SpentNS   uint64 `json:"spent_ns"`
	Samples   uint64 `json:"samples"`
	Armed     uint64 `json:"armed"`    // variables watched
	Races     uint64 `json:"races"`    // pairs of accesses, each as often as it was seen
	Findings  int    `json:"findings"` // pairs of places
	File      string `json:"file,omitempty"`
	Dropped   uint64 `json:"dropped,omitempty"` // records that did not get into the file
	Unkept    uint64 `json:"unkept,omitempty"`  // findings beyond those that are kept for the pages
	Program   string `json:"program"`
	Module    string `json:"module"`
	Build     string `json:"build,omitempty"` // build id
	PID       int    `json:"pid"`
	// Uncounted are packages with releases that no clock counts.
	Uncounted []string `json:"uncounted,omitempty"`
}

// Race is a pair of places that was seen. Where the value changed and no write was seen, it has one side.
type Race struct {
	Count  uint64
	How    How
	Sides  []Side // the later access first
	Record string // the line of evidence, without its end
}

// How is how a pair was seen.
type How int

// The ways of seeing a pair.
const (
	Clock   How = iota // the first goroutine had released nothing until the second access
	Meeting            // the two were at their accesses at the same moment
	Like               // the value changed at the first access, and the second is a write like that which was not seen
	Changed            // the value changed at the first access
)

// Side is one access.
type Side struct {
	Write, Atomic bool
	Addr          uint64
	Goroutine     uint64
	Labels        []Label // of the goroutine, if they are asked for
	Frames        []Frame // the innermost first
}

// Label is a label that the program has given a goroutine by runtime/pprof.
type Label struct{ Key, Value string }

// Frame is one frame of a stack. The file is relative to the module's root, if it is below that.
type Frame struct {
	Function, File string
	Line           int
}
