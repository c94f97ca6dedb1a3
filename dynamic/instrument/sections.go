package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Atomic sections are watched by calls of the monitor beside those at the
// accesses (see section.go of the monitor):
//
//	c.mu.Lock()               c.mu.Lock()
//	n := c.n                  n := (*rt.Enter(rt.R(&c.n, 1), 1, 7, 0)); rt.Entered(7)
//	c.mu.Unlock()             c.mu.Unlock(); rt.Gap(7)
//	if n == 0 { return }      if n == 0 { rt.Leave(7); return }
//	c.mu.Lock()               c.mu.Lock()
//	c.n = n - 1               (*rt.End(rt.W(&c.n, 2), 2, 7, rt.AllowReads|rt.Writes)) = n - 1; rt.Ended(7); rt.Leave(7)
//	c.mu.Unlock()             c.mu.Unlock()
//
// Nothing is deferred and no closure is made, so that frames, recovery and escape
// are as they were. A panic closes no section; the monitor drops it.
//
// The gap is behind each statement between entry and end that unlocks something,
// by its name, and on from which an end can be reached; where there is none, directly
// behind the entry.

// Why a section cannot be opened.
const (
	// EntryLeft: its entry is not monitored, or is in a shape for which there is
	// no call: elements in bulk, a map's key that calls, a range clause that assigns.
	EntryLeft plan.Reason = "entry is not monitored, or cannot be held"
	// EndLeft: that holds for all of its ends.
	EndLeft plan.Reason = "no end is monitored, or can be held"
)

// role is what an access, or a call that leads to it, is in a section.
type role struct {
	*opening
	end *ending // nil for the entry
}

// opening is a section of which the rewriter has the function.
type opening struct {
	*plan.Section
	entry   ast.Node // access or call
	entryAt *access  // nil if it is in a callee
	ends    []ending
	body    *ast.BlockStmt
	results bool // the function has some
	reason  plan.Reason
}

// ending is an end in the function: an access, or the call that leads to it.
type ending struct {
	*plan.End
	node ast.Node
	at   *access // nil if it is in a callee
	// other: it is an access to another variable than the entry.
	other bool
}

// sectioner knows the sections of one file.
type sectioner struct {
	roles    map[*access][]role // entries and ends
	binding  map[*access]*bound // where sections of callers begin or end
	keyed    map[plan.Variable]bool
	openings []*opening
	parents  map[ast.Node]ast.Node
	returns  map[*ast.ReturnStmt][]role // with an end inside
	spilled  map[*ast.ReturnStmt]bool   // its results are in temporaries
	calls    map[spot][]placed
	quiet    map[string]bool // functions that do not hand over
}

// bound is what sections of callers have at an access.
type bound struct {
	ends   bool // an end
	tested bool // the entry of one that tests it
	loose  bool // the entry of one that a user declared
}

// spot is where calls go: behind the brace or colon at lo, or, where hi is set,
// ahead of or behind the statement from lo to hi.
type spot struct {
	lo, hi token.Pos
	ahead  bool
}

// placed is a call at a spot, which comes in the order of the constants.
type placed struct {
	order int
	text  []piece
}

const (
	asStored = iota
	asBound
	asEnded
	asEntered
	asGap
	asLeave
)

// hasSections reports whether the function of a section of pl is in the file f.
func hasSections(p *sites.Package, f *ast.File, pl *plan.Plan) bool {
	if pl == nil {
		return false
	}
	name := relative(p, p.Fset.File(f.FileStart).Name())
	return slices.ContainsFunc(pl.Sections, func(s plan.Section) bool { return s.File == name })
}

// relative returns the name of a file as sites have it.
func relative(p *sites.Package, name string) string {
	if rel, err := filepath.Rel(p.Root, name); err == nil && !strings.HasPrefix(rel, "..") {
		name = rel
	}
	return filepath.ToSlash(name)
}

// opens reports whether the file has a section that can be opened.
func (r *rewriter) opens() bool {
	return slices.ContainsFunc(r.openings, func(o *opening) bool { return o.reason == "" })
}

// isKeyed reports whether a is announced with the key of the map.
func (r *rewriter) isKeyed(a *access) bool {
	return a.Map() && r.keyed[a.Site.Variable] && r.keyOf(a) != nil
}

// sectionsOf finds what r's file has of the sections of pl.
func (r *rewriter) sectionsOf(pl *plan.Plan, quiet map[string]bool) {
	if pl == nil {
		return
	}
	r.sectioner = sectioner{
		roles: map[*access][]role{}, binding: map[*access]*bound{}, keyed: map[plan.Variable]bool{},
		returns: map[*ast.ReturnStmt][]role{}, spilled: map[*ast.ReturnStmt]bool{},
		calls: map[spot][]placed{}, quiet: quiet,
	}
	byID := map[uint32]*access{}
	for _, a := range r.accesses {
		byID[a.id] = a
	}
	if len(pl.Sections) > 0 {
		r.parents = parents(r.file)
	}
	name := relative(r.pkg, r.name)
	for i := range pl.Sections {
		s := &pl.Sections[i]
		if v := s.Variables[0]; v.Kind == plan.KindMap && !s.Length {
			r.keyed[v] = true
		}
		if a := byID[s.Entry]; a != nil && s.EntryCall != nil {
			b := r.bind(a)
			b.tested = b.tested || s.Kind == plan.TestAndUse
			b.loose = b.loose || s.Kind == plan.UserSection
		}
		for _, e := range s.Ends {
			if a := byID[e.Site]; a != nil && e.EndCall != nil {
				r.bind(a).ends = true
			}
		}
		if s.File == name {
			r.open(s, byID, pl)
		}
	}
}

// bind returns what sections of callers have at a.
func (r *rewriter) bind(a *access) *bound {
	if r.binding[a] == nil {
		r.binding[a], a.kept = new(bound), true
	}
	return r.binding[a]
}

// open takes up a section whose function is in the file.
func (r *rewriter) open(s *plan.Section, byID map[uint32]*access, pl *plan.Plan) {
	o := &opening{Section: s}
	r.openings = append(r.openings, o)
	o.entry, o.entryAt = r.endpoint(s.EntryCall, byID[s.Entry])
	if o.entry == nil {
		o.reason = EntryLeft
		return
	}
	fn := r.enclosing(o.entry)
	o.body, o.results = fn.body, fn.results != nil
	for i := range s.Ends {
		e := &s.Ends[i]
		node, at := r.endpoint(e.EndCall, byID[e.Site])
		if node == nil {
			continue
		}
		if body := r.enclosing(node).body; body == o.body && body != nil {
			other := pl.Site(e.Site).Variable != pl.Site(s.Entry).Variable
			o.ends = append(o.ends, ending{e, node, at, other})
		}
	}
	if len(o.ends) == 0 {
		o.reason = EndLeft
		return
	}
	if r.mayNotBeFirst(o) {
		o.reason = NotFirst
		return
	}
	if r.handsOverAtOnce(o) {
		o.reason = HandsOver
		return
	}
	r.assignRoles(o)
}

// endpoint returns the access, or the call that leads to it.
func (r *rewriter) endpoint(call *plan.Place, a *access) (ast.Node, *access) {
	switch {
	case call != nil:
		if c := r.callAt(call); c != nil {
			return c, nil
		}
	case a != nil && a.left == "" && !a.Each:
		return a.Node, a
	}
	return nil, nil
}

func (r *rewriter) assignRoles(o *opening) {
	if o.entryAt != nil {
		r.roles[o.entryAt] = append(r.roles[o.entryAt], role{o, nil})
		o.entryAt.kept = true
	}
	for i := range o.ends {
		e := &o.ends[i]
		if e.at != nil {
			r.roles[e.at] = append(r.roles[e.at], role{o, e})
			e.at.kept = true
		}
		if ret, ok := r.statement(e.node).(*ast.ReturnStmt); ok {
			r.returns[ret] = append(r.returns[ret], role{o, e})
		}
	}
}

// callAt returns the call expression at the place, or nil.
func (r *rewriter) callAt(at *plan.Place) (found *ast.CallExpr) {
	for n := range r.parents {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		from, to := r.pkg.Fset.PositionFor(c.Pos(), false), r.pkg.Fset.PositionFor(c.End(), false)
		if (plan.Place{Line: from.Line, Column: from.Column, EndLine: to.Line, EndCol: to.Column}) == *at {
			return c
		}
	}
	return nil
}

// parents returns the node around each node of f.
func parents(f *ast.File) map[ast.Node]ast.Node {
	up := map[ast.Node]ast.Node{}
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			up[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		return true
	})
	return up
}

// function is a declared function or a literal.
type function struct {
	body    *ast.BlockStmt
	results *ast.FieldList // nil if there are none
}

// enclosing returns the function around n; its body is nil if there is none.
func (r *rewriter) enclosing(n ast.Node) function {
	for ; n != nil; n = r.parents[n] {
		switch n := n.(type) {
		case *ast.FuncLit:
			return function{n.Body, n.Type.Results}
		case *ast.FuncDecl:
			return function{n.Body, n.Type.Results}
		}
	}
	return function{}
}

// statement returns the statement of a list that n is in.
func (r *rewriter) statement(n ast.Node) ast.Stmt {
	for ; n != nil; n = r.parents[n] {
		if s, ok := n.(ast.Stmt); ok && r.listOf(s) != nil {
			return s
		}
	}
	return nil
}

// listOf returns the list of statements that s is one of, or nil.
func (r *rewriter) listOf(s ast.Stmt) []ast.Stmt {
	switch s.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return nil
	}
	switch up := r.parents[s].(type) {
	case *ast.BlockStmt:
		return up.List
	case *ast.CaseClause:
		return up.Body
	case *ast.CommClause:
		if up.Comm != s {
			return up.Body
		}
	}
	return nil
}

// watches reports whether calls for sections go into n.
func (r *rewriter) watches(n ast.Node) bool {
	for _, o := range r.openings {
		if o.reason == "" && o.body.Pos() <= n.Pos() && n.End() <= o.body.End() {
			return true
		}
	}
	for _, a := range r.accesses {
		if a.kept && n.Pos() <= a.Node.Pos() && a.Node.End() <= n.End() {
			return true
		}
	}
	return false
}

// returned returns the node to which the results of s belong: they are moved to
// temporaries if an end is among them, since nothing can stand behind it there.
func (r *rewriter) returned(s *ast.ReturnStmt, tree *node) *node {
	if len(r.returns[s]) == 0 || len(s.Results) == 0 {
		return tree
	}
	n := tree.kid(values, s.Results...)
	n.results, n.required = 1, true
	return n
}

// endReturn adds the calls behind the ends in a return whose results are settled.
func (r *rewriter) endReturn(s *ast.ReturnStmt, before []piece) []piece {
	if before == nil {
		return nil
	}
	for _, x := range r.returns[s] {
		if x.reason == "" {
			r.spilled[s] = true
			before = append(before, textf("%srt.Ended(%d); %[1]srt.Leave(%[2]d); ", r.prefix, x.ID))
		}
	}
	return before
}

// placeSections puts the calls that are statements where they belong.
func (r *rewriter) placeSections() {
	for _, a := range r.accesses {
		b := r.binding[a]
		if b == nil || a.left != "" || r.shape(a) == noShape {
			continue
		}
		if stored := r.stored(a); stored != nil && b.ends {
			r.onward(r.statement(a.Node), asStored, stored...)
		}
		r.onward(r.statement(a.Node), asBound, r.callf("Bound(%d)", a.id))
	}
	for _, o := range r.openings {
		if o.reason == "" {
			r.dropLeft(o)
		}
		if o.reason == "" {
			r.placeSection(o)
		}
	}
	for at, calls := range r.calls {
		r.write(at, calls)
	}
}

// write puts the calls at the spot, in their order.
func (r *rewriter) write(at spot, calls []placed) {
	slices.SortStableFunc(calls, func(a, b placed) int { return cmp.Compare(a.order, b.order) })
	var all []piece
	for _, c := range calls {
		all = append(append(all, c.text...), text("; "))
	}
	switch {
	case at.ahead:
		r.wrap(at.lo, at.hi, rankSection, all, nil)
	case at.hi.IsValid():
		r.wrap(at.lo, at.hi, rankSection, nil, append([]piece{text("; ")}, all[:len(all)-1]...))
	default:
		r.wrap(at.lo, at.lo+1, rankSection, nil, append([]piece{text(" ")}, all...))
	}
}

// dropLeft drops ends that have turned out not to be monitored, and the section
// if nothing of it is left.
func (r *rewriter) dropLeft(o *opening) {
	if o.entryAt != nil && (o.entryAt.left != "" || !r.holds(o, o.entryAt)) {
		o.reason = EntryLeft
		return
	}
	var kept []ending
	for _, e := range o.ends {
		ret, returns := r.statement(e.node).(*ast.ReturnStmt)
		if (e.at == nil || e.at.left == "" && r.holds(o, e.at)) && (!returns || r.spilled[ret]) {
			kept = append(kept, e)
		}
	}
	if o.ends = kept; len(kept) == 0 {
		o.reason = EndLeft
	}
}

// holds reports whether there is a call to put around a for section o.
func (r *rewriter) holds(o *opening, a *access) bool {
	s := r.shape(a)
	return s != noShape && (s != wholeMap || o.Length || !r.sameMap(o, a))
}

// sameMap reports whether a is an access to the map that o is about.
func (r *rewriter) sameMap(o *opening, a *access) bool { return a.Site.Variable == o.Variables[0] }

func (r *rewriter) placeSection(o *opening) {
	entry := r.statement(o.entry)
	if o.entryAt == nil {
		r.ahead(entry, r.callf("Arm(%d, %d)", o.ID, o.Entry))
		r.placeTested(o)
	}
	r.onward(entry, asEntered, r.callf("Entered(%d)", o.ID))
	for _, e := range o.ends {
		r.placeEnd(o, e)
	}
	r.placeGaps(o, entry)
	r.placeHandOvers(o, entry)
	r.placeLeaves(o, entry)
}

// placeTested puts the call around that of a function that has o's entry. A function with
// a boolean result reports its own test.
func (r *rewriter) placeTested(o *opening) {
	call := o.entry.(*ast.CallExpr)
	if t := r.info.TypeOf(call); t == nil || isBool(t) {
		return
	}
	if w, ok := r.tested(o, call); ok {
		r.wrap(call.Pos(), call.End(), rankPlace, []piece{text(w.name)}, w.args)
	}
}

func (r *rewriter) placeEnd(o *opening, e ending) {
	s := r.statement(e.node)
	if e.at == nil {
		r.ahead(s, r.callf("ArmEnd(%d, %d, %s)", o.ID, e.Site, r.named(r.endFlags(&e, nil))))
	}
	if _, returns := s.(*ast.ReturnStmt); returns {
		return // see endReturn
	}
	if e.at != nil {
		if stored := r.stored(e.at); stored != nil {
			r.onward(s, asStored, stored...)
		}
	}
	r.onward(s, asEnded, r.callf("Ended(%d)", o.ID))
}

// callf returns a call of the monitor.
func (r *rewriter) callf(format string, args ...any) piece {
	return text(r.prefix + "rt." + textf(format, args...).text)
}

// ahead puts a call before s.
func (r *rewriter) ahead(s ast.Stmt, call piece) {
	at := spot{s.Pos(), s.End(), true}
	r.calls[at] = append(r.calls[at], placed{0, []piece{call}})
}

// start puts a call behind the brace or colon at the place.
func (r *rewriter) start(at token.Pos, order int, call ...piece) {
	r.calls[spot{lo: at}] = append(r.calls[spot{lo: at}], placed{order, call})
}

// after puts a call behind s.
func (r *rewriter) after(s ast.Stmt, order int, call ...piece) {
	at := spot{lo: s.Pos(), hi: s.End()}
	r.calls[at] = append(r.calls[at], placed{order, call})
}

// onward puts a call behind what s evaluates, on every way on.
func (r *rewriter) onward(s ast.Stmt, order int, call ...piece) {
	starts, through := r.waysOn(s)
	for _, at := range starts {
		r.start(at, order, call...)
	}
	if through {
		r.after(s, order, call...)
	}
}

// waysOn returns the places where the program goes on when the expressions of s,
// those of its clauses among them, have been evaluated: the braces and colons that
// begin its blocks, and, if through is set, behind s.
func (r *rewriter) waysOn(s ast.Stmt) (starts []token.Pos, through bool) {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return r.waysOn(s.Stmt)
	case *ast.IfStmt:
		starts = append(starts, s.Body.Lbrace)
		switch e := s.Else.(type) {
		case *ast.BlockStmt:
			return append(starts, e.Lbrace), false
		case *ast.IfStmt:
			more, through := r.waysOn(e)
			return append(starts, more...), through
		}
		return starts, true
	case *ast.ForStmt:
		return []token.Pos{s.Body.Lbrace}, s.Cond != nil
	case *ast.RangeStmt:
		return []token.Pos{s.Body.Lbrace}, true
	case *ast.SwitchStmt:
		return clauses(s.Body)
	case *ast.TypeSwitchStmt:
		return clauses(s.Body)
	case *ast.SelectStmt:
		starts, _ = clauses(s.Body)
		return starts, false
	case *ast.ReturnStmt, *ast.BranchStmt:
		return nil, false
	case *ast.ExprStmt:
		c, ok := ast.Unparen(s.X).(*ast.CallExpr)
		return nil, !ok || sites.Builtin(r.info, c.Fun) != "panic"
	}
	return nil, true
}

// clauses returns the colons of a switch, and whether none of them may be taken.
func clauses(body *ast.BlockStmt) (starts []token.Pos, none bool) {
	none = true
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			starts = append(starts, c.Colon)
			none = none && c.List != nil
		case *ast.CommClause:
			starts = append(starts, c.Colon)
		}
	}
	return starts, none
}
