package endpoints

import (
	"fmt"
	"go/ast"
	"path/filepath"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// testUse returns the report of p, or nothing where its source is not at hand. Both ends are shown as they are
// in the function that has them: the access, or the call that leads to it.
func (c *checker) testUse(f *function, p pair, remote *accesses.Access, lead bool) []*TestUse {
	test, use := c.makeEnd(f, p.test), c.makeEnd(f, p.use)
	if test.node == nil || use.node == nil {
		return nil
	}
	c.done[c.pairKey(f, p)] = true
	found := &TestUse{
		Test: test.Access, Use: use.Access, TestNode: test.node, UseNode: use.node,
		Variable: variable(p.use), Name: p.use.name.Short(), Lead: lead, rule: p.rule, Section: c.section(f, p, test, use),
		Why: fmt.Sprintf("%s %s %s at line %d%s%s%s is %s at line %d%s; %s.%s",
			c.list.Prog.FuncName(f.fn), p.verbOfUse(), tested(p), test.Line, c.describeCallee(p.test), p.bearing(),
			usedName(p), p.rule.what,
			use.Line, c.describeCallee(p.use), p.between(), c.consequence(p, remote)),
	}
	if remote != nil && remote != p.use.own {
		found.Remote = remote
	}
	return []*TestUse{found}
}

// end is one of the two as the function has it.
type end struct {
	finding.Access
	node ast.Expr
}

func (c *checker) makeEnd(f *function, e *event) end {
	if !e.call {
		return end{e.side, e.own.Expr}
	}
	side := e.side
	side.Function, side.Package = c.list.Prog.FuncName(f.fn), c.list.Prog.Pkg.Pkg.Path()
	side.Locks, side.Role = nil, ""
	n, ok := c.list.Prog.Node(e.at.Pos()).(*ast.CallExpr)
	if !ok {
		return end{side, nil}
	}
	side.Position, side.Expr = accesses.Position(c.list.Prog.Fset(), n.Pos(), n.End()), ir.Text(n)
	for _, h := range e.held {
		if h.Since != e.at {
			side.Locks = append(side.Locks, h.String())
		}
	}
	return end{side, n}
}

func (p pair) verbOfUse() string {
	if p.relation == bounds || p.relation == exchanges {
		return "takes"
	}
	return "tests"
}

// bearing returns the words that tie the two, for the middle of a sentence.
func (p pair) bearing() string {
	if p.relation == exchanges {
		return " for its result, and "
	}
	return ", and depending on the result "
}

// usedName names the variable of the use, where it is another than that of the test.
func usedName(p pair) string {
	if p.since != "" {
		return p.use.name.Short()
	}
	return "it"
}

func tested(p pair) string {
	switch {
	case p.out.Length && p.since == "":
		return "the length of " + p.test.name.Short()
	case p.out.Inside:
		return "what " + p.test.name.Short() + " holds for a key"
	case p.test.inMap:
		return p.test.name.Short() + " for a key"
	}
	return p.test.name.Short()
}

// describeCallee returns where a call leads, for ends that lie in callees.
func (c *checker) describeCallee(e *event) string {
	if !e.call {
		return ""
	}
	return fmt.Sprintf(" (by %s, %s:%d)", e.side.Function, filepath.Base(e.side.File), e.side.Line)
}

func (p pair) between() string {
	switch p.gap {
	case released:
		lock := ""
		for _, h := range p.test.held {
			for _, g := range p.use.held {
				if sameLock(h, g) && !p.test.isAside(h) {
					lock = lockName(h.Path, h.Class)
				}
			}
		}
		if lock == "" && len(p.test.held) > 0 {
			lock = lockName(p.test.held[0].Path, p.test.held[0].Class)
		}
		return lock + " is released in between"
	case atomics:
		return "each is atomic, the two together are not"
	}
	return "no lock holds the two together"
}

func lockName(p accesspath.Path, class string) string {
	if p.Root != nil {
		return p.String()
	}
	return finding.ShortLock(class)
}

func (c *checker) consequence(p pair, remote *accesses.Access) string {
	if p.since != "" {
		if p.rule.what == sent {
			return fmt.Sprintf(" %s may run in between, which sets the one and closes the other: a send panics then.", p.since)
		}
		return fmt.Sprintf(" %s may run in between, which changes both.", p.since)
	}
	if remote == nil || remote == p.use.own {
		return " Another goroutine may do the same in between."
	}
	return fmt.Sprintf(" Another goroutine may change it in between, as %s does at %s.", c.list.Prog.FuncName(remote.Fn),
		c.list.Where(remote))
}

func variable(e *event) finding.Variable {
	v := finding.Variable{Package: e.name.Package, Type: e.name.Type, Name: e.name.Field, Kind: "field"}
	switch {
	case e.inMap:
		v.Kind = "map"
	case e.name.Type == "":
		v.Kind = "global"
	}
	return v
}

// section returns the section that a run has to watch: from the test to the last use that the branch leads to,
// or the first on each way where there are several. If the test is about a flag that stands for other state, it
// is the flag that is watched.
func (c *checker) section(f *function, p pair, test, use end) *finding.Section {
	s := &finding.Section{
		Kind:     "test-and-use",
		Function: c.list.Prog.FuncName(f.fn),
		Entry:    p.test.side.Position,
		End:      p.use.side.Position,
		Allows:   []finding.Mode{finding.Read},
		Length:   p.out.Length,
		Own:      p.out.Own,
	}
	if p.test.call {
		s.EntryCall = &test.Position
	}
	if p.use.call {
		s.EndCall = &use.Position
	}
	for _, u := range f.byName[p.use.name] {
		if !c.alsoEnds(f, p, u) {
			continue
		}
		end := finding.SectionEnd{Position: u.side.Position, Allows: []finding.Mode{finding.Read}}
		if u.call {
			at := c.makeEnd(f, u)
			end.Call = &at.Position
		}
		s.More = append(s.More, end)
	}
	return s
}

// alsoEnds reports whether u is another use of the variable that the same outcome
// decides about, on another path than the use of p.
func (c *checker) alsoEnds(f *function, p pair, u *event) bool {
	if u == p.use || u == p.test || !sameObject(p.test, u) || u.at == p.use.at || !p.only[u.at.Block()] {
		return false
	}
	return !f.flow.Leads(u.at, p.use.at) && !f.flow.Leads(p.use.at, u.at) && gapBetween(p.test, u) == p.gap
}
