package plan

// Verdict is the result of an analysis of the whole program for a site.
type Verdict struct {
	Site Site // has neither an id nor a decision
	// Judged reports whether code that the program may run was found there.
	Judged bool
	// Reason is why the site needs no monitor: [WholeLocal], [WholeNotParallel]
	// or [WholeStationary]; "" where it may race, for all that is known, and
	// where it was not judged.
	Reason Reason
}
