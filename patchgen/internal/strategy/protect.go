package strategy

import (
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/critsec"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// lockFor returns which lock protects an access, as source and as place.
type lockFor func(a *source.Access) (text, key string, err error)

// protectAll puts every one of the accesses under its lock, with the accesses
// of other variables under that lock that belong to them.
func (p *Problem) protectAll(edits *edit.Edits, accs []*source.Access, lock lockFor, rw bool,
	others *relatedVariables) (notes []string, err error) {
	type job struct {
		f    *source.Function
		text string
	}
	// One task for each function and lock.
	jobs := map[job]*critsec.Task{}
	var order []*critsec.Task
	for _, a := range accs {
		text, key, err := lock(a)
		if err != nil {
			return nil, err
		}
		f := a.Outermost()
		j := job{f, text}
		c := jobs[j]
		if c == nil {
			c = critsec.NewTask(p.Facts, f, edits)
			c.Variable, c.Lock, c.LockKey, c.HasRLock = p.Variable, text, key, rw
			if a.Base != nil {
				if at, ok := a.File.PathOf(a.Base); ok {
					c.Object = at.Key
				}
			}
			jobs[j] = c
			order = append(order, c)
		}
		c.Accesses[a.Expr] = a
	}
	if err := critsec.OneObjectPerStatement(order); err != nil {
		return nil, err
	}
	// Regions must not call what takes the lock itself, once the patch is made.
	takes := critsec.Acquirers(p.Module, p.Facts, order)
	// Each function is covered on its own; what stays two steps is noted or refused.
	for _, c := range order {
		c.Acquirers = takes
		if others != nil {
			others.addTo(c)
		}
		split, err := c.Protect()
		if err != nil {
			return nil, err
		}
		if (c.TwoSteps || len(split) > 0) && p.wantsOneStep(c) {
			return nil, fmt.Errorf("%s: the load and the store that depends on it cannot be one region", c.Function.Name())
		}
		if c.TwoSteps && len(split) == 0 {
			split = []string{fmt.Sprintf("%s (%s): a read and a later write of %s are two steps, as they were; "+
				"neither depends on the other", c.Function.Name(), c.File.Path, p.Variable)}
		}
		slices.Sort(split)
		notes = append(notes, slices.Compact(split)...)
	}
	return notes, nil
}

// wantsOneStep reports whether an atomicity finding is about this function.
func (p *Problem) wantsOneStep(c *critsec.Task) bool {
	for _, f := range p.Findings {
		if f.Code != finding.LoadAndStore && f.Section == nil {
			continue
		}
		for _, a := range c.Accesses {
			if p.named(a) {
				return true
			}
		}
	}
	return false
}
