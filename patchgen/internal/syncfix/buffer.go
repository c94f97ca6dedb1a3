package syncfix

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// buffer makes room in a channel for all values that are ever sent on it, so
// that no sender waits for a receiver who has left:
//
//	ch := make(chan int)	->	ch := make(chan int, 1)
//	go func() { ch <- ask() }()
//	select {
//	case n := <-ch:
//	case <-ctx.Done():
//	}
//
// It applies where each sender is a goroutine that sends once, as the last thing
// that it does: nothing that follows can have relied on the value having been
// received. It is started once, or in one loop over a slice or map, whose length
// is the room then. Obligation: [validate.Unblocked].
func buffer(p *Problem) (*strategy.Patch, error) {
	c, err := p.blockedOn(finding.Send)
	if err != nil {
		return nil, err
	}
	if !c.isUnbuffered() {
		return nil, fmt.Errorf("%s has room already", c.object.Name())
	}
	// ch <- v, last thing in a goroutine that is started once
	senders := map[*source.Function]bool{}
	room := ""
	for _, s := range c.sends {
		f := c.file.FunctionOf(s)
		once, ok := c.isStarted(f)
		if !once && len(c.sends) == 1 {
			room = c.timesStarted(f)
		}
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: the sender is no goroutine of its own", c.file.At(s))
		case !once && room == "" || c.inLoop(s, f):
			return nil, fmt.Errorf("%s: how many values are sent is not known", c.file.At(s))
		}
		if err := c.isLast(s, f); err != nil {
			return nil, err
		}
		senders[f] = true
	}
	// make(chan T), make(chan T, 0)
	edits := edit.New()
	if room == "" {
		room = fmt.Sprint(len(senders))
	}
	if len(c.making.Args) == 1 {
		end := c.file.Offset(c.making.Args[0].End())
		edits.Add(c.file, end, end, func() string { return ", " + room })
	} else {
		edits.Replace(c.file, c.making.Args[1], room)
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: c.claim()}, err
}

// timesStarted writes how often the goroutine of f is started for a channel: len(x) if that is in a loop over x,
// directly in the function of the channel; "" if it is not known.
func (c *channel) timesStarted(f *source.Function) string {
	var loop *ast.RangeStmt
	for n := c.file.Parents[f.Node]; n != nil && n != c.function.Node; n = c.file.Parents[n] {
		switch n := n.(type) {
		case *ast.ForStmt:
			return ""
		case *ast.RangeStmt:
			if loop != nil {
				return ""
			}
			loop = n
		}
	}
	if loop == nil || loop.Pos() < c.made.End() {
		return ""
	}
	// for _, x := range xs: xs is a name that nothing behind the make sets
	x, ok := ast.Unparen(loop.X).(*ast.Ident)
	if !ok || c.file.Sets(c.function.Body, c.file.LocalsIn(x)) != nil || len(c.file.LocalsIn(x)) == 0 {
		return ""
	}
	switch c.file.TypeOf(x).Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		return "len(" + x.Name + ")"
	}
	return ""
}

// isLast refuses a send behind which f does anything else than return.
func (c *channel) isLast(s ast.Stmt, f *source.Function) error {
	for n := ast.Node(s); n != nil && n != ast.Node(f.Body); n = c.file.Parents[n] {
		stmt, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		if clause, ok := n.(*ast.CommClause); ok && clause.Comm == s {
			return fmt.Errorf("%s: the send is a case of a select", c.file.At(s))
		}
		list := source.ListOf(c.file, stmt)
		i := slices.Index(list, stmt)
		if i < 0 {
			continue
		}
		rest := list[i+1:]
		if len(rest) > 0 {
			if _, returns := rest[0].(*ast.ReturnStmt); returns {
				return nil
			}
			return fmt.Errorf("%s: what follows the send may rely on the value having been received", c.file.At(rest[0]))
		}
	}
	return nil
}
