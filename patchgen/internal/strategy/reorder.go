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
		if a.Mode != source.Write || p.isBeyond(a) || a.Function == nil || p.Facts.IsPrivate(a) {
			continue
		}
		out, err := p.moveUp(a)
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, source.ErrNoGo) {
			reasons = append(reasons, err.Error())
		}
	}
	if len(reasons) == 0 {
		return nil, NotMeant("no assignment of %s could move before a go statement", p.Variable)
	}
	return nil, errors.New(strings.Join(reasons, "; "))
}

func (p *Problem) moveUp(a *source.Access) (*Patch, error) {
	s, ok := a.File.Parents[a.Expr].(*ast.AssignStmt)
	if !ok || len(s.Rhs) != 1 || a.Whole != a.Expr {
		return nil, source.ErrNoGo
	}
	out, err := (*Patch)(nil), source.ErrNoGo
	if len(s.Lhs) == 1 {
		out, err = p.fromStarted(a, s)
	}
	if errors.Is(err, source.ErrNoGo) {
		out, err = p.fromStarter(a, s)
	}
	if err != nil {
		return nil, err
	}
	return out, p.onlyWrite(a)
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
		return nil, source.ErrNoGo
	}
	starts, err := p.Module.Starts(f)
	if err != nil {
		return nil, err
	}
	if len(f.Body.List) == 1 && f.Object == nil {
		return nil, fmt.Errorf("%s: the goroutine does nothing else than to set %s", a.File.At(s), p.Variable)
	}
	if why := p.Facts.Blocks(a.File, s.Rhs[0]); why != "" {
		return nil, fmt.Errorf("%s: the value %s", a.File.At(s), why)
	}
	edits := edit.New()
	whole := edits.Cut(a.File, s)
	for _, site := range starts {
		text, err := f.InStarter(site, s)
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
		return nil, source.ErrNoGo
	}
	if err := p.othersIn(list[from].(*ast.GoStmt), file, a); err != nil {
		return nil, err
	}
	if why := p.Facts.Blocks(file, s.Rhs[0]); why != "" {
		return nil, fmt.Errorf("%s: the value %s", file.At(s), why)
	}
	// Nothing in between may take its time, set what the assignment uses, or use what it sets.
	for _, between := range list[from+1 : at] {
		if why := p.late(file, between); why != "" {
			return nil, fmt.Errorf("%s: this %s, and the assignment behind it may be meant for later", file.At(between), why)
		}
		if err := p.independent(file, s, between); err != nil {
			return nil, err
		}
	}
	edits := edit.New()
	if run := p.setBehind(file, list[from:], a); at-from <= run && run > 1 {
		text := edits.Cut(file, list[from])
		edits.After(file, list[from+run], func() string { return text })
	} else {
		if used := p.usedBefore(file, s, list[from:at]); used != "" {
			return nil, fmt.Errorf("%s: %s, which it sets too, is used before", file.At(s), used)
		}
		text := edits.Cut(file, s)
		edits.Before(file, list[from], func() string { return text })
	}
	files, err := edits.Files()
	return &Patch{Files: files, Claim: p.claim(validate.Published, "", 0)}, err
}

// usedBefore returns another variable that an assignment sets and that statements use; "" for none.
//
//	go s.run(ctx)
//	ctx, s.cancel = context.WithCancel(ctx)
func (p *Problem) usedBefore(file *source.File, s *ast.AssignStmt, list []ast.Stmt) (name string) {
	set := map[types.Object]bool{}
	for _, lhs := range s.Lhs {
		id, ok := lhs.(*ast.Ident)
		if obj := file.Package.Info.Uses[id]; ok && obj != nil && obj != p.Variable.Object {
			set[obj] = true
		}
	}
	for _, stmt := range list {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && set[file.Package.Info.Uses[id]] {
				name = id.Name
			}
			return name == ""
		})
	}
	return name
}

// late returns why the goroutine may have done its work when the starter is behind s: what comes then, such as a flag
// that stops the goroutine, is not what it begins with.
func (p *Problem) late(file *source.File, s ast.Stmt) (why string) {
	if why = p.Facts.Blocks(file, s); why != "" {
		return why
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			why = "loops"
		}
		return why == ""
	})
	return why
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
			in = p.Facts.LeadsTo(start, f)
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
