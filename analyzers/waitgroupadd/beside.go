package waitgroupadd

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
)

// beside is the class of an Add and a Wait that two callers may make at the same time.
const beside = string(finding.AddRacesWait) + " beside"

// findEnd returns the Wait of an exported function that ends the service of the object, while any caller may make the
// Add at the same time, in each call of its function: no lock keeps the two apart, and no test comes before the Add.
func (c *checker) findEnd(add *syncops.Op) *syncops.Op {
	fn := c.list.Function(add)
	if !c.list.Free(add) || syncops.IsAsked(add.Instr) || !c.list.MeantForMany(add) || c.list.Prog.Alone(fn) ||
		knowledge.StartsUp(fn.Name()) || knowledge.RunsOnce(fn.Name()) {
		return nil
	}
	for _, wait := range c.list.ByKey[add.Key] {
		end := c.list.Function(wait)
		_, own := wait.Path.Root.(*ssa.Parameter)
		_, global := wait.Path.Global()
		if wait.Mode == finding.Wait && end != fn && c.list.Graph.Open(end) && (own || global) &&
			knowledge.TakesDown(end.Name()) && !c.countsItself(wait) {
			return wait
		}
	}
	return nil
}
