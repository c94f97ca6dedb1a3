package judge

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/operation"
)

// sitesOf returns the sites of the plan that a recorded access may be: the engine knows a
// line, not a column.
func (e *Unordered) sitesOf(s *exactSide) []*plan.Site {
	var all []*plan.Site
	for _, site := range e.lines[s.at] {
		if synchronises(site.Variable) || s.kind != "" {
			// The runtime's modes are not ours.
			if site.Variable.Kind == s.kind && siteMode(site) == s.op {
				all = append(all, site)
			}
			continue
		}
		// A site of x++ reads as well.
		if mode := finding.Mode(site.Mode); mode == s.mode || writes(mode) && !writes(s.mode) {
			all = append(all, site)
		}
	}
	return all
}

// sharedVariable returns the one variable that both sides may access, if there is only one: a list and its elements are
// one, by the name of the list; a copy of an object accesses its fields. Of several fields of one type it returns the
// type, with all their names.
func sharedVariable(a, b []*plan.Site) (v plan.Variable, ok bool) {
	both := map[plan.Variable]bool{}
	for _, s := range a {
		for _, t := range b {
			switch {
			case s.Variable == t.Variable, isWhole(t.Variable, s.Variable):
				both[s.Variable] = true
			case isWhole(s.Variable, t.Variable):
				both[t.Variable] = true
			}
		}
	}
	// The shortest name is that of the list: x before x[].
	byName := func(v, w plan.Variable) int {
		return cmp.Or(strings.Compare(v.Name, w.Name), strings.Compare(v.Kind, w.Kind))
	}
	if all := slices.SortedFunc(maps.Keys(both), byName); len(all) > 0 {
		names := []string{all[0].Name}
		for _, w := range all[1:] {
			if w.Package != all[0].Package || w.Type != all[0].Type || w.Function != all[0].Function {
				return v, false
			}
			if last := names[len(names)-1]; w.Name != last && w.Name != last+"[]" {
				names = append(names, w.Name)
			}
		}
		v = all[0]
		if len(names) > 1 {
			v.Name, v.Kind = strings.Join(names, " or "), ""
		}
		return v, len(names) == 1
	}
	// A channel may have a name of its own on each side, as a parameter or an element of a list.
	if len(a) == 1 && len(b) == 1 && a[0].Variable.Kind == b[0].Variable.Kind && synchronises(a[0].Variable) {
		return a[0].Variable, true
	}
	return v, false
}

// called finds the call by which a race came into a function of another module, such as the Len of q.l.Len(), by the
// line of the stack and the name of the function. The operand is the receiver.
func (e *Unordered) called(s *exactSide) (op operation.Operation) {
	stack := s.goroutine.Stack
	i := slices.Index(stack, s.frame)
	if i <= 0 || s.kind != "" {
		return op
	}
	callee := strings.ReplaceAll(stack[i-1].Function, "[...]", "")
	method := callee[strings.LastIndexByte(callee, '.')+1:]
	at := finding.Access{Position: finding.Position{File: s.frame.File, Line: s.frame.Line}, Mode: finding.Call}
	op = operation.Failing(e.seen.Pkgs, &at, []string{method})
	if op.Node == nil || !op.In.Info.Types[op.Operand].IsValue() { // a function of a package
		return operation.Operation{}
	}
	return op
}

// sameOperand returns the field or package variable for which both sides call a function, or reports that it has no
// name.
func sameOperand(calls [2]operation.Operation, r *exactRace) (v plan.Variable, unnamed bool) {
	if calls[0].Node == nil || calls[1].Node == nil {
		return v, true
	}
	a, b := calls[0].Variable(r.sides[1].frame.Function), calls[1].Variable(r.sides[0].frame.Function)
	return plan.Variable(a), a != b || a.Kind == ""
}
