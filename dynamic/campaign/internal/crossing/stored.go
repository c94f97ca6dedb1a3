package crossing

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// LastStore returns the last read of the goroutine reader at a line of the stack with which it failed, and the store
// of its variable by another goroutine, if that is the last one before the read. It is not ok where the goroutine
// itself has stored the value, or no goroutine has in the steps that are known.
func LastStore(steps []Step, reader int64, failed []finding.Frame) (read, store Step, ok bool) {
	at := len(steps) - 1
	for ; at >= 0; at-- {
		s := &steps[at]
		if s.GID == reader && s.What == evidence.StepRead && s.Site != 0 && len(s.Frames) > 0 && isAt(s, failed) {
			break
		}
	}
	for j := at - 1; j >= 0; j-- {
		if s := &steps[j]; s.What == evidence.StepWrite && sameMemory(s, &steps[at]) {
			return steps[at], *s, s.GID != reader
		}
	}
	return read, store, false
}

// isAt reports whether a step is made at the line of one of the frames.
func isAt(s *Step, frames []finding.Frame) bool {
	own := s.Frames[len(s.Frames)-1]
	return slices.ContainsFunc(frames, func(f finding.Frame) bool { return own.File == f.File && own.Line == f.Line })
}
