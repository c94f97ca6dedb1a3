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
	if !c.list.Free(add) || syncops.IsAsked(add.Instr) || !c.list.MeantForMany(add) || c.list.Prog.Alone(fn) {
		return nil
	}
	if knowledge.StartsUp(fn.Name()) || knowledge.RunsOnce(fn.Name()) {
		return nil
	}
	for _, wait := range c.list.ByKey[add.Key] {
		if wait.Mode == finding.Wait && c.list.Function(wait) != fn && c.ends(wait) && !c.countsItself(wait) {
			return wait
		}
	}
	return nil
}

// ends reports whether a Wait stands in an exported function that ends the service of its receiver, or of the package.
func (c *checker) ends(wait *syncops.Op) bool {
	_, own := wait.Path.Root.(*ssa.Parameter)
	_, global := wait.Path.Global()
	fn := c.list.Function(wait)
	return (own || global) && c.list.Graph.Open(fn) && knowledge.TakesDown(fn.Name())
}
