package validate

import "golang.org/x/tools/go/ssa"

// unshared demands that no function literal captures the claim's local any more.
// What the goroutines work on instead is their own.
func (j *judge) unshared() {
	for _, p := range j.now.packages() {
		isVariable := j.now.isVariable(p)
		for _, fn := range p.IR.Funcs {
			for _, b := range fn.Blocks {
				for _, instr := range b.Instrs {
					closure, ok := instr.(*ssa.MakeClosure)
					if !ok {
						continue
					}
					for _, v := range closure.Bindings {
						if isVariable(v) {
							j.add("unshared", "%s is still captured at %s", j.now.claim.Variable, at(p, closure))
						}
					}
				}
			}
		}
	}
}
