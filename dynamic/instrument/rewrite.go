package instrument

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Options of [Rewrite].
type Options struct {
	// RT is the import path of the monitor; "interlock.invalid/rt" if empty.
	RT string
	// GoVersion is the language version of the module ("1.17", "go1.17.3").
	// If it is empty, the version of the typed package is taken.
	GoVersion string
	// Plan has the atomic sections; nil means none.
	Plan *plan.Plan
	// Quiet are the functions that do not hand over to other goroutines; nil means
	// those that [Quiet] finds in the package alone.
	Quiet map[string]bool
	// Marked asks for [File.Marked].
	Marked bool
}

// Result of a rewrite.
type Result struct {
	Files     []File // those with at least one monitored access
	Rewritten int    // accesses that now call the monitor
	Left      []Left // accesses that were to be monitored and are not
	// Sections are those of the plan whose function is in the package, by id, with
	// the reason why they cannot be opened, or "".
	Sections map[uint32]plan.Reason
}

// File is a rewritten file, by the name that the file set has.
type File struct {
	Name    string
	Content []byte
	// Marked is Content with [Mark] at the places where the cover tool may insert
	// text. It is nil if not asked for, or if the file holds such text already.
	Marked []byte
}

// Left is an access that is left alone, and why.
type Left struct {
	Site   plan.Site
	Reason plan.Reason
}

// Why an access is left alone.
const (
	// Conditional: it and a call after it stand where temporaries would be
	// evaluated although the original is not.
	Conditional plan.Reason = "call after the access in a part that is evaluated conditionally or repeatedly"
	// NoName: a temporary would need a type that has no name at that place.
	NoName plan.Reason = "temporary of a type that cannot be written here"
	// Repeated: the same place is read just before, and nothing calls,
	// receives or assigns in between, so that one window serves both.
	Repeated plan.Reason = "same location read immediately before"
	// Order: several targets of one assignment depend on each other.
	Order plan.Reason = "order of evaluation cannot be kept"
	// Later: the access is made by a deferred or started builtin.
	Later plan.Reason = "access made later by a deferred builtin"
	// RangeClause: the range clause assigns it.
	RangeClause plan.Reason = "assigned by a range clause"
	// Comparable: below Go 1.20 the key type is no argument for comparable.
	Comparable plan.Reason = "map key type is not strictly comparable below Go 1.20"
)

// Rewrite puts the monitor before the accesses of p whose site, as site gives
// it for their key, is to be monitored; site gives nil for an access that the
// plan does not know. The package must have been typed without errors, from
// the very contents in p.Src.
func Rewrite(p *sites.Package, site func(plan.Key) *plan.Site, opts Options) (*Result, error) {
	if opts.RT == "" {
		opts.RT = "interlock.invalid/rt"
	}
	if opts.Quiet == nil && opts.Plan != nil {
		opts.Quiet = Quiet([]*sites.Package{p})
	}
	res := &Result{Sections: map[uint32]plan.Reason{}}
	var files []*rewriter
	for f, accesses := range monitored(p, site, opts.Plan) {
		r, err := newRewriter(p, f, accesses, opts)
		if err != nil {
			return nil, err
		}
		files = append(files, r)
	}
	for _, r := range files {
		if err := r.rewrite(opts, res); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// rewrite rewrites r's file.
func (r *rewriter) rewrite(opts Options, res *Result) error {
	r.decls()
	content, err := r.finish(opts.RT)
	if err != nil {
		return fmt.Errorf("rewriting %s: %w", r.name, err)
	}
	n := r.count(res)
	res.Rewritten += n
	if n == 0 && !r.opens() && len(r.runs) == 0 {
		return nil
	}
	f := File{Name: r.name, Content: content}
	if opts.Marked {
		if f.Marked, err = r.marked(); err != nil {
			return fmt.Errorf("rewriting %s: %w", r.name, err)
		}
	}
	res.Files = append(res.Files, f)
	return nil
}

// access is a monitored access of one file.
type access struct {
	sites.Access
	id   uint32
	left plan.Reason // why it is left alone after all
	// placed: its statement has put the monitor's call where it belongs, so
	// that none goes around the expression.
	placed bool
	extent *extent // of a bulk access, or nil if it is to all elements
	used   bool    // the monitor has been put there
	kept   bool    // a section begins or ends there
}

// isBehind reports whether the access is not to Node but to what it gives.
func (a *access) isBehind() bool { return a.Map() || a.Site.Behind }

// monitored yields the files of p that have accesses to monitor, or sections, in
// order, and the one with TestMain.
func monitored(p *sites.Package, site func(plan.Key) *plan.Site, sections *plan.Plan) func(func(*ast.File, []*access) bool) {
	byFile := map[*ast.File][]*access{}
	for _, a := range sites.Enumerate(p) {
		if a.Site.Decision == plan.Skip {
			continue
		}
		if s := site(a.Site.Key()); s != nil && s.Decision == plan.Monitor {
			acc := &access{Access: a, id: s.ID}
			acc.Site.ID, acc.Site.Suspicious = s.ID, s.Suspicious
			byFile[a.File] = append(byFile[a.File], acc)
		}
	}
	return func(yield func(*ast.File, []*access) bool) {
		for _, f := range p.Files {
			runsTests := len(byFile) > 0 && len(testRuns(p, f)) > 0
			if (len(byFile[f]) > 0 || hasSections(p, f, sections) || runsTests) && !yield(f, byFile[f]) {
				return
			}
		}
	}
}

// rewriter rewrites one file.
type rewriter struct {
	orderer
	sectioner
	pkg      *sites.Package
	file     *ast.File
	tfile    *token.File
	name     string
	src      []byte
	version  string // language version of the file
	accesses []*access
	each     map[ast.Expr]*access // reads of the elements of a range operand
	gotos    map[string]bool      // labels that a goto of the file names
	sig      *types.Signature     // of the function we are in
	runs     []*ast.CallExpr      // calls that run all tests
	just     []*hook              // reads that are announced directly before what comes next
	edits    buffer
	prefix   string // of names that the file does not use
	temps    int
}

func newRewriter(p *sites.Package, f *ast.File, accesses []*access, opts Options) (*rewriter, error) {
	r := &rewriter{pkg: p, file: f, tfile: p.Fset.File(f.FileStart), accesses: accesses, gotos: map[string]bool{}}
	r.name = r.tfile.Name()
	src, ok := p.Src[r.name]
	if !ok || len(src) != r.tfile.Size() {
		return nil, fmt.Errorf("rewriting %s: its contents, as parsed, are not given", r.name)
	}
	r.src = src
	r.version = languageVersion(p, f, opts)
	r.orderer = orderer{info: p.Info, scope: p.Types.Scope(), places: map[ast.Expr]*access{}, behind: map[ast.Expr]*access{}}
	r.each = map[ast.Expr]*access{}
	for _, a := range accesses {
		switch {
		case a.Deferred:
			a.left = Later
		case a.Map() && version.Compare(r.version, "go1.20") < 0 && !strictlyComparable(r.info.TypeOf(a.Node)):
			a.left = Comparable
		case a.Each:
			r.each[a.Node] = a
		case a.isBehind():
			r.behind[a.Node] = a
		default:
			r.places[a.Node] = a
		}
	}
	r.runs = testRuns(p, f)
	r.prefix = "_il"
	for bytes.Contains(src, []byte(r.prefix)) {
		r.prefix += "x"
	}
	r.edits = buffer{src: src, position: r.position}
	r.sectionsOf(opts.Plan, opts.Quiet)
	ast.Inspect(f, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			r.gotos[b.Label.Name] = true
		}
		return true
	})
	return r, nil
}

// position of an offset, for line directives.
func (r *rewriter) position(offset int) place {
	pos := r.tfile.Pos(offset)
	stated := r.pkg.Fset.PositionFor(pos, true)
	return place{r.tfile.Line(pos), stated.Line, max(stated.Column, 1)}
}

func (r *rewriter) decls() {
	for _, d := range r.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				r.function(r.info.Defs[d.Name].(*types.Func).Signature(), d.Body)
			}
		case *ast.GenDecl:
			r.closures(d)
			r.varDecl(d, false)
		}
	}
}

// finish puts the calls around the accesses that are left and gives the text.
func (r *rewriter) finish(rt string) ([]byte, error) {
	name := r.file.Name
	r.wrap(name.Pos(), name.End(), rankStmt, nil, []piece{textf("; import %srt %s", r.prefix, strconv.Quote(rt))})
	r.lingers()
	r.placeSections()
	for _, a := range r.accesses {
		if a.left != "" {
			continue
		}
		a.used = true
		if a.placed {
			continue
		}
		pre, post, rank := "(*%srt.%s(&", ", %d))", rankPlace
		if a.isBehind() {
			pre, post, rank = "%srt.%s(", ", %d)", rankBehind
		}
		if a.Through != "" {
			pre, post = "(*%srt.%s(&(", ")."+a.Through+", %d))" // Node may be &v or *p
		}
		if a.extent != nil {
			post = ", " + a.extent.text(r) + post
		}
		r.surround(a, rank, textf(pre, r.prefix, r.helper(a)), textf(post, a.id))
	}
	content, err := r.edits.render()
	if err != nil {
		return nil, err
	}
	return r.header(content)
}

// surround puts the monitor's call around a, and around that what holds it for sections.
func (r *rewriter) surround(a *access, rank int, pre, post piece) {
	star := strings.HasPrefix(pre.text, "(*") // the place that the pointer points to
	if star {
		pre.text, post.text = strings.TrimPrefix(pre.text, "(*"), strings.TrimSuffix(post.text, ")")
	}
	pres, posts := []piece{pre}, []piece{post}
	if r.isKeyed(a) {
		posts = []piece{text(", "), r.source(r.keyOf(a)), post}
	}
	for _, w := range r.wrappings(a) {
		pres = append([]piece{text(w.name)}, pres...)
		posts = append(posts, w.args...)
	}
	if star {
		pres, posts = append([]piece{text("(*")}, pres...), append(posts, text(")"))
	}
	r.wrap(a.Node.Pos(), a.Node.End(), rank, pres, posts)
}

// helper names the monitor's function for a.
func (r *rewriter) helper(a *access) string {
	name := map[plan.Mode]string{plan.Read: "R", plan.Write: "W", plan.AtomicRead: "AR", plan.AtomicWrite: "AW"}[a.Site.Mode]
	switch {
	case r.isKeyed(a):
		return "M" + name + "K"
	case a.Map():
		return "M" + name
	case a.Append:
		return "WA"
	case a.extent != nil:
		return name + "N"
	case a.Site.Behind && isSlice(r.info.TypeOf(a.Node)):
		return name + "S"
	}
	return name
}

// count adds r's accesses that were left alone to res and counts the others.
func (r *rewriter) count(res *Result) int {
	n := 0
	for _, o := range r.openings {
		res.Sections[o.ID] = o.reason
	}
	for _, a := range r.accesses {
		if a.used {
			n++
		} else {
			res.Left = append(res.Left, Left{a.Site, a.left})
		}
	}
	return n
}

func (r *rewriter) offset(pos token.Pos) int { return r.tfile.Offset(pos) }

func (r *rewriter) wrap(lo, hi token.Pos, rank int, pre, post []piece) {
	r.edits.wrap(r.offset(lo), r.offset(hi), rank, pre, post)
}

// cut takes n out of the text and puts with in its place.
func (r *rewriter) cut(n ast.Node, with ...piece) *edit {
	return r.edits.replace(r.offset(n.Pos()), r.offset(n.End()), rankCut, with...)
}

// cutWhole takes n, in which other edits may cut the whole of n, out of the
// text.
func (r *rewriter) cutWhole(n ast.Node) *edit {
	return r.edits.replace(r.offset(n.Pos()), r.offset(n.End()), rankStmt)
}

// original is [lo, hi) as it was.
func (r *rewriter) original(lo, hi token.Pos) piece { return piece{lo: r.offset(lo), hi: r.offset(hi)} }

func (r *rewriter) newTemp() string {
	r.temps++
	return r.prefix + strconv.Itoa(r.temps)
}

// strictlyComparable reports whether comparing keys of the map type t cannot
// panic.
func strictlyComparable(t types.Type) bool {
	m, ok := under(t).(*types.Map)
	return ok && (isTypeParam(m.Key()) || !mayHoldInterface(m.Key()))
}
