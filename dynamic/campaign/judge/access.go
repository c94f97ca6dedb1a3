package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// siteMode returns the mode of the access at a site, in the words of findings.
func siteMode(s *plan.Site) finding.Mode {
	switch s.Variable.Kind {
	case plan.KindChannel:
		if s.Mode == plan.Write {
			return finding.CloseChan
		}
		return finding.Send
	case plan.KindWaitGroup:
		if s.Mode == plan.AtomicWrite {
			return finding.Add
		}
		return finding.Wait
	}
	return finding.Mode(s.Mode)
}

// verb returns the verb for an access of mode m.
func verb(m finding.Mode) string {
	switch m {
	case finding.Send:
		return "send on"
	case finding.Add:
		return "add to"
	case finding.Wait:
		return "wait for"
	}
	return strings.Replace(string(m), "atomic-", "atomically ", 1)
}

// act returns an access in words. The expression of an access to a sync.Map is the method that makes it.
func (t *Tally) act(a *finding.Access) string {
	for i := range t.plan.Sites {
		s := &t.plan.Sites[i]
		if s.Variable.Kind == plan.KindSyncMap && s.File == a.File && s.Line == a.Line && s.Column == a.Column {
			return "call " + a.Expr
		}
	}
	return verb(a.Mode) + " " + a.Expr
}

// Access joins the plan's facts about a site with the evidence of the run there.
func (t *Tally) Access(cfg *run.Settings, side *evidence.Side) finding.Access {
	s := t.plan.Site(side.Site)
	g := stacktext.Parse(side.Stack)
	g.ID = side.GID
	userpath.Goroutine(cfg.Workspace, &g)
	a := t.planned(side.Site)
	if calledAt(&a, g.Stack) {
		g.Stack = slices.Insert(g.Stack, 0,
			finding.Frame{Function: s.Package + "." + s.Function, File: a.File, Line: a.Line})
	}
	a.Goroutine = &g
	if s.Mode == plan.Write && !side.Write { // an append that had to grow has read
		a.Mode = finding.Read
	}
	if len(g.Created) > 0 {
		a.Role = fmt.Sprintf("goroutine started at %s:%d", g.Created[0].File, g.Created[0].Line)
	}
	return a
}

// calledAt reports whether the stack of an access ends at the call of the function that makes it: the monitor stands
// around the call of a function so short that the compiler inlines it.
func calledAt(a *finding.Access, stack []finding.Frame) bool {
	if len(stack) == 0 || strings.Contains(a.Function, ".func") {
		return false
	}
	_, top := stacktext.SplitName(stack[0].Function)
	method := func(function string) string {
		function = strings.ReplaceAll(function, "[...]", "")
		return function[strings.LastIndexByte(function, '.')+1:]
	}
	return method(top) != method(a.Function) && !slices.ContainsFunc(stack, func(f finding.Frame) bool {
		return f.File == a.File && a.Line <= f.Line && f.Line <= max(a.Line, a.EndLine)
	})
}

// planned returns the access at a site as the plan knows it.
func (t *Tally) planned(site uint32) finding.Access {
	s := t.plan.Site(site)
	return finding.Access{
		Position: t.position(site), Package: s.Package, Function: s.Function,
		Expr: s.Expr, Source: s.Source, Mode: siteMode(s),
	}
}

func plainVerb(m finding.Mode) string { return strings.TrimPrefix(string(m), "atomic-") }
