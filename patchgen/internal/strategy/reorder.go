package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// reorder initialises before publishing: an assignment that the started
// goroutine makes first thing, or that its starter makes after the go
// statement, moves before it.
func reorder(p *Problem) (*Patch, error) {
	var reasons []string
	for _, a := range p.Accesses {
		if a.Mode != source.Write || a.File.Test || a.Function == nil || p.Facts.IsPrivate(a) {
			continue
		}
		out, err := p.moveUp(a)
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, errNoGo) {
			reasons = append(reasons, err.Error())
		}
	}
	if len(reasons) == 0 {
		reasons = append(reasons, fmt.Sprintf("no assignment of %s could move before a go statement", p.Variable))
	}
	return nil, errors.New(strings.Join(reasons, "; "))
}

var errNoGo = errors.New("no go statement")

func (p *Problem) moveUp(a *source.Access) (*Patch, error) {
	s, ok := a.File.Parents[a.Expr].(*ast.AssignStmt)
	if !ok || len(s.Lhs) != 1 || len(s.Rhs) != 1 || a.Whole != a.Expr {
		return nil, errNoGo
	}
	if err := p.onlyWrite(a); err != nil {
		return nil, err
	}
	if out, err := p.fromStarted(a, s); err == nil || !errors.Is(err, errNoGo) {
		return out, err
	}
	return p.fromStarter(a, s)
}

// onlyWrite refuses variables that are written elsewhere too: ordering one
// write would leave the others.
func (p *Problem) onlyWrite(a *source.Access) error {
	for _, o := range p.protectable() {
		if o != a && o.Mode.Writes() {
			return fmt.Errorf("%s is written at %s too", p.Variable, o.File.At(o.Expr))
		}
		if o.Mode == source.Address {
			return fmt.Errorf("the address of %s is taken at %s", p.Variable, o.File.At(o.Expr))
		}
	}
	return nil
}

// fromStarted moves a leading assignment of a goroutine's function before the
// statements that start it.
func (p *Problem) fromStarted(a *source.Access, s *ast.AssignStmt) (*Patch, error) {
	f := a.Function
	if !p.leading(f, s) {
		return nil, errNoGo
	}
	starts, err := p.starts(f)
	if err != nil {
		return nil, err
	}
	if why := p.Facts.Blocks(a.File, s.Rhs[0]); why != "" {
		return nil, fmt.Errorf("%s: the value %s", a.File.At(s), why)
	}
	edits := edit.New()
	whole := edits.Cut(a.File, s)
	for _, site := range starts {
		text, err := p.inStarter(f, site, s)
		if err != nil {
			return nil, err
		}
		text = strings.Replace(whole, a.File.Text(s), text, 1) // with its comments
		edits.Before(site.In.File, p.publication(site), func() string { return text })
	}
	files, err := edits.Files()
	return &Patch{Files: files, Claim: p.claim(validate.Published, "", 0)}, err
}

// leading reports whether only assignments like it stand before s in f.
func (p *Problem) leading(f *source.Function, s ast.Stmt) bool {
	for _, other := range f.Body.List {
		if other == s {
			return true
		}
		if as, ok := other.(*ast.AssignStmt); !ok || p.Facts.Blocks(f.File, as) != "" {
			return false
		}
	}
	return false
}

// starts lists the go statements that run f; all its calls have to be such.
func (p *Problem) starts(f *source.Function) ([]source.Call, error) {
	// go func() {…}(): the literal runs there only
	if lit, ok := f.Node.(*ast.FuncLit); ok {
		call, isCall := f.File.Parents[lit].(*ast.CallExpr)
		if !isCall || call.Fun != ast.Expr(lit) {
			return nil, errNoGo
		}
		if _, isGo := f.File.Parents[call].(*ast.GoStmt); !isGo {
			return nil, errNoGo
		}
		return []source.Call{{In: f.Outer, Expr: call}}, nil
	}
	// go f(): so must every other call of f be
	sites, asValue := p.Module.References(f)
	gos := 0
	for _, site := range sites {
		if site.In == nil {
			return nil, fmt.Errorf("%s is called where package variables are set", f.Name())
		}
		if site.IsGo() {
			gos++
		}
	}
	switch {
	case gos == 0:
		return nil, errNoGo
	case gos < len(sites) || asValue:
		return nil, fmt.Errorf("%s also runs without a go statement", f.Name())
	case f.Object.Exported() && exportedReceiver(f):
		return nil, fmt.Errorf("%s is exported: code outside the module may start it", f.Name())
	}
	return sites, nil
}

func exportedReceiver(f *source.Function) bool {
	if f.Recv == nil {
		return true
	}
	n := source.Named(f.Object.Signature().Recv().Type())
	return n != nil && n.Obj().Exported()
}

// inStarter writes the assignment in the starter's terms.
func (p *Problem) inStarter(f *source.Function, site source.Call, s *ast.AssignStmt) (string, error) {
	file := f.File
	args, params := f.Arguments(site.Expr), f.Params()
	if args == nil && len(params) > 0 {
		return "", fmt.Errorf("%s: arguments and parameters do not correspond", site.In.File.At(site.Expr))
	}
	type swap struct {
		id   *ast.Ident
		text string
	}
	var swaps []swap
	var err error
	ast.Inspect(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || err != nil {
			return true
		}
		obj := file.Package.Info.ObjectOf(id)
		v, isVar := obj.(*types.Var)
		switch i := slices.Index(params, obj); {
		case !isVar || v.IsField() || source.IsGlobal(v):
			if site.In.File.Package.Path != file.Package.Path && obj != nil && obj.Parent() != types.Universe {
				err = fmt.Errorf("%s is started from another package", f.Name())
			}
		case i >= 0:
			if _, pure := site.In.File.PathOf(args[i]); !pure {
				err = fmt.Errorf("%s: the argument %s may differ the second time", site.In.File.At(args[i]),
					site.In.File.Text(args[i]))
			}
			swaps = append(swaps, swap{id, strings.TrimPrefix(site.In.File.Text(args[i]), "&")})
		case f.Outer != nil && p.Module.Declaring(file, v) != f: // captured: the same there
		default:
			err = fmt.Errorf("%s: the value depends on %s, which the goroutine computes", file.At(id), id.Name)
		}
		return true
	})
	if err != nil {
		return "", err
	}
	text, start := file.Text(s), file.Offset(s.Pos())
	for _, sw := range slices.Backward(swaps) {
		from := file.Offset(sw.id.Pos()) - start
		text = text[:from] + sw.text + text[from+len(sw.id.Name):]
	}
	return text, nil
}

// publication is the statement before which the assignment goes: the one that
// first hands the object on after it was made, else the go statement.
func (p *Problem) publication(site source.Call) ast.Stmt {
	file := site.In.File
	goStmt := file.StmtOf(site.Expr)
	list := source.ListOf(file, goStmt)
	var root types.Object
	if sel, ok := ast.Unparen(site.Expr.Fun).(*ast.SelectorExpr); ok {
		root, _ = file.RootOf(sel.X)
	}
	if root == nil || !file.Allocated(root) {
		return goStmt
	}
	defined := false
	for _, s := range list {
		if s == goStmt {
			break
		}
		if s.Pos() <= root.Pos() && root.Pos() < s.End() {
			defined = true
			continue
		}
		if defined && handsOn(file, s, root) && !p.laterNames(site, s, file) {
			return s
		}
	}
	return goStmt
}

// laterNames reports whether an argument of the start is defined at or after
// s, so that the assignment cannot stand before it.
func (p *Problem) laterNames(site source.Call, s ast.Stmt, file *source.File) (found bool) {
	ast.Inspect(site.Expr, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if obj := file.Package.Info.ObjectOf(id); obj != nil && obj.Pos() >= s.Pos() && obj.Pos() < site.Expr.Pos() {
				found = true
			}
		}
		return true
	})
	return found
}

// handsOn reports whether s hands the object of a local on.
func handsOn(file *source.File, s ast.Stmt, obj types.Object) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && file.Package.Info.Uses[id] == obj {
			found = found || file.Publishes(id)
		}
		return true
	})
	return found
}

// fromStarter moves an assignment that follows a go statement before it.
func (p *Problem) fromStarter(a *source.Access, s *ast.AssignStmt) (*Patch, error) {
	file := a.File
	list := source.ListOf(file, s)
	at := slices.Index(list, ast.Stmt(s))
	// go x.run(); …; x.f = v: the nearest go statement above that names x
	from := -1
	for i := range max(at, 0) {
		if _, ok := list[i].(*ast.GoStmt); ok && p.mentions(file, list[i], a) {
			from = i
			break
		}
	}
	if from < 0 {
		return nil, errNoGo
	}
	if err := p.othersIn(list[from].(*ast.GoStmt), file, a); err != nil {
		return nil, err
	}
	if why := p.Facts.Blocks(file, s.Rhs[0]); why != "" {
		return nil, fmt.Errorf("%s: the value %s", file.At(s), why)
	}
	// Nothing in between may set what the assignment uses, or use what it sets.
	for _, between := range list[from+1 : at] {
		if err := p.independent(file, s, between); err != nil {
			return nil, err
		}
	}
	edits := edit.New()
	text := edits.Cut(file, s)
	edits.Before(file, list[from], func() string { return text })
	files, err := edits.Files()
	return &Patch{Files: files, Claim: p.claim(validate.Published, "", 0)}, err
}

// othersIn refuses where an access that a finding names is not made by the
// started goroutine: the go statement would not order it after the write.
func (p *Problem) othersIn(s *ast.GoStmt, file *source.File, w *source.Access) error {
	start := file.Callee(s.Call)
	if lit, ok := s.Call.Fun.(*ast.FuncLit); ok {
		start = file.Module.FunctionAt(lit)
	}
	if start == nil {
		return fmt.Errorf("%s: what it starts is not known", file.At(s))
	}
	for _, a := range p.Accesses {
		if a == w || !p.named(a) {
			continue
		}
		in := false
		for f := a.Function; f != nil && !in; f = f.Outer {
			in = start.Calls(f, map[*source.Function]bool{})
		}
		if !in {
			return fmt.Errorf("%s is not accessed by the goroutine that %s starts", a.File.At(a.Expr), file.At(s))
		}
	}
	return nil
}

// mentions reports whether a go statement names the object of the access, or
// the local itself.
func (p *Problem) mentions(file *source.File, s ast.Stmt, a *source.Access) (found bool) {
	var root types.Object = p.Variable.Object
	if a.Base != nil {
		root, _ = file.RootOf(a.Base)
	}
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && root != nil && file.Package.Info.Uses[id] != nil &&
			source.ObjectKey(p.Module, file.Package.Info.Uses[id]) == source.ObjectKey(p.Module, root) {
			found = true
		}
		return true
	})
	return found
}

// independent refuses to move s over a statement that sets what s uses, or
// uses what s sets.
func (p *Problem) independent(file *source.File, s *ast.AssignStmt, between ast.Stmt) (err error) {
	// What the moved statement uses.
	used := map[types.Object]bool{}
	calls := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if obj := file.Package.Info.ObjectOf(n); obj != nil {
				used[obj] = true
			}
		case *ast.CallExpr:
			if tv := file.Package.Info.Types[n.Fun]; !tv.IsType() && !tv.IsBuiltin() {
				calls = true
			}
		}
		return true
	})
	// And what the other one does to that.
	ast.Inspect(between, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if _, obj := file.VariableOf(lhs); obj != nil && used[obj] {
					err = fmt.Errorf("%s: %s is set between the go statement and the assignment", file.At(n), obj.Name())
				}
			}
		case *ast.CallExpr:
			if tv := file.Package.Info.Types[n.Fun]; calls && !tv.IsType() && !tv.IsBuiltin() {
				err = fmt.Errorf("%s: the value depends on a call that may not move over another", file.At(n))
			}
		case *ast.Ident:
			if obj := file.Package.Info.Uses[n]; obj != nil && source.ObjectKey(p.Module, obj) == p.Variable.Key {
				err = fmt.Errorf("%s: %s is used before it is assigned", file.At(n), p.Variable)
			}
		}
		return true
	})
	return err
}
