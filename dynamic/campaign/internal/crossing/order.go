package crossing

import "github.com/interlock-go/interlock/dynamic/evidence"

// FindEarly returns reads that came too early, the last one first: the goroutine reader read a variable while another
// goroutine was held that stored it for the first time afterwards. They have no First. The arguments are as for Find.
func FindEarly(steps, later []Step, reader int64, source Source) (all []Crossing) {
	f := &finder{Source: source, steps: steps, later: later}
	for i := range steps {
		held := &steps[i]
		if held.What != evidence.StepHeld || held.GID == reader {
			continue
		}
		for level := len(held.Frames) - 1; level >= 0; level-- {
			if f.IsOurs(held.Frames[level].File) {
				f.early(i, reader, f.afterInLater(held, level), level)
			}
		}
	}
	return f.found
}

// early adds the reads that came before the stores in after.
func (f *finder) early(i int, reader int64, after []*Step, level int) {
	for j := len(f.steps) - 1; j > i; j-- {
		t := &f.steps[j]
		if t.GID != reader || t.What != evidence.StepRead || !f.isAccess(t) || f.isStored(t, j) {
			continue
		}
		for _, b := range after {
			if b.What == evidence.StepWrite && f.Variable(b.Site) == f.Variable(t.Site) && len(b.Frames) > level {
				last := *b
				last.GID = f.steps[i].GID // in the other run, the goroutine has another number
				f.found = append(f.found, Crossing{
					Last: last, Came: *t, Went: *t, Function: b.Frames[level].Function, LastLine: b.Frames[level].Line,
					Out: f.way(t),
				})
			}
		}
	}
}

// isStored reports whether the variable that is read at a step holds something, or may: somebody has stored it before.
func (f *finder) isStored(t *Step, at int) bool {
	if t.Value != nil && *t.Value != 0 {
		return true
	}
	for j := range f.steps[:at] {
		if s := &f.steps[j]; s.What == evidence.StepWrite && sameMemory(s, t) {
			return true
		}
	}
	return false
}

// IsEarly reports whether the section has no first access: the other access was made before the last one.
func (c *Crossing) IsEarly() bool { return c.First.Site == 0 }
