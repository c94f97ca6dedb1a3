package validate

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// counted demands of each goroutine that a touched function starts and that
// signs off at a WaitGroup: it is counted before it is started, and not by
// itself. One that waits is started when all are counted. Of a function and
// WaitGroup that the patch corrects no goroutine is left.
func (j *judge) counted() {
	if before, after := j.operations(j.old, finding.Done), j.operations(j.now, finding.Done); before != after {
		j.add("counted", "there are %d calls of Done, and there were %d", after, before)
	}
	if before, after := j.miscounted(j.old), j.miscounted(j.now); total(after) >= total(before) {
		j.add("counted", "as many goroutines as before are started where they are not counted")
	}
	for _, k := range j.miscounted(j.now).more(j.miscounted(j.old)) {
		j.add("counted", "%s %s", short(k.function), k.what)
	}
	for _, k := range j.miscounted(j.now).left(j.miscounted(j.old)) {
		j.add("counted", "%s still %s, in another place", short(k.function), k.what)
	}
}

// operations counts the operations of a mode in the packages that the patch touches.
func (j *judge) operations(s *side, mode finding.Mode) int {
	n := 0
	for _, p := range s.Packages {
		for _, op := range p.Ops.All {
			if op.Mode == mode && j.touched[declared(p, op.Fn)] {
				n++
			}
		}
	}
	return n
}

// miscounted counts, in touched functions, go statements of goroutines that are counted too late.
func (j *judge) miscounted(s *side) tally {
	late := tally{}
	for _, p := range s.Packages {
		for _, op := range p.Ops.All {
			if op.Mode != finding.Add {
				continue
			}
			// go func() { wg.Add(1); … }
			if j.touched[declared(p, op.Fn)] && len(p.Ops.Started(op.Fn)) > 0 {
				late[tallyKey{declared(p, op.Fn), "counts the goroutine that it runs in by " + op.Path.String()}]++
			}
			// go func() { wg.Wait() }(); wg.Add(1)
			for _, wait := range p.Ops.ByKey[op.Key] {
				if wait.Mode != finding.Wait || !j.touched[declared(p, wait.Fn)] {
					continue
				}
				for _, site := range p.Ops.Started(wait.Fn) {
					if site.Instr.Parent() == op.Fn && p.Ops.Reaches(site.Instr, op.Instr) {
						what := "counts behind the start of a goroutine that waits for " + op.Path.String()
						late[tallyKey{declared(p, op.Fn), what}]++
					}
				}
			}
		}
		for _, done := range p.Ops.All {
			if done.Mode != finding.Done || countsItself(p, done) {
				continue
			}
			// go func() { defer wg.Done(); … }, and wg.Add(1) behind it or nowhere
			for _, site := range p.Ops.Started(done.Fn) {
				touched := j.touched[declared(p, site.Instr.Parent())] || j.touched[declared(p, done.Fn)]
				if touched && !countedBefore(p, done.Key, site) {
					what := "starts a goroutine that is not counted by " + done.Path.String()
					late[tallyKey{declared(p, site.Instr.Parent()), what}]++
				}
			}
		}
	}
	return late
}

// countsItself reports whether the function of a Done also does the Add.
func countsItself(p *session.Package, done *syncops.Op) bool {
	return slices.ContainsFunc(p.Ops.ByKey[done.Key], func(op *syncops.Op) bool {
		return op.Mode == finding.Add && op.Fn == done.Fn
	})
}

// countedBefore reports whether an Add stands before a go statement on every path to it.
func countedBefore(p *session.Package, key syncops.Key, site callgraph.Site) bool {
	start := site.Instr
	for _, op := range p.Ops.ByKey[key] {
		if op.Mode != finding.Add || op.Fn != start.Parent() {
			continue
		}
		a, b := op.Instr.Block(), start.Block()
		first := slices.Index(a.Instrs, op.Instr) < slices.Index(a.Instrs, ssa.Instruction(start))
		if a != b && a.Dominates(b) || a == b && first {
			return true
		}
	}
	return false
}
