package ir

import (
	"context"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Session holds the means that a driver which analyses a package again and again lends to its passes.
type Session struct {
	Context context.Context // the passes may stop when it ends, as nobody sees their results; nil never ends
	// Memory holds the data that passes keep for the next run on the package, by pass; nil: none. The facts
	// of other packages are the same in all runs with one memory.
	Memory *sync.Map
}

// Lent has a [Session] as its result. Drivers know nothing of it, and so lend nothing, except for
// package inprocess, which puts its own result in place.
var Lent = &analysis.Analyzer{
	Name: "interlocksession", Doc: "take what the driver lends to passes",
	Run:        func(*analysis.Pass) (any, error) { return new(Session), nil },
	ResultType: reflect.TypeFor[*Session](),
}

// Proceed ends the pass by a panic if nobody will see its results. Passes call it
// where much work lies ahead.
func (p *Program) Proceed() {
	if ctx := p.session.Context; ctx != nil && ctx.Err() != nil {
		panic(ctx.Err())
	}
}

// Memory returns the data that passes keep from one run to the next; nil if there is no next one.
func (p *Program) Memory() *sync.Map { return p.session.Memory }

// Texts are the hashes of a package's source, piece by piece, wherever in a file a piece stands.
type Texts struct {
	// Frame is that of all but plain functions: of the declarations of types, variables, constants
	// and imports, and of the heads of methods, which decide which method a call means.
	Frame [sha256.Size]byte
	names map[*ast.FuncDecl]string
	funcs map[string][sha256.Size]byte // by name, in which all init and _ are one
}

// Of returns the name and the hash of the declaration that holds f; not ok where there is
// none, as of a wrapper, and the frame says all.
func (t *Texts) Of(f *ssa.Function) (name string, text [sha256.Size]byte, ok bool) {
	decl, _ := Outermost(f).Syntax().(*ast.FuncDecl)
	name, ok = t.names[decl]
	return name, t.funcs[name], ok
}

// Named returns the hash of the declaration with a name that [Texts.Of] has returned; zero if there
// is none any more.
func (t *Texts) Named(name string) [sha256.Size]byte { return t.funcs[name] }

// ReadTexts reads the source of the package. Comments outside of declarations do not count.
func ReadTexts(pass *analysis.Pass) (*Texts, error) {
	t := &Texts{names: map[*ast.FuncDecl]string{}, funcs: map[string][sha256.Size]byte{}}
	frame := sha256.New()
	for _, f := range pass.Files {
		file := pass.Fset.File(f.FileStart)
		data, err := pass.ReadFile(file.Name())
		if err != nil {
			return nil, err
		}
		if len(data) != file.Size() {
			return nil, fmt.Errorf("%s has changed while it was analysed", file.Name())
		}
		text := func(n ast.Node) []byte { return data[file.Offset(n.Pos()):file.Offset(n.End())] }
		fmt.Fprintf(frame, "%s\n", f.Name.Name)
		for _, d := range f.Decls {
			decl, isFunc := d.(*ast.FuncDecl)
			if !isFunc {
				fmt.Fprintf(frame, "%s\n", text(d))
				continue
			}
			// Methods decide which one a call means; a function with the name of a builtin hides that.
			name := decl.Name.Name
			if decl.Recv != nil {
				name = string(text(decl.Recv)) + " " + name
				fmt.Fprintf(frame, "%s %s\n", name, text(decl.Type))
			} else if types.Universe.Lookup(name) != nil {
				fmt.Fprintf(frame, "%s\n", name)
			}
			before := t.funcs[name]
			t.names[decl], t.funcs[name] = name, sha256.Sum256(append(before[:], text(d)...))
		}
	}
	t.Frame = [sha256.Size]byte(frame.Sum(nil))
	return t, nil
}
