package syncfix

import (
	"fmt"
	"go/ast"
	"go/token"
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
// that it does, the close of the channel apart where nobody else sends: nothing that follows can have relied on the
// value having been received. It is started once, or in one loop over a slice or map, whose length
// is the room then, or in one that counts. Obligation: [validate.Unblocked].
func buffer(p *Problem) (*strategy.Patch, error) {
	c, err := p.blockedOn(finding.Send)
	if err != nil {
		return nil, err
	}
	edits := edit.New()
	senders, err := c.makeRoom(edits)
	if err != nil {
		return nil, err
	}
	// The same goroutine may send on another channel instead: case err := <-errc
	for _, other := range p.receivedBeside(c) {
		beside := edit.New()
		others, err := other.makeRoom(beside)
		if err == nil && isSubset(others, senders) {
			edits.Join(beside)
		}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: c.claim()}, err
}

// makeRoom makes room in the channel for all that is sent on it, and returns the functions that send.
func (c *channel) makeRoom(edits *edit.Edits) (senders map[*source.Function]bool, err error) {
	if !c.isUnbuffered() {
		return nil, fmt.Errorf("%s has room already", c.object.Name())
	}
	// ch <- v, last thing in a goroutine that is started once
	senders = map[*source.Function]bool{}
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
		if err := c.isLast(s, f, once); err != nil {
			return nil, err
		}
		senders[f] = true
	}
	// make(chan T), make(chan T, 0)
	if room == "" {
		room = fmt.Sprint(len(senders))
	}
	if len(c.making.Args) == 1 {
		end := c.file.Offset(c.making.Args[0].End())
		edits.Add(c.file, end, end, func() string { return ", " + room })
	} else {
		edits.Replace(c.file, c.making.Args[1], room)
	}
	return senders, nil
}

// receivedBeside lists the other channels of the function that a select receives from beside c.
func (p *Problem) receivedBeside(c *channel) (list []*channel) {
	seen := map[types.Object]bool{c.object: true}
	for _, r := range c.receives {
		// select { case v := <-ch: case err := <-errc: }
		var cases []ast.Stmt
		for n := c.file.Parents[r]; n != nil && cases == nil; n = c.file.Parents[n] {
			if clause, ok := n.(*ast.CommClause); ok && clause.Comm != nil && r.End() <= clause.Comm.End() {
				cases = c.file.Parents[clause].(*ast.BlockStmt).List
			}
		}
		for _, s := range cases {
			comm := s.(*ast.CommClause).Comm
			if comm == nil {
				continue
			}
			ast.Inspect(comm, func(n ast.Node) bool {
				receive, ok := n.(*ast.UnaryExpr)
				if !ok || !source.IsWait(receive) {
					return true
				}
				if id, ok := ast.Unparen(receive.X).(*ast.Ident); ok && !seen[c.file.Package.Info.ObjectOf(id)] {
					seen[c.file.Package.Info.ObjectOf(id)] = true
					if other, err := p.channelAt(place{c.file, []ast.Node{receive}}, finding.Receive); err == nil {
						list = append(list, other)
					}
				}
				return true
			})
		}
	}
	return list
}

// isSubset reports whether all functions of a are in b.
func isSubset(a, b map[*source.Function]bool) bool {
	for f := range a {
		if !b[f] {
			return false
		}
	}
	return true
}

// timesStarted writes how often the goroutine of f is started for a channel: len(x) if that is in a loop over x,
// n in a loop that counts up to n, directly in the function of the channel; "" if it is not known.
func (c *channel) timesStarted(f *source.Function) string {
	var loop ast.Stmt
	for n := c.file.Parents[f.Node]; n != nil && n != c.function.Node; n = c.file.Parents[n] {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if loop != nil {
				return ""
			}
			loop = n.(ast.Stmt)
		}
	}
	if loop == nil || loop.Pos() < c.made.End() {
		return ""
	}
	switch loop := loop.(type) {
	// for _, x := range xs, for i := range n
	case *ast.RangeStmt:
		if !c.isFixed(loop.X) {
			return ""
		}
		switch t := c.file.TypeOf(loop.X).Underlying().(type) {
		case *types.Slice, *types.Map, *types.Array:
			return "len(" + c.file.Text(loop.X) + ")"
		case *types.Basic:
			if t.Info()&types.IsInteger != 0 {
				return c.roomFor(loop.X)
			}
		}
	// for i := 0; i < n; i++
	case *ast.ForStmt:
		if n := c.upTo(loop); n != nil && c.isFixed(n) {
			return c.roomFor(n)
		}
	}
	return ""
}

// roomFor writes room for n values: max(n, 0), as no channel is made with a negative size, whereas a loop up to one
// ends at once; "" where the language has no max yet, or another one is in scope.
func (c *channel) roomFor(n ast.Expr) string {
	text := c.file.Text(n)
	t, isBasic := c.file.TypeOf(n).Underlying().(*types.Basic)
	scope := c.file.Package.Types.Scope().Innermost(c.making.Pos())
	switch {
	case c.file.Package.Info.Types[n].Value != nil || isBasic && t.Info()&types.IsUnsigned != 0:
		return text
	case !c.file.Package.Since("go1.21") || scope == nil:
		return ""
	}
	if _, obj := scope.LookupParent("max", c.making.Pos()); obj != types.Universe.Lookup("max") {
		return ""
	}
	return "max(" + text + ", 0)"
}

// isFixed reports whether e is a constant, or a local that nothing behind the make sets.
func (c *channel) isFixed(e ast.Expr) bool {
	if c.file.Package.Info.Types[e].Value != nil {
		return true
	}
	x, ok := ast.Unparen(e).(*ast.Ident)
	return ok && len(c.file.LocalsIn(x)) > 0 && c.file.Sets(c.function.Body, c.file.LocalsIn(x)) == nil
}

// upTo returns n of a loop for i := 0; i < n; i++ whose body does not set i; nil for other loops.
func (c *channel) upTo(loop *ast.ForStmt) ast.Expr {
	init, isAssign := loop.Init.(*ast.AssignStmt)
	test, isTest := loop.Cond.(*ast.BinaryExpr)
	step, isStep := loop.Post.(*ast.IncDecStmt)
	if !isAssign || !isTest || !isStep || test.Op != token.LSS || step.Tok != token.INC || len(init.Lhs) != 1 {
		return nil
	}
	from := c.file.Package.Info.Types[init.Rhs[0]].Value
	name := c.file.Text(init.Lhs[0])
	if from == nil || from.String() != "0" || c.file.Text(test.X) != name || c.file.Text(step.X) != name {
		return nil
	}
	if c.file.Sets(loop.Body, c.file.LocalsIn(test.X)) != nil {
		return nil
	}
	return test.Y
}

// isClose reports whether a statement closes the channel.
func (c *channel) isClose(stmt ast.Stmt) bool {
	s, ok := stmt.(*ast.ExprStmt)
	return ok && slices.ContainsFunc(c.closes, func(call *ast.CallExpr) bool { return ast.Expr(call) == s.X })
}

// isLast refuses a send behind which f does anything else than return, or to close the channel if it is started once
// and nobody else sends.
func (c *channel) isLast(s ast.Stmt, f *source.Function, once bool) error {
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
		if len(rest) == 1 && len(c.sends) == 1 && once && c.isClose(rest[0]) {
			continue
		}
		if len(rest) > 0 {
			if _, returns := rest[0].(*ast.ReturnStmt); returns {
				return nil
			}
			return fmt.Errorf("%s: what follows the send may rely on the value having been received", c.file.At(rest[0]))
		}
	}
	return nil
}
