package validate

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// stoppable demands that touched functions wait at fewer channels alone, in none more often than before, that each
// operation which is gone from there is a case of a select, and that each new select is one that a stop may end.
func (j *judge) stoppable() {
	// Each select that is new has the form of a stop.
	isAdded := false
	for _, p := range j.now.Packages {
		known := j.selects(j.old, j.old.Package(p.Path))
		for _, x := range slices.Concat(slices.Collect(maps.Values(j.selects(j.now, p)))...) {
			if len(known[x.text]) > 0 {
				known[x.text] = known[x.text][1:]
				continue
			}
			before := slices.Concat(slices.Collect(maps.Values(known))...)
			isAdded = isAdded || addedCase(x, before) != nil
			if why := j.unlikeStop(x, before); why != "" {
				j.add("stoppable", "%s: %s", p.Fset.Position(x.stmt.Pos()), why)
			}
		}
	}
	// No operation is gone, and one waits no longer for its other side alone.
	before, casesBefore := j.channelWaits(j.old)
	after, casesAfter := j.channelWaits(j.now)
	if total(after) >= total(before) && !isAdded {
		j.add("stoppable", "with it, no fewer operations wait for their other side alone")
	}
	for _, k := range after.more(before) {
		j.add("stoppable", "%s %s", short(k.function), k.what)
	}
	for k, n := range before {
		if after[k]+casesAfter[k] < n+casesBefore[k] {
			j.add("stoppable", "%s %s less often than before", short(k.function), k.what)
		}
	}
}

// selectIn is a select with the innermost function that it stands in.
type selectIn struct {
	pkg      *session.Package
	function ast.Node // *ast.FuncDecl or *ast.FuncLit
	stmt     *ast.SelectStmt
	name     string // of the declared function around it
	text     string // with that name
}

// selects lists the selects of the touched functions of a package, by their text.
func (j *judge) selects(s *side, p *session.Package) map[string][]selectIn {
	found := map[string][]selectIn{}
	if p == nil {
		return found
	}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			obj, _ := p.Info.Defs[decl.Name].(*types.Func)
			if obj == nil || !j.touched[obj.FullName()] {
				continue
			}
			// Each select, with the innermost literal around it.
			ast.PreorderStack(decl, nil, func(n ast.Node, stack []ast.Node) bool {
				stmt, ok := n.(*ast.SelectStmt)
				if !ok {
					return true
				}
				x := selectIn{pkg: p, function: decl, stmt: stmt, name: obj.FullName(),
					text: obj.FullName() + textOf(p, stmt)}
				for _, around := range stack {
					if lit, isLit := around.(*ast.FuncLit); isLit {
						x.function = lit
					}
				}
				found[x.text] = append(found[x.text], x)
				return true
			})
		}
	}
	return found
}

// textOf writes a node as gofmt does, without the comments in it.
func textOf(p *session.Package, n ast.Node) string {
	var b strings.Builder
	if err := printer.Fprint(&b, p.Fset, n); err != nil {
		return err.Error()
	}
	return b.String()
}

// unlikeStop returns what a select lacks of this form, in which the function is one that goroutines start, or returns
// an error that says that it was stopped. Or else it is a select of before with the second case added.
//
//	select {
//	case ch <- v:
//	case <-ctx.Done():
//		return ctx.Err()
//	}
func (j *judge) unlikeStop(x selectIn, before []selectIn) string {
	stop := addedCase(x, before)
	if stop == nil {
		var why string
		if stop, why = stopBeside(x); why != "" {
			return why
		}
	}
	// What ends the wait ends it for all who wait, and from then on.
	receive, ok := stop.Comm.(*ast.ExprStmt)
	if !ok {
		return "what ends the wait is no stop"
	}
	of := ast.Unparen(receive.X.(*ast.UnaryExpr).X)
	context := contextOf(x.pkg, of)
	if context == "" && !j.now.isOnlyClosed(x.pkg, of) && !j.ended(x, textOf(x.pkg, of)) {
		return textOf(x.pkg, of) + " is no context's, nor a channel that is only closed"
	}
	if len(stop.Body) != 1 {
		return "who is stopped does not leave at once"
	}
	leave, ok := stop.Body[0].(*ast.ReturnStmt)
	if !ok {
		return "who is stopped does not leave at once"
	}
	return j.now.unheard(x, leave, context)
}

// ended reports whether the function of a select returned before, too, where it received from the channel.
func (j *judge) ended(x selectIn, channel string) bool {
	for _, o := range slices.Concat(slices.Collect(maps.Values(j.selects(j.old, j.old.Package(x.pkg.Path))))...) {
		if o.name != x.name {
			continue
		}
		for _, c := range o.stmt.Body.List {
			clause := c.(*ast.CommClause)
			receive, ok := clause.Comm.(*ast.ExprStmt)
			if !ok || len(clause.Body) == 0 || textOf(o.pkg, receive.X) != "<-"+channel {
				continue
			}
			if _, returns := clause.Body[len(clause.Body)-1].(*ast.ReturnStmt); returns {
				return true
			}
		}
	}
	return false
}

// addedCase returns the case that a select has beyond those of one in the same function before; nil if there is none
// such.
func addedCase(x selectIn, before []selectIn) *ast.CommClause {
	for _, o := range before {
		if o.name != x.name || len(o.stmt.Body.List)+1 != len(x.stmt.Body.List) {
			continue
		}
		texts := map[string]int{}
		for _, c := range o.stmt.Body.List {
			texts[textOf(o.pkg, c)]++
		}
		var added []*ast.CommClause
		for _, c := range x.stmt.Body.List {
			if text := textOf(x.pkg, c); texts[text] > 0 {
				texts[text]--
			} else {
				added = append(added, c.(*ast.CommClause))
			}
		}
		if len(added) == 1 && added[0].Comm != nil {
			return added[0]
		}
	}
	return nil
}

// stopBeside returns the second case of a select, beside one operation that does nothing more or returns the value that
// it has received; or else what is different.
func stopBeside(x selectIn) (stop *ast.CommClause, why string) {
	for _, c := range x.stmt.Body.List {
		clause := c.(*ast.CommClause)
		isStop := len(clause.Body) > 0 && !returnsReceived(clause)
		switch {
		case clause.Comm == nil:
			return nil, "the select does not wait for the other side"
		case isStop && stop != nil, len(x.stmt.Body.List) != 2:
			return nil, "the select is more than an operation and a stop"
		case isStop:
			stop = clause
		}
	}
	if stop == nil {
		return nil, "who is stopped goes on as if the operation were done"
	}
	return stop, ""
}

// returnsReceived reports whether a case returns the value that it receives, and does nothing else.
func returnsReceived(clause *ast.CommClause) bool {
	receive, ok := clause.Comm.(*ast.AssignStmt)
	if !ok || len(receive.Lhs) != 1 || len(clause.Body) != 1 {
		return false
	}
	leave, ok := clause.Body[0].(*ast.ReturnStmt)
	if !ok || len(leave.Results) != 1 {
		return false
	}
	value, isName := receive.Lhs[0].(*ast.Ident)
	result, ok := leave.Results[0].(*ast.Ident)
	return isName && ok && value.Name == result.Name
}

// saysStopped reports whether the last result of a return says that the function was stopped: the error of the context,
// or for a channel an error variable or a new error.
func saysStopped(p *session.Package, leave *ast.ReturnStmt, context string) bool {
	last := ast.Unparen(leave.Results[len(leave.Results)-1])
	if context != "" {
		return textOf(p, last) == context+".Err()"
	}
	switch e := last.(type) {
	case *ast.Ident:
		return e.Name != "nil" && types.TypeString(p.Info.TypeOf(e), nil) == "error"
	case *ast.CallExpr:
		return textOf(p, e.Fun) == "errors.New"
	}
	return false
}

// contextOf returns ctx of ctx.Done(), a context; "" for other expressions.
func contextOf(p *session.Package, e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Done" || types.TypeString(p.Info.TypeOf(sel.X), nil) != "context.Context" {
		return ""
	}
	return textOf(p, sel.X)
}

// isOnlyClosed reports whether the module closes the channel that e names, and sends nothing on it.
func (s *side) isOnlyClosed(p *session.Package, e ast.Expr) bool {
	want := variableOf(p, e)
	closes, sends := 0, 0
	for _, p := range s.Packages {
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SendStmt:
					if isSameVariable(variableOf(p, n.Chan), want) {
						sends++
					}
				case *ast.CallExpr:
					if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "close" && len(n.Args) == 1 &&
						isSameVariable(variableOf(p, n.Args[0]), want) {
						closes++
					}
				}
				return true
			})
		}
	}
	return closes > 0 && sends == 0
}

// variableOf returns the variable that an expression names; nil if it is none.
func variableOf(p *session.Package, e ast.Expr) *types.Var {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	}
	v, _ := p.Info.Uses[id].(*types.Var)
	return v
}

// isSameVariable compares variables, which other packages see as another object.
func isSameVariable(a, b *types.Var) bool {
	if a == nil || b == nil || a == b {
		return a != nil && a == b
	}
	return a.Exported() && a.Name() == b.Name() && a.Pkg() != nil && b.Pkg() != nil && a.Pkg().Path() == b.Pkg().Path()
}

// unheard returns who would not learn that the function of a select was stopped: its caller, or those who wait for what
// it does behind the select.
func (s *side) unheard(x selectIn, leave *ast.ReturnStmt, context string) string {
	i := slices.IndexFunc(x.pkg.IR.Funcs, func(fn *ssa.Function) bool { return fn.Syntax() == x.function })
	if i < 0 {
		return "its function cannot be followed"
	}
	fn := x.pkg.IR.Funcs[i]
	if len(leave.Results) > 0 {
		if !saysStopped(x.pkg, leave, context) {
			return "the caller does not learn that it was stopped"
		}
	} else {
		isCalled := func(site callgraph.Site) bool { return site.Mode != callgraph.Go }
		sites := x.pkg.Calls.Sites(fn)
		if fn.Signature.Results().Len() > 0 || len(sites) == 0 || slices.ContainsFunc(sites, isCalled) {
			return "the callers of " + short(fn.String()) + " do not learn that it was stopped"
		}
	}
	// What comes behind the select, and need not come any more.
	handovers := facts.NewSearch(s.lookHandover)
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			what := handovers.Does(instr)
			if what == "" {
				continue
			}
			for sel := range ir.Instructions(b.Parent()) {
				if sel, ok := sel.(*ssa.Select); ok && x.stmt.Pos() <= sel.Pos() && sel.Pos() < x.stmt.End() &&
					x.pkg.IR.Flow(fn).Leads(sel, instr) {
					return fmt.Sprintf("others may wait for it to come to %s, where it %s", at(x.pkg, instr), what)
				}
			}
		}
	}
	return ""
}

// lookHandover names what an instruction does that others may wait for, or returns what it calls; "" for others. A
// deferred call comes in any case.
func (s *state) lookHandover(instr ssa.Instruction) (what string, calls []*ssa.Function) {
	call, isCall := instr.(*ssa.Call)
	switch {
	case order.On(instr, order.Send) != nil:
		return "sends", nil
	// <-s.slots, where others send to take a slot
	case order.On(instr, order.Receive) != nil:
		if v, ok := instr.(ssa.Value); ok && len(*v.Referrers()) == 0 && isSentElsewhere(s.Of(instr.Parent()), instr) {
			return "receives", nil
		}
		return "", nil
	case !isCall:
		return "", nil
	case order.On(instr, order.Close) != nil:
		return "closes a channel", nil
	case order.On(instr, order.Done|order.Wake) != nil:
		return "calls " + call.Call.StaticCallee().Name(), nil
	}
	return "", s.Calls.Runs(call)
}

// isSentElsewhere reports whether another function sends on the channel of a receive.
func isSentElsewhere(p *session.Package, receive ssa.Instruction) bool {
	for _, op := range p.Ops.All {
		if op.Instr == receive {
			return slices.ContainsFunc(p.Ops.ByKey[op.Key], func(other *syncops.Op) bool {
				return other.Mode == finding.Send && other.Fn != op.Fn
			})
		}
	}
	return false
}

// channelWaits counts the sends and receives of touched functions: those that stand alone, and the cases of selects.
func (j *judge) channelWaits(s *side) (alone, cases tally) {
	alone, cases = tally{}, tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
		sends := tallyKey{declared(p, fn), "sends"}
		receives := tallyKey{declared(p, fn), "receives"}
		switch instr := instr.(type) {
		case *ssa.Send:
			alone[sends]++
		case *ssa.UnOp:
			if instr.Op == token.ARROW {
				alone[receives]++
			}
		case *ssa.Select:
			for _, state := range instr.States {
				if state.Send != nil {
					cases[sends]++
				} else {
					cases[receives]++
				}
			}
		}
	})
	return alone, cases
}

// signsOff demands that each function calls Done as often as before, and fewer times without a defer; and that a new
// defer stands where every way out has passed it, with nothing deferred behind which others may be needed.
func (j *judge) signsOff() {
	before, plainBefore := j.dones(j.old)
	after, plain := j.dones(j.now)
	for _, k := range append(after.more(before), before.more(after)...) {
		j.add("signs off", "%s signs off at %s %d times, and did so %d times", short(k.function), k.what, after[k], before[k])
	}
	if total(plain) >= total(plainBefore) {
		j.add("signs off", "as many calls of Done as before are not deferred")
	}
	moved := map[string]bool{}
	for _, k := range plainBefore.more(plain) {
		moved[k.function] = true
	}
	for _, p := range j.now.Packages {
		for _, op := range p.Ops.All {
			if d, ok := op.Instr.(*ssa.Defer); ok && op.Mode == finding.Done && moved[op.Fn.String()] {
				j.deferredFirst(p, d)
			}
		}
	}
}

// dones counts the calls of Done by function, literals apart, and WaitGroup: all, and those that are not deferred.
func (j *judge) dones(s *side) (all, plain tally) {
	all, plain = tally{}, tally{}
	for _, p := range s.Packages {
		for _, op := range p.Ops.All {
			if op.Mode != finding.Done || !j.touched[declared(p, op.Fn)] {
				continue
			}
			k := tallyKey{op.Fn.String(), op.Path.String()}
			all[k]++
			if _, isDefer := op.Instr.(*ssa.Defer); !isDefer {
				plain[k]++
			}
		}
	}
	return all, plain
}

// deferredFirst demands of a deferred Done that its function begins with it. It runs behind all else that is deferred,
// which must need nobody who waits for it.
func (j *judge) deferredFirst(p *session.Package, done *ssa.Defer) {
	fn := done.Parent()
	first := done.Block() == fn.Blocks[0]
	for _, instr := range fn.Blocks[0].Instrs {
		if instr == ssa.Instruction(done) {
			break
		}
		if _, calls := instr.(ssa.CallInstruction); calls || facts.Waiting(instr) != "" {
			first = false
		}
	}
	if !first {
		j.add("signs off", "%s may end before it comes to the defer at %s", short(fn.String()), at(p, done))
	}
	for instr := range ir.Instructions(fn) {
		if other, ok := instr.(*ssa.Defer); ok && other != done {
			if why := j.now.Hazard(other); why != "" {
				j.add("signs off", "what is deferred at %s now runs before the Done, and %s", at(p, other), why)
			}
		}
	}
}

// wakesAll demands that every Signal of a touched function is a Broadcast of the same condition now, and that each
// waiter of these tests its condition again.
func (j *judge) wakesAll() {
	before, _ := j.wakeups(j.old)
	after, signals := j.wakeups(j.now)
	for _, k := range append(before.more(after), after.more(before)...) {
		j.add("wakes all", "%s wakes those who wait for %s %d times, and did so %d times", short(k.function), k.what,
			after[k], before[k])
	}
	if total(signals) > 0 {
		j.add("wakes all", "%d calls of Signal are left", total(signals))
	}
	woken := map[string]bool{}
	for k := range after {
		woken[k.what] = true
	}
	for _, p := range j.now.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			wait, ok := instr.(*ssa.Call)
			if !ok || methodOf(wait, "*sync.Cond") != "Wait" {
				return
			}
			name, known := accesspath.NameOf(wait.Call.Args[0])
			if known && !woken[name.Short()] || testsAgain(wait) {
				return
			}
			j.add("wakes all", "who waits at %s does not test the condition again", at(p, wait))
		})
	}
}

// wakeups counts Signal and Broadcast of touched functions by condition: all, and Signal alone.
func (j *judge) wakeups(s *side) (all, signals tally) {
	all, signals = tally{}, tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
		call, ok := instr.(ssa.CallInstruction)
		if !ok {
			return
		}
		method := methodOf(call, "*sync.Cond")
		if method != "Signal" && method != "Broadcast" {
			return
		}
		cond := call.Common().Args[0]
		what := accesspath.Of(cond).String()
		if name, known := accesspath.NameOf(cond); known {
			what = name.Short()
		}
		k := tallyKey{declared(p, fn), what}
		all[k]++
		if method == "Signal" {
			signals[k]++
		}
	})
	return all, signals
}

// methodOf returns which method of a library's type is called; "" for other calls.
func methodOf(call ssa.CallInstruction, recv string) string {
	fn := call.Common().StaticCallee()
	if fn == nil || fn.Signature.Recv() == nil || fn.Signature.Recv().Type().String() != recv {
		return ""
	}
	return fn.Name()
}

// testsAgain reports whether control comes from a Wait straight back to the test before it, of memory or by a call:
//
//	for !g.open {
//		g.cond.Wait()
//	}
//
// A loop around an if does not, and a loop that counts how often it was woken neither.
func testsAgain(wait *ssa.Call) bool {
	b := wait.Block()
	if len(b.Succs) != 1 || b.Instrs[len(b.Instrs)-2] != ssa.Instruction(wait) {
		return false
	}
	// Blocks of nothing but a jump lie between, at most all there are.
	b = b.Succs[0]
	for range wait.Parent().Blocks {
		if len(b.Instrs) == 1 && len(b.Succs) == 1 {
			b = b.Succs[0]
		}
	}
	if !b.Dominates(wait.Block()) {
		return false
	}
	return slices.ContainsFunc(b.Instrs, func(instr ssa.Instruction) bool {
		load, isLoad := instr.(*ssa.UnOp)
		_, isCall := instr.(*ssa.Call)
		return isCall || isLoad && load.Op == token.MUL
	})
}
