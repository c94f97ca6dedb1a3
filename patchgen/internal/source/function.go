package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unicode"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// Function is one function: a declaration or a literal.
type Function struct {
	File   *File
	Node   ast.Node
	Recv   *ast.FieldList
	Type   *ast.FuncType
	Body   *ast.BlockStmt
	Outer  *Function   // function around a literal
	Object *types.Func // nil for a literal
}

// RunsAt returns the call that runs a literal before it returns: the literal is
// called on the spot, or handed to a harmless library function. nil if the
// literal may run at another time.
func (file *File) RunsAt(f *Function) *ast.CallExpr {
	// (func() {…}), with parentheses around it
	var e ast.Node = f.Node
	parent := file.Parents[e]
	for {
		paren, ok := parent.(*ast.ParenExpr)
		if !ok {
			break
		}
		e, parent = paren, file.Parents[paren]
	}
	call, ok := parent.(*ast.CallExpr)
	if !ok {
		return nil
	}
	// go and defer run it later.
	switch file.Parents[call].(type) {
	case *ast.GoStmt, *ast.DeferStmt:
		return nil
	}
	// func() {…}()
	if call.Fun == e {
		return call
	}
	// slices.SortFunc(s, func(a, b T) int {…})
	callee := typeutil.StaticCallee(file.Package.Info, call)
	if callee == nil || callee.Pkg() == nil || !callgraph.RunsCallback(callee) {
		return nil
	}
	return call
}

// StartOf returns the statement that has another goroutine run a literal: go func() {…}(), or time.AfterFunc(d, func()
// {…}) and the like; nil if there is none.
func (file *File) StartOf(f *Function) ast.Stmt {
	call, ok := file.Parents[f.Node].(*ast.CallExpr)
	if !ok {
		return nil
	}
	if start, isGo := file.Parents[call].(*ast.GoStmt); isGo && call.Fun == f.Node {
		return start
	}
	callee := typeutil.StaticCallee(file.Package.Info, call)
	if call.Fun == f.Node || callee == nil || callee.Pkg() == nil || !callgraph.StartsCallback(callee) {
		return nil
	}
	return file.StmtOf(call)
}

// Name of f as reasons have it.
func (f *Function) Name() string {
	if d, ok := f.Node.(*ast.FuncDecl); ok {
		if d.Recv != nil && len(d.Recv.List) == 1 {
			return "(" + f.File.Text(d.Recv.List[0].Type) + ")." + d.Name.Name
		}
		return d.Name.Name
	}
	if f.Outer != nil {
		return "a function literal in " + f.Declaration().Name()
	}
	return "a function literal"
}

// Declaration is the declaration around f, f itself for a declared function; nil for
// a literal at package level.
func (f *Function) Declaration() *Function {
	for f.Outer != nil {
		f = f.Outer
	}
	return f
}

// Receiver is the receiver variable of f or of a function around it.
func (f *Function) Receiver() types.Object {
	d := f.Declaration()
	if d.Recv == nil || len(d.Recv.List) != 1 || len(d.Recv.List[0].Names) != 1 {
		return nil
	}
	return d.File.Package.Info.Defs[d.Recv.List[0].Names[0]]
}

// Params lists receiver and parameters of f in order; nil for an unnamed one.
func (f *Function) Params() []types.Object {
	var out []types.Object
	for _, list := range []*ast.FieldList{f.Recv, f.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				out = append(out, nil)
			}
			for _, name := range field.Names {
				out = append(out, f.File.Package.Info.Defs[name])
			}
		}
	}
	return out
}

// Arguments lists the receiver and the arguments of a call of f, in the order
// of [Function.Params]; nil where they do not correspond one to one.
func (f *Function) Arguments(call *ast.CallExpr) []ast.Expr {
	var out []ast.Expr
	if f.Recv != nil {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		out = append(out, sel.X)
	}
	out = append(out, call.Args...)
	if len(out) != len(f.Params()) || call.Ellipsis.IsValid() {
		return nil
	}
	return out
}

// LowerFirst turns HTTPClient into httpClient.
func LowerFirst(s string) string {
	r := []rune(s)
	for i := range r {
		if !unicode.IsUpper(r[i]) || i > 0 && i+1 < len(r) && unicode.IsLower(r[i+1]) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	return string(r)
}

// UsedNames are the identifiers of a function that stand alone, and those of
// the file's imports.
func UsedNames(f *Function) map[string]bool {
	out := map[string]bool{}
	file := f.File
	for _, p := range file.Package.Types.Imports() {
		out[p.Name()] = true
	}
	ast.Inspect(f.Declaration().Node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && file.Parents[id] != f.Declaration().Node && !file.inSignature(id) {
			if sel, isSel := file.Parents[id].(*ast.SelectorExpr); !isSel || sel.Sel != id {
				out[id.Name] = true
			}
		}
		return true
	})
	return out
}

// inSignature reports whether an identifier names a parameter or a result in a type alone: onTimeout func(retries int).
func (file *File) inSignature(id *ast.Ident) bool {
	field, ok := file.Parents[id].(*ast.Field)
	if !ok || field.Type == ast.Expr(id) {
		return false
	}
	signature, ok := file.Parents[file.Parents[field]].(*ast.FuncType)
	if !ok {
		return false
	}
	switch file.Parents[signature].(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		return false
	}
	return true
}

// EachCall calls visit for every call that f's own body evaluates.
func (f *Function) EachCall(visit func(*ast.CallExpr)) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == f.Node
		case *ast.CallExpr:
			visit(n)
		}
		return true
	})
}

// IsInit reports whether f is a function init, which runs before main.
func (f *Function) IsInit() bool {
	d, ok := f.Node.(*ast.FuncDecl)
	return ok && d.Recv == nil && d.Name.Name == "init"
}

// FunctionAt returns the function that an *ast.FuncDecl or *ast.FuncLit
// declares; nil for other nodes.
func (m *Module) FunctionAt(n ast.Node) *Function { return m.functions[n] }

// Names finds names for new locals of a function.
type Names struct {
	file     *File
	function *Function
	used     map[string]bool
}

// NewNames returns names for f.
func NewNames(f *Function) *Names { return &Names{file: f.File, function: f} }

// For returns a name for a copy of e that means nothing yet in the function.
func (c *Names) For(e ast.Expr) string { return c.Fresh(c.NameFor(e)) }

// TypeText writes a type as the file would.
func (c *Names) TypeText(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == c.file.Package.Types || p.Path() == c.file.Package.Path {
			return ""
		}
		for _, spec := range c.file.Syntax.Imports {
			if strings.Trim(spec.Path.Value, "`\"") == p.Path() && spec.Name != nil {
				return spec.Name.Name
			}
		}
		return p.Name()
	})
}

// StoredIn proposes a name for a value computed for s.
func (c *Names) StoredIn(s ast.Stmt) string {
	if as, ok := s.(*ast.AssignStmt); ok && len(as.Lhs) == 1 {
		name := c.NameFor(as.Lhs[0])
		if sel, isField := ast.Unparen(as.Lhs[0]).(*ast.SelectorExpr); isField && as.Tok == token.ASSIGN && c.means(name) {
			return "new" + strings.ToUpper(sel.Sel.Name[:1]) + sel.Sel.Name[1:]
		}
		return name
	}
	return "value"
}

// NameFor proposes a name for a copy of e.
func (c *Names) NameFor(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return LowerFirst(e.Sel.Name)
	case *ast.Ident:
		return LowerFirst(e.Name) + "Now"
	case *ast.IndexExpr:
		return "entry"
	case *ast.StarExpr:
		return c.NameFor(e.X)
	case *ast.CallExpr:
		if IsBuiltin(c.file, e, "len", "cap") {
			return "n"
		}
		if t := c.file.TypeOf(e); t != nil && types.Identical(t, types.Universe.Lookup("error").Type()) {
			return "err"
		}
		switch fun := e.Fun.(type) {
		case *ast.SelectorExpr:
			return LowerFirst(fun.Sel.Name)
		case *ast.Ident: // readEntry(x)
			for _, verb := range []string{"read", "get", "load", "copy", "clone", "new", "make"} {
				if what, ok := strings.CutPrefix(fun.Name, verb); ok && what != "" && unicode.IsUpper(rune(what[0])) {
					return LowerFirst(what)
				}
			}
		}
	case *ast.BinaryExpr, *ast.UnaryExpr:
		if b, ok := c.file.TypeOf(e).Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			return "ok"
		}
	}
	return "value"
}

// Fresh makes a name that means nothing yet in the function around, nor in
// the package's or the universe's scope.
func (c *Names) Fresh(name string) string {
	for i := 1; ; i++ {
		try := name
		if i > 1 {
			try = fmt.Sprintf("%s%d", name, i)
		}
		if !c.means(try) {
			c.used[try] = true
			return try
		}
	}
}

// means reports whether a name means something already.
func (c *Names) means(name string) bool {
	if c.used == nil {
		c.used = UsedNames(c.function)
	}
	return c.used[name] || token.IsKeyword(name) || types.Universe.Lookup(name) != nil ||
		c.file.Package.Types.Scope().Lookup(name) != nil
}
