// Package facts answers questions about one state of a module's source, by the shared passes: which locks are held at
// a place, what a call may run, and what of it may wait. The maker of patches asks about the source that he is to
// change, the judge about both sides of a patch.
//
// Cost: linear in the module. Answers are worked out on demand and kept.
package facts
