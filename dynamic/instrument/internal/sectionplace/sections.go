package sectionplace

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
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

// role is the role of an access, or of a call that leads to it, in a section.
type role struct {
	*opening
	end *ending // nil for the entry
}

// opening is a section of which the rewriter has the function.
type opening struct {
	*plan.Section
	entry   ast.Node       // access or call
	entryAt *source.Access // nil if it is in a callee
	ends    []ending
	body    *ast.BlockStmt
	results bool // the function has some
	reason  plan.Reason
}

// ending is an end in the function: an access, or the call that leads to it.
type ending struct {
	*plan.End
	node ast.Node
	at   *source.Access // nil if it is in a callee
	// other: it is an access to another variable than the entry.
	other bool
}

// Sections are those of the plan that one file has to do with.
type Sections struct {
	*source.File
	openings []*opening
	roles    map[*source.Access][]role // entries and ends
	binding  map[*source.Access]*bound // where sections of callers begin or end
	keyed    map[plan.Variable]bool
	returns  map[*ast.ReturnStmt][]role // with an end inside
	spilled  map[*ast.ReturnStmt]bool   // its results are in temporaries
	calls    map[spot][]placed
	quiet    map[string]bool // functions that do not hand over
}

// bound has the entries and ends of callers' sections at an access.
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
	text  []textedit.Piece
}

const (
	asTurn     = iota
	asArmRound // ArmEnd at the call of a circular section, which ends one round and begins the next
	asArm
	asArmEnd
	asHandOver
	asStored
	asBound
	asEnded
	asEntered
	asGap
	asLeave
)

// HasSections reports whether the function of a section of pl is in the file f.
func HasSections(p *sites.Package, f *ast.File, pl *plan.Plan) bool {
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

// Open reports whether the file has a section that can be opened.
func (r *Sections) Open() bool {
	return slices.ContainsFunc(r.openings, func(o *opening) bool { return o.reason == "" })
}

// Report adds the file's sections to all, by id, with the reason why they cannot be opened,
// or "".
func (r *Sections) Report(all map[uint32]plan.Reason) {
	for _, o := range r.openings {
		all[o.ID] = o.reason
	}
}

// IsKeyed reports whether a is announced with the key of the map.
func (r *Sections) IsKeyed(a *source.Access) bool {
	return (a.Map() || a.SyncMap()) && r.keyed[a.Site.Variable] && r.KeyOf(a) != nil
}

// New finds the parts of the sections of pl, which may be nil, in the file f. quiet are
// the functions that do not hand over.
func New(f *source.File, pl *plan.Plan, quiet map[string]bool) *Sections {
	r := &Sections{
		File: f, roles: map[*source.Access][]role{}, binding: map[*source.Access]*bound{}, keyed: map[plan.Variable]bool{},
		returns: map[*ast.ReturnStmt][]role{}, spilled: map[*ast.ReturnStmt]bool{},
		calls: map[spot][]placed{}, quiet: quiet,
	}
	if pl == nil {
		return r
	}
	byID := map[uint32]*source.Access{}
	for _, a := range r.Accesses {
		byID[a.ID] = a
	}
	name := relative(r.Pkg, r.Name)
	for i := range pl.Sections {
		s := &pl.Sections[i]
		if v := s.Variables[0]; v.Kind == plan.KindMap && !s.Length || v.Kind == plan.KindSyncMap {
			r.keyed[v] = true
		}
		r.bindCallers(s, byID)
		if s.File == name {
			r.open(s, byID, pl)
		}
	}
	return r
}

// bindCallers notes the accesses of the file at which s begins or ends in a callee.
func (r *Sections) bindCallers(s *plan.Section, byID map[uint32]*source.Access) {
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
}

// bind returns the entries and ends of callers' sections at a.
func (r *Sections) bind(a *source.Access) *bound {
	if r.binding[a] == nil {
		r.binding[a], a.Kept = new(bound), true
	}
	return r.binding[a]
}

// open adds a section with its function in the file.
func (r *Sections) open(s *plan.Section, byID map[uint32]*source.Access, pl *plan.Plan) {
	o := &opening{Section: s}
	r.openings = append(r.openings, o)
	// The entry, and the function that it is in: the section's function.
	o.entry, o.entryAt = r.endpoint(s.EntryCall, byID[s.Entry])
	if o.entry == nil {
		o.reason = EntryLeft
		return
	}
	fn := r.Enclosing(o.entry)
	o.body, o.results = fn.Body, fn.Results != nil
	// The ends that are in the same function; others are never reached.
	for i := range s.Ends {
		e := &s.Ends[i]
		node, at := r.endpoint(e.EndCall, byID[e.Site])
		if node == nil {
			continue
		}
		if body := r.Enclosing(node).Body; body == o.body && body != nil {
			other := pl.Site(e.Site).Variable != pl.Site(s.Entry).Variable
			o.ends = append(o.ends, ending{e, node, at, other})
		}
	}
	if len(o.ends) == 0 {
		o.reason = EndLeft
		return
	}
	// The section stays closed if the monitor would report false splits.
	if r.mayNotBeFirst(o, pl.Site(s.Entry)) {
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
func (r *Sections) endpoint(call *plan.Place, a *source.Access) (ast.Node, *source.Access) {
	switch {
	case call != nil:
		if c := r.CallAt(call); c != nil {
			return c, nil
		}
	case a != nil && a.Unmonitored == "" && !a.Each:
		return a.Node, a
	}
	return nil, nil
}

func (r *Sections) assignRoles(o *opening) {
	if o.entryAt != nil {
		r.roles[o.entryAt] = append(r.roles[o.entryAt], role{o, nil})
		o.entryAt.Kept = true
	}
	for i := range o.ends {
		e := &o.ends[i]
		if e.at != nil {
			r.roles[e.at] = append(r.roles[e.at], role{o, e})
			e.at.Kept = true
		}
		if ret, ok := r.Statement(e.node).(*ast.ReturnStmt); ok {
			r.returns[ret] = append(r.returns[ret], role{o, e})
		}
	}
}

// Watches reports whether calls for sections go into n.
func (r *Sections) Watches(n ast.Node) bool {
	for _, o := range r.openings {
		if o.reason == "" && o.body.Pos() <= n.Pos() && n.End() <= o.body.End() {
			return true
		}
	}
	for _, a := range r.Accesses {
		if a.Kept && n.Pos() <= a.Node.Pos() && a.Node.End() <= n.End() {
			return true
		}
	}
	return false
}

// HasEnd reports whether an end is among the results of s. They are moved to temporaries
// then, since nothing can stand behind an end there.
func (r *Sections) HasEnd(s *ast.ReturnStmt) bool { return len(r.returns[s]) > 0 }

// EndReturn returns the calls behind the ends in a return with its results in temporaries.
func (r *Sections) EndReturn(s *ast.ReturnStmt) (calls []textedit.Piece) {
	for _, x := range r.returns[s] {
		if x.reason == "" {
			r.spilled[s] = true
			calls = append(calls, textedit.Textf("%srt.Ended(%d); %[1]srt.Leave(%[2]d); ", r.Prefix, x.ID))
		}
	}
	return calls
}

// Place puts the calls that are statements where they belong.
func (r *Sections) Place() {
	for _, a := range r.Accesses {
		b := r.binding[a]
		if b == nil || a.Unmonitored != "" || r.shape(a) == noShape {
			continue
		}
		if stored := r.stored(a); stored != nil && b.ends {
			r.onward(r.Statement(a.Node), asStored, stored...)
		}
		r.onward(r.Statement(a.Node), asBound, r.callf("Bound(%d)", a.ID))
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
func (r *Sections) write(at spot, calls []placed) {
	slices.SortStableFunc(calls, func(a, b placed) int { return cmp.Compare(a.order, b.order) })
	var all []textedit.Piece
	for _, c := range calls {
		all = append(append(all, c.text...), textedit.Text("; "))
	}
	switch {
	case at.ahead:
		r.Wrap(at.lo, at.hi, textedit.RankSection, all, nil)
	case at.hi.IsValid():
		r.Wrap(at.lo, at.hi, textedit.RankSection, nil, append([]textedit.Piece{textedit.Text("; ")}, all[:len(all)-1]...))
	default:
		r.Wrap(at.lo, at.lo+1, textedit.RankSection, nil, append([]textedit.Piece{textedit.Text(" ")}, all...))
	}
}

// dropLeft drops ends that have turned out not to be monitored, and the section
// if nothing of it is left.
func (r *Sections) dropLeft(o *opening) {
	if o.entryAt != nil && (o.entryAt.Unmonitored != "" || !r.holds(o, o.entryAt)) {
		o.reason = EntryLeft
		return
	}
	var kept []ending
	for _, e := range o.ends {
		ret, returns := r.Statement(e.node).(*ast.ReturnStmt)
		if (e.at == nil || e.at.Unmonitored == "" && r.holds(o, e.at)) && (!returns || r.spilled[ret]) && !r.isWithin(o, e) {
			kept = append(kept, e)
		}
	}
	if o.ends = kept; len(kept) == 0 {
		o.reason = EndLeft
	}
}

// holds reports whether there is a call to put around a for section o.
func (r *Sections) holds(o *opening, a *source.Access) bool {
	s := r.shape(a)
	return s != noShape && (s != wholeMap || o.Length || !r.sameMap(o, a))
}

// sameMap reports whether a is an access to the map that o is about.
func (r *Sections) sameMap(o *opening, a *source.Access) bool {
	return a.Site.Variable == o.Variables[0]
}

func (r *Sections) placeSection(o *opening) {
	entry := r.Statement(o.entry)
	r.ahead(r.beforeLocks(entry), asTurn, r.callf("Turn(%d)", o.ID))
	if o.entryAt == nil {
		r.ahead(entry, asArm, r.callf("Arm(%d, %d)", o.ID, o.Entry))
	}
	r.placeBetween(o, entry)
	r.placeTested(o)
	r.onward(entry, asEntered, r.callf("Entered(%d)", o.ID))
	for _, e := range o.ends {
		r.placeEnd(o, e)
	}
	r.placeGaps(o, entry)
	r.placeHandOvers(o, entry)
	r.placeLeaves(o, entry)
}

// placeBetween puts the call around the one that makes o's entry, or leads to it, where an end comes in the same
// statement, so that nothing can stand behind the entry and before the end:
//
//	c.Set(c.Get() + 1)        c.Set(rt.Between(c.Get(), 7) + 1)
//	c.n.Store(c.n.Load() + 1) c.n.Store(rt.Between(c.n.Load(), 7) + 1)
func (r *Sections) placeBetween(o *opening, entry ast.Stmt) {
	call, ok := o.entry.(*ast.CallExpr)
	if o.entryAt != nil {
		call, ok = r.atomicCall(o.entryAt), o.entryAt.Site.Mode == plan.AtomicRead
	}
	endsThere := func(e ending) bool { return e.node != o.entry && r.Statement(e.node) == entry }
	if ok && call != nil && !r.hasSeveralResults(call) && slices.ContainsFunc(o.ends, endsThere) {
		r.Wrap(call.Pos(), call.End(), textedit.RankPlace, []textedit.Piece{textedit.Text(r.Prefix + "rt.Between(")},
			[]textedit.Piece{textedit.Textf(", %d)", o.ID)})
	}
}

// isWithin reports whether e comes in the statement of o's entry, which is a call that no other can stand
// around: it has several results.
//
//	c.Set(c.Get())                   // func (c *C) Get() (int, bool)
//	m.Store(k, plus(m.Load(k)))      // m is a sync.Map
func (r *Sections) isWithin(o *opening, e ending) bool {
	if r.Statement(e.node) != r.Statement(o.entry) {
		return false
	}
	call, ok := o.entry.(*ast.CallExpr)
	if o.entryAt != nil {
		call, ok = r.atomicCall(o.entryAt), o.entryAt.SyncMap()
	}
	return ok && r.hasSeveralResults(call)
}

func (r *Sections) hasSeveralResults(call *ast.CallExpr) bool {
	_, several := r.Info.TypeOf(call).(*types.Tuple)
	return several
}

// placeTested puts the call around that of a function that has o's entry. A function with
// a boolean result reports its own test, and around one with several results no call can stand.
func (r *Sections) placeTested(o *opening) {
	call, ok := o.entry.(*ast.CallExpr)
	if !ok || o.entryAt != nil {
		return
	}
	if t := r.Info.TypeOf(call); t == nil || source.IsBool(t) || r.hasSeveralResults(call) {
		return
	}
	if w, ok := r.tested(o, call); ok {
		r.Wrap(call.Pos(), call.End(), textedit.RankPlace, []textedit.Piece{textedit.Text(w.Name)}, w.Args)
	}
}

func (r *Sections) placeEnd(o *opening, e ending) {
	s := r.Statement(e.node)
	if e.at == nil {
		order := asArmEnd
		if e.node == o.entry {
			order = asArmRound
		}
		r.ahead(s, order, r.callf("ArmEnd(%d, %d, %s)", o.ID, e.Site, r.named(r.endFlags(&e, nil))))
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
func (r *Sections) callf(format string, args ...any) textedit.Piece {
	return textedit.Text(r.Prefix + "rt." + fmt.Sprintf(format, args...))
}

// ahead puts a call before s.
func (r *Sections) ahead(s ast.Stmt, order int, call textedit.Piece) {
	at := spot{s.Pos(), s.End(), true}
	r.calls[at] = append(r.calls[at], placed{order, []textedit.Piece{call}})
}

// start puts a call behind the brace or colon at the place.
func (r *Sections) start(at token.Pos, order int, call ...textedit.Piece) {
	r.calls[spot{lo: at}] = append(r.calls[spot{lo: at}], placed{order, call})
}

// after puts a call behind s.
func (r *Sections) after(s ast.Stmt, order int, call ...textedit.Piece) {
	at := spot{lo: s.Pos(), hi: s.End()}
	r.calls[at] = append(r.calls[at], placed{order, call})
}

// atEnd puts a call before the brace that closes the body.
func (r *Sections) atEnd(body *ast.BlockStmt, call textedit.Piece) {
	text := []textedit.Piece{textedit.Text("; "), call, textedit.Text("; ")}
	r.Wrap(body.Rbrace, body.Rbrace+1, textedit.RankSection, text, nil)
}

// onward puts a call behind the expressions of s, on every way on.
func (r *Sections) onward(s ast.Stmt, order int, call ...textedit.Piece) {
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
func (r *Sections) waysOn(s ast.Stmt) (starts []token.Pos, through bool) {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return r.waysOn(s.Stmt)
	case *ast.IfStmt: // if c { … } else if d { … }: both conditions may have been evaluated
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
		return nil, !ok || sites.Builtin(r.Info, c.Fun) != "panic"
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
