package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/evalorder"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/handover"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/sectionplace"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// Options of [Rewrite].
type Options struct {
	// RT is the import path of the monitor; "interlock.invalid/rt" if empty.
	RT string
	// GoVersion is the language version of the module ("1.17", "go1.17.3").
	// If it is empty, the version of the typed package is taken.
	GoVersion string
	// Locks is the import path of the part of the monitor that watches locks; "" watches none.
	Locks string
	// LockUses are the uses of locks in all packages of the module; nil means those that [sites.LockUses] finds
	// in the package alone.
	LockUses map[*sites.Package][]sites.LockUse
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
	Files     []File // those with at least one monitored access or watched lock
	Rewritten int    // accesses that now call the monitor
	Left      []Left // accesses that were to be monitored and are not
	// Sections are the sections of the plan in functions of the package, by id, with
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

// Reasons that others than the rewriter look for; package source has all of them for
// accesses, package sectionplace those for sections.
const (
	Repeated  = source.Repeated
	EntryLeft = sectionplace.EntryLeft
)

// Quiet returns the full names of those functions of pkgs that do not hand over to other
// goroutines.
func Quiet(pkgs []*sites.Package) map[string]bool { return handover.Quiet(pkgs) }

// Rewrite puts the monitor before the accesses of p that are to be monitored. site
// returns the site for a key, or nil for an access that the plan does not know. The package
// must have been typed without errors, from the very contents in p.Src.
func Rewrite(p *sites.Package, site func(plan.Key) *plan.Site, opts Options) (*Result, error) {
	if opts.RT == "" {
		opts.RT = "interlock.invalid/rt"
	}
	if opts.Quiet == nil && opts.Plan != nil {
		opts.Quiet = Quiet([]*sites.Package{p})
	}
	if opts.LockUses == nil && opts.Locks != "" {
		opts.LockUses = sites.LockUses([]*sites.Package{p})
	}
	res := &Result{Sections: map[uint32]plan.Reason{}}
	var files []*rewriter
	for f, in := range monitored(p, site, opts) {
		r, err := newRewriter(p, f, in.accesses, opts)
		if err != nil {
			return nil, err
		}
		r.locks, r.forks, r.waits = in.locks, in.forks, in.waits
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
	content, err := r.finish(opts)
	if err != nil {
		return fmt.Errorf("rewriting %s: %w", r.Name, err)
	}
	res.Rewritten += r.count(res)
	if !r.usesMonitor() && len(r.locks) == 0 {
		return nil
	}
	f := File{Name: r.Name, Content: content}
	if opts.Marked {
		if f.Marked, err = r.marked(); err != nil {
			return fmt.Errorf("rewriting %s: %w", r.Name, err)
		}
	}
	res.Files = append(res.Files, f)
	return nil
}

// watched has the accesses, sections and locks of a file that the monitor watches.
type watched struct {
	accesses []*source.Access
	locks    []sites.LockUse
	forks    []sites.Fork
	waits    []sites.Wait
}

// monitored yields the files of p that have accesses or locks to monitor, or sections, in
// order, the one with TestMain, and those where a program ends or goroutines start.
func monitored(p *sites.Package, site func(plan.Key) *plan.Site, opts Options) iter.Seq2[*ast.File, watched] {
	byFile := map[*ast.File]watched{}
	// Each access with its site in the plan, and all locks.
	for _, a := range sites.Enumerate(p) {
		if a.Site.Decision == plan.Skip {
			continue
		}
		if s := site(a.Site.Key()); s != nil && s.Decision == plan.Monitor {
			acc := &source.Access{Access: a, ID: s.ID}
			acc.Site.ID, acc.Site.Suspicious = s.ID, s.Suspicious
			in := byFile[a.File]
			in.accesses = append(in.accesses, acc)
			byFile[a.File] = in
		}
	}
	if opts.Locks != "" {
		for _, use := range opts.LockUses[p] {
			in := byFile[use.File]
			in.locks = append(in.locks, use)
			byFile[use.File] = in
		}
	}
	return func(yield func(*ast.File, watched) bool) {
		for _, f := range p.Files {
			in, found := byFile[f]
			in.forks, in.waits = sites.Forks(p, f), sites.Waits(p, f)
			ends := len(byFile) > 0 && len(testRuns(p, f)) > 0 || f.Name.Name == "main" && exitsIn(p, f).any()
			wanted := found || sectionplace.HasSections(p, f, opts.Plan) || ends || len(in.forks) > 0 || len(in.waits) > 0
			if wanted && !yield(f, in) {
				return
			}
		}
	}
}

// rewriter rewrites the statements of one file.
type rewriter struct {
	*evalorder.Orderer
	sections  *sectionplace.Sections
	version   string                      // language version of the file
	each      map[ast.Expr]*source.Access // reads of the elements of a range operand
	gotos     map[string]bool             // labels that a goto of the file names
	runs      []*ast.CallExpr             // which run all tests
	exits     exits
	locks     []sites.LockUse   // that are watched
	forks     []sites.Fork      // at which goroutines may be held
	waits     []sites.Wait      // before which goroutines may be held
	signature *types.Signature  // of the function we are in
	announced []*evalorder.Hook // reads that are announced directly before the next statement
}

func newRewriter(p *sites.Package, f *ast.File, accesses []*source.Access, opts Options) (*rewriter, error) {
	file, err := source.New(p, f, accesses)
	if err != nil {
		return nil, err
	}
	r := &rewriter{Orderer: evalorder.New(file), version: languageVersion(p, f, opts), each: map[ast.Expr]*source.Access{}}
	for _, a := range accesses {
		r.sortIn(a)
	}
	r.sections = sectionplace.New(file, opts.Plan, opts.Quiet)
	r.runs, r.exits = testRuns(p, f), exitsIn(p, f)
	r.gotos = gotoLabels(f)
	return r, nil
}

// sortIn makes the access be found by its expression, or leaves it unmonitored.
func (r *rewriter) sortIn(a *source.Access) {
	switch {
	case a.Deferred && a.IsClose():
		r.closeLater(a)
	case a.Deferred:
		a.Unmonitored = source.Later
	case a.Map() && version.Compare(r.version, "go1.20") < 0 && !strictlyComparable(r.Info.TypeOf(a.Node)):
		a.Unmonitored = source.Comparable
	case a.Each:
		r.each[a.Node] = a
	case a.IsBehind():
		r.Behind[a.Node] = a
	default:
		r.Places[a.Node] = a
	}
}

// gotoLabels returns the labels that a goto of the file names.
func gotoLabels(f *ast.File) map[string]bool {
	labels := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			labels[b.Label.Name] = true
		}
		return true
	})
	return labels
}

func (r *rewriter) decls() {
	for _, d := range r.Syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				r.function(r.Info.Defs[d.Name].(*types.Func).Signature(), d.Body)
			}
		case *ast.GenDecl:
			r.closures(d)
			r.varDecl(d, false)
		}
	}
}

// finish puts the calls around the accesses that stay monitored, and returns the text.
func (r *rewriter) finish(opts Options) ([]byte, error) {
	r.lingers()
	r.flushes()
	r.watchLocks()
	r.watchForks()
	r.watchWaits()
	r.sections.Place()
	for _, a := range r.Accesses {
		if a.Unmonitored != "" {
			continue
		}
		a.Used = true
		if a.Placed {
			continue
		}
		pre, post, rank := "(*%srt.%s(&", ", %d))", textedit.RankPlace
		if a.IsBehind() {
			pre, post, rank = "%srt.%s(", ", %d)", textedit.RankBehind
		}
		if a.Through != "" {
			pre, post = "(*%srt.%s(&(", ")."+a.Through+", %d))" // Node may be &v or *p
		}
		if a.Partly {
			post = ", " + r.PartOf(a) + post
		}
		r.surround(a, rank, textedit.Textf(pre, r.Prefix, r.helper(a)), textedit.Textf(post, a.ID))
	}
	if r.usesMonitor() {
		r.copySent()
	}
	r.imports(opts)
	content, err := r.Edits.Render()
	if err != nil {
		return nil, err
	}
	return r.header(content)
}

// imports adds the imports for the calls in the file to the package clause.
func (r *rewriter) imports(opts Options) {
	var all []textedit.Piece
	if r.usesMonitor() {
		all = append(all, textedit.Textf("; import %srt %s", r.Prefix, strconv.Quote(opts.RT)))
	}
	if len(r.locks) > 0 {
		all = append(all, textedit.Textf("; import %slock %s", r.Prefix, strconv.Quote(opts.Locks)))
	}
	r.Wrap(r.Syntax.Name.Pos(), r.Syntax.Name.End(), textedit.RankStmt, nil, all)
}

// usesMonitor reports whether the text calls the monitor elsewhere than at locks.
func (r *rewriter) usesMonitor() bool {
	used := func(a *source.Access) bool { return a.Used }
	return slices.ContainsFunc(r.Accesses, used) || r.sections.Open() || len(r.runs) > 0 || len(r.forks) > 0 ||
		len(r.waits) > 0 ||
		r.exits.any()
}

// surround puts the monitor's call around a, and the calls for sections around that.
func (r *rewriter) surround(a *source.Access, rank int, pre, post textedit.Piece) {
	star := strings.HasPrefix(pre.Text, "(*") // the place that the pointer points to
	if star {
		pre.Text, post.Text = strings.TrimPrefix(pre.Text, "(*"), strings.TrimSuffix(post.Text, ")")
	}
	pres, posts := []textedit.Piece{pre}, []textedit.Piece{post}
	if r.sections.IsKeyed(a) {
		posts = []textedit.Piece{textedit.Text(", "), r.TextOf(r.sections.KeyOf(a)), post}
	}
	for _, w := range r.sections.Wrappings(a) {
		pres = append([]textedit.Piece{textedit.Text(w.Name)}, pres...)
		posts = append(posts, w.Args...)
	}
	if star {
		pres, posts = append([]textedit.Piece{textedit.Text("(*")}, pres...), append(posts, textedit.Text(")"))
	}
	r.Wrap(a.Node.Pos(), a.Node.End(), rank, pres, posts)
}

// helpers name the monitor's functions for a variable.
var helpers = map[plan.Mode]string{plan.Read: "R", plan.Write: "W", plan.AtomicRead: "AR", plan.AtomicWrite: "AW"}

// helper names the monitor's function for a.
func (r *rewriter) helper(a *source.Access) string {
	name := helpers[a.Site.Mode]
	switch {
	case a.Site.Variable.Kind == plan.KindChannel:
		return "C" + name
	case a.Site.Variable.Kind == plan.KindWaitGroup:
		return "G" + name
	case a.SyncMap():
		return r.syncMapHelper(a)
	case r.sections.IsKeyed(a):
		return "M" + name + "K"
	case a.Map():
		return "M" + name
	case a.Append:
		return "WA"
	case a.Partly:
		return name + "N"
	case a.Site.Behind && source.IsSlice(r.Info.TypeOf(a.Node)):
		return name + "S"
	}
	return name
}

// syncMapHelper names the monitor's function for a, which a method of a sync.Map makes.
func (r *rewriter) syncMapHelper(a *source.Access) string {
	name := "SMR"
	if a.Writes() {
		name = "SMW"
	}
	if r.sections.IsKeyed(a) {
		name += "K"
	}
	return name
}

// count adds r's accesses that were left alone to res and counts the others.
func (r *rewriter) count(res *Result) int {
	n := 0
	r.sections.Report(res.Sections)
	for _, a := range r.Accesses {
		if a.Used {
			n++
		} else {
			res.Left = append(res.Left, Left{a.Site, a.Unmonitored})
		}
	}
	return n
}

// strictlyComparable reports whether comparing keys of the map type t cannot
// panic.
func strictlyComparable(t types.Type) bool {
	m, ok := source.Under(t).(*types.Map)
	return ok && (source.IsTypeParam(m.Key()) || !evalorder.MayHoldInterface(m.Key()))
}
