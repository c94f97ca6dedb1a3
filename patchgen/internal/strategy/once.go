package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// once makes `if x.f == nil { x.f = … }` run once, in a sync.Once beside the
// field or package variable. Reads that follow in the same function are then
// ordered after it; any other access speaks against it.
func once(p *Problem) (*Patch, error) {
	s, file, err := p.lazyInit()
	if err != nil {
		return nil, err
	}
	if err := p.onlyAfter(s, file); err != nil {
		return nil, err
	}
	if err := p.noWayOut(s, file); err != nil {
		return nil, err
	}
	return p.writeOnce(s, file)
}

// lazyInit finds the one if statement that tests the variable and sets it.
func (p *Problem) lazyInit() (found *ast.IfStmt, in *source.File, err error) {
	var locked, elsewhere *source.Access
	for _, a := range p.Accesses {
		if !a.Mode.Writes() || p.isBeyond(a) || p.Facts.IsPrivate(a) {
			continue
		}
		s := p.initialisation(a)
		switch {
		case s == nil:
			elsewhere = a
		case len(p.Facts.Classes(a)) > 0:
			found, in, locked = s, a.File, a
		case found != nil && found != s:
			return nil, nil, fmt.Errorf("%s is initialised in two places: %s and %s", p.Variable, in.At(found), a.File.At(s))
		default:
			found, in = s, a.File
		}
	}
	switch {
	case found == nil:
		return nil, nil, NotMeant("%s is not initialised lazily", p.Variable)
	case locked != nil:
		return nil, nil, fmt.Errorf("%s: %s is set under a lock already", locked.File.At(locked.Expr), p.Variable)
	case elsewhere != nil:
		return nil, nil, fmt.Errorf("%s is also set at %s, not only where it is found unset", p.Variable,
			elsewhere.File.At(elsewhere.Expr))
	}
	return found, in, nil
}

// initialisation returns the if statement around a write whose condition says
// that the variable is unset: x.f == nil, x.f == 0, !x.f.
func (p *Problem) initialisation(a *source.Access) *ast.IfStmt {
	file := a.File
	for n := file.Parents[a.Expr]; n != nil && n != a.Function.Node; n = file.Parents[n] {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			continue
		}
		if s.Init != nil || s.Else != nil || a.Expr.Pos() < s.Body.Pos() || !p.unset(file, s.Cond) {
			return nil
		}
		return s
	}
	return nil
}

func (p *Problem) unset(file *source.File, cond ast.Expr) bool {
	is := func(e ast.Expr) bool {
		x, obj := file.VariableOf(ast.Unparen(e))
		return obj != nil && source.ObjectKey(p.Module, obj) == p.Variable.Key && x == ast.Unparen(e)
	}
	switch c := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return c.Op == token.NOT && is(c.X)
	case *ast.BinaryExpr:
		if c.Op != token.EQL || !is(c.X) {
			return false
		}
		tv := file.Package.Info.Types[c.Y]
		return tv.IsNil() || tv.Value != nil && (tv.Value.ExactString() == "0" || tv.Value.ExactString() == `""`)
	}
	return false
}

// onlyAfter refuses accesses elsewhere than in s or after it in its function.
func (p *Problem) onlyAfter(s *ast.IfStmt, file *source.File) error {
	f := file.FunctionOf(s)
	if file.Parents[s] != ast.Node(f.Body) {
		return fmt.Errorf("%s: the initialisation is not at the function's top level", file.At(s))
	}
	for _, a := range p.protectable() {
		same := a.Function == f || a.Function != nil && a.Function.Node.Pos() > s.End() &&
			a.Function.Declaration() == f.Declaration()
		if !same || a.File != file || a.Expr.Pos() < s.Pos() {
			return fmt.Errorf("%s: %s is also accessed where the initialisation need not have run", a.File.At(a.Expr),
				p.Variable)
		}
		if a.Mode.Writes() && a.Expr.Pos() > s.End() {
			return fmt.Errorf("%s: %s is set again", a.File.At(a.Expr), p.Variable)
		}
	}
	return nil
}

// noWayOut refuses bodies that cannot become a function literal, and those
// that could come back to the same initialisation.
func (p *Problem) noWayOut(s *ast.IfStmt, file *source.File) (err error) {
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.DeferStmt:
			err = fmt.Errorf("%s: the initialisation leaves its block early", file.At(n))
		case *ast.CallExpr:
			if source.IsBuiltin(file, n, "recover") {
				err = errors.New("the initialisation recovers")
			}
			if callee := file.Callee(n); callee != nil && p.Facts.LeadsTo(callee, file.FunctionOf(s)) {
				err = fmt.Errorf("%s: %s leads back to the initialisation", file.At(n), file.Text(n.Fun))
			}
		}
		return true
	})
	return err
}

func (p *Problem) writeOnce(s *ast.IfStmt, file *source.File) (*Patch, error) {
	name := source.LowerFirst(p.Variable.Name) + "Once"
	edits := edit.New()
	class, err := p.DeclareOnce(edits, name, "initialises "+p.Variable.Name)
	if err != nil {
		return nil, err
	}
	call := name
	for _, a := range p.Accesses {
		if a.Base != nil && a.Expr.Pos() >= s.Pos() && a.Expr.End() <= s.End() {
			call = selectorBase(file, a.Base) + "." + name
		}
	}
	edits.Add(file, file.Offset(s.Pos()), file.Offset(s.Pos()), func() string { return call + ".Do(func() {\n" })
	edits.Add(file, file.Offset(s.End()), file.Offset(s.End()), func() string { return "\n})" })
	files, err := edits.Files()
	out := &Patch{Files: files, Notes: p.copyNote(), Claim: p.claim(validate.Once, class, 0)}
	if p.Variable.Object.Exported() {
		out.Notes = append(out.Notes, fmt.Sprintf("once initialised, %s is not initialised again if other code unsets it",
			p.Variable))
	}
	return out, err
}

// DeclareOnce declares a sync.Once beside the variable, a field or a package variable, and returns its class. The
// comment says what it does.
func (p *Problem) DeclareOnce(edits *edit.Edits, name, comment string) (class string, err error) {
	err = p.declareBehind(edits, "sync.Once", func(pkg string) string { return name + " " + pkg + ".Once // " + comment },
		name)
	return p.classOf(name), err
}

// DeclareFlag declares a flag that says that the channel, a field, is closed, and a lock for it where that has a name.
// It returns the class of the lock.
func (p *Problem) DeclareFlag(edits *edit.Edits, flag, lock string) (class string, err error) {
	names := []string{flag}
	text := func(string) string { return flag + " bool // set where " + p.Variable.Name + " is closed" }
	if lock != "" {
		names = append(names, lock)
		text = func(pkg string) string {
			return lock + " " + pkg + ".RWMutex // guards " + flag + "\n" + flag + " bool // set where " + p.Variable.Name +
				" is closed"
		}
	}
	if p.Variable.Owner == nil {
		return "", fmt.Errorf("%s is not a field", p.Variable)
	}
	return p.classOf(lock), p.declareBehind(edits, "lock or flag", text, names...)
}

// declareBehind declares what the text says, under the names, beside the variable: a field at the end of the struct.
// The text gets the name of package sync.
func (p *Problem) declareBehind(edits *edit.Edits, what string, text func(pkg string) string, names ...string) error {
	if p.Variable.Owner != nil {
		if err := p.Module.NoNewField(p.Variable.Owner, "a "+what); err != nil {
			return err
		}
	} else if !source.IsGlobal(p.Variable.Object) {
		return fmt.Errorf("no %s can be placed beside %s", what, p.Variable)
	}
	for _, name := range names {
		if p.isTaken(name) {
			return fmt.Errorf("the new %s would be called %s, and that name is taken", what, name)
		}
	}
	file, id := p.declaration()
	if file == nil {
		return fmt.Errorf("the declaration of %s is not in the module", p.Variable)
	}
	line := text("sync")
	if strings.Contains(line, "sync.") {
		line = text(edits.AddImport(file, "sync"))
	}
	switch n := p.declNode(file, id).(type) {
	case *ast.Field:
		list, ok := file.Parents[n].(*ast.FieldList)
		if !ok {
			return fmt.Errorf("no %s can be placed beside %s", what, p.Variable)
		}
		if err := p.nameFields(edits); err != nil {
			return err
		}
		// At the end: a Once is twelve bytes, and what stands behind it may
		// need its alignment for atomic access.
		edits.After(file, list.List[len(list.List)-1], func() string { return line })
	case *ast.GenDecl:
		edits.Before(file, withDoc(n, n.Doc), func() string { return "var " + line + "\n" })
	default:
		edits.Before(file, n, func() string { return line })
	}
	return nil
}
